import { describe, expect, test } from '@jest/globals';
import {
  box,
  CartPole,
  checkEnv,
  makeEnv,
  MaskedBandit,
  type DialogueWalkObservation,
  type Env,
  type MaskedVector,
  type ResetOptions,
} from '../../envs/index.js';
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

  test('notices vectors that do not fit, and says which', () => {
    class Wide extends CartPole {
      override readonly observationSpace = box([-1, -1, -1], [1, 1, 1]);
    }
    expect(() => checkEnv(new Wide())).toThrow(/got another: Float32Array\(4\) \[/);
  });

  test('notices an action beyond the space that is taken where there is no mask', () => {
    class Lenient extends CartPole {
      override step(action: number) {
        return super.step(action === 2 ? 1 : action);
      }
    }
    expect(() => checkEnv(new Lenient())).toThrow(/InvalidAction for illegal action 2, got no error/);
  });

  test('notices a mask that is too long or of another type', () => {
    const withMask = (actionMask: unknown) =>
      class extends MaskedBandit {
        override reset(options?: ResetOptions) {
          const { observation, info } = super.reset(options);
          return { observation: { ...observation, actionMask } as MaskedVector, info };
        }
      };
    const Long = withMask(new Uint8Array(11).fill(1));
    expect(() => checkEnv(new Long())).toThrow(
      /expected an actionMask of at most 10 actions, uint8, got Uint8Array\(11\)/,
    );
    const Booleans = withMask(new Array(10).fill(true));
    expect(() => checkEnv(new Booleans())).toThrow(/at most 10 actions, uint8, got an array of 10/);
    const Short = withMask(new Uint8Array(9).fill(1));
    expect(() => checkEnv(new Short())).toThrow(
      /expected an observation of observationSpace, got another: \{ observation/,
    );
  });

  test('notices an observation that is written over by the next step', () => {
    class Thrifty extends CartPole {
      readonly #shown = new Float32Array(4);
      override reset(options?: ResetOptions) {
        const result = super.reset(options);
        this.#shown.set(result.observation);
        return { ...result, observation: this.#shown };
      }
      override step(action: number) {
        const result = super.step(action);
        this.#shown.set(result.observation);
        return { ...result, observation: this.#shown };
      }
    }
    expect(() => checkEnv(new Thrifty())).toThrow(/to stay as it was given, got one that the next step changed/);
  });
});
