import { describe, expect, test } from '@jest/globals';
import { checkEnv, makeEnv, type DialogueWalkObservation, type Env } from '../../envs/index.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';

/** Our environment with one method replaced: what a careless author would have written. */
function broken(change: (env: Env<DialogueWalkObservation>) => Partial<Env<DialogueWalkObservation>>) {
  const env = makeEnv('kgwalk/OpenDialKG-v1', toyTwoHop());
  const bound: Env<DialogueWalkObservation> = {
    spec: env.spec,
    actionSpace: env.actionSpace,
    observationSpace: env.observationSpace,
    reset: (options) => env.reset(options),
    step: (action) => env.step(action),
    render: () => env.render(),
    close: () => env.close(),
  };
  return { ...bound, ...change(bound) };
}

describe('checkEnv', () => {
  test('accepts an environment that keeps its promises', () => {
    expect(() => checkEnv(broken(() => ({})))).not.toThrow();
  });

  test('notices randomness that the seed does not reach', () => {
    let count = 0;
    const env = broken(({ step }) => ({ step: (action) => ({ ...step(action), reward: count++ }) }));
    expect(() => checkEnv(env)).toThrow(/expected equal episodes/);
  });

  test('notices actions that are taken although the mask forbids them', () => {
    const env = broken(({ step }) => ({ step: (action) => step(action === -1 ? 0 : action) }));
    expect(() => checkEnv(env)).toThrow(/InvalidAction for illegal action -1, got no error/);
  });

  test('notices a mask that allows too much', () => {
    const longer = ({ actionMask }: DialogueWalkObservation) => new Uint8Array(actionMask.length + 1).fill(1);
    const env = broken(({ reset }) => ({
      reset(options) {
        const { observation, info } = reset(options);
        return { observation: { ...observation, actionMask: longer(observation) }, info };
      },
    }));
    expect(() => checkEnv(env, { episodes: 20 })).toThrow(/got action|observationSpace/);
  });

  test('notices an episode that never ends, a step after the end and two ends at once', () => {
    const endless = broken(({ step }) => ({ spec: { id: 'a/B-v1', maxSteps: 1 }, step }));
    expect(() => checkEnv(endless)).toThrow(/an end within 1 steps/);
    const both = broken(({ step }) => ({ step: (action) => ({ ...step(action), terminated: true, truncated: true }) }));
    expect(() => checkEnv(both)).toThrow(/terminated or truncated or neither/);
    const eternal = broken(({ reset, step }) => ({
      step(action) {
        try {
          return step(action);
        } catch {
          reset();
          return step(0);
        }
      },
    }));
    expect(() => checkEnv(eternal)).toThrow(/ResetNeeded/);
  });
});
