/** A test that users can run on their own environment. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { describeValue } from '../src/run/printable.js';
import { anyFunction, checkGiven } from '../src/run/read-json.js';
import { Rng } from '../src/run/seeds.js';
import { InvalidAction, ResetNeeded, type Env, type StepResult } from './env.js';

/** From which seed, and how many episodes are tried. */
export interface CheckEnvOptions {
  /** First seed; default 0. */
  seed?: number;
  /** Episodes that are checked, each with its own seed; default 5. */
  episodes?: number;
  /**
   * Requires refusals too: `ResetNeeded` for a step where no episode is running, `InvalidAction` for an action outside the space
   * or the mask, with the state unchanged. Training needs neither; programs that send actions may. Default false.
   */
  refusals?: boolean;
}

/** Members of an environment that everything here needs, spaces aside. */
export const envMembers = z.object({
  spec: z.object({ id: z.string(), maxSteps: z.int().min(1) }),
  ...{ reset: anyFunction, step: anyFunction, render: anyFunction, close: anyFunction },
});
const space = z.object({ contains: anyFunction, sample: anyFunction });
const wholeEnv = envMembers.extend({ observationSpace: space, actionSpace: space });
const optionsShape = z.strictObject({
  seed: z.int().optional(),
  episodes: z.int().min(1).optional(),
  refusals: z.boolean().optional(),
});

/**
 * Checks an environment's promises: equal seeds give equal episodes, observations and actions are in their spaces and stay as they were
 * when given, every action of the mask is legal (without a mask every action of the space), an episode ends within `spec.maxSteps`.
 * @param env fresh: not reset yet; it is left at the end of an episode
 * @throws WorkbenchError `config` for missing members, `failure` naming the first broken promise
 */
export function checkEnv<Observation>(env: Env<Observation>, options: CheckEnvOptions = {}): void {
  checkGiven(options, optionsShape, 'options of checkEnv', 'checkEnv');
  checkGiven(env, wholeEnv, 'an environment', 'checkEnv');
  const { seed = 0, episodes = 5, refusals = false } = options;
  const rng = Rng.named(seed, 'check-env');
  if (!/^[\w-]+\/[\w-]+-v\d+$/.test(env.spec.id)) fail(env, `expected an id like mine/Walk-v1, got "${env.spec.id}"`);
  if (refusals)
    expectThrow(env, () => env.step(env.actionSpace.sample(rng)), ResetNeeded, 'a step before the first reset');
  for (let episode = 0; episode < episodes; episode++) {
    const actions: number[] = [];
    const first = play(env, seed + episode, (mask) => {
      const action = env.actionSpace.sample(rng, mask);
      actions.push(action);
      return action;
    });
    if (refusals) expectThrow(env, () => env.step(actions[0]!), ResetNeeded, 'a step after the end');
    checkMasks(env, seed + episode, actions, rng, refusals);
    const again = play(env, seed + episode, (_, step) => actions[step]!);
    if (!isDeepStrictEqual(first, again))
      fail(env, 'expected equal episodes for equal seeds and actions, got a difference');
  }
}

/** Plays one episode and returns everything it gave, copied. */
function play<Observation>(env: Env<Observation>, seed: number, choose: (mask: Mask, step: number) => number) {
  const { observation, info } = given(env, env.reset({ seed }));
  const record: unknown[] = [structuredClone({ observation, info, text: env.render() })];
  checkObservation(env, observation);
  let shown = { observation, copy: structuredClone(observation) };
  for (let step = 0; ; step++) {
    if (step >= env.spec.maxSteps) fail(env, `expected an end within ${env.spec.maxSteps} steps, got none`);
    const result = given(env, env.step(choose(maskOf(env, shown.observation), step)));
    if (!isDeepStrictEqual(structuredClone(shown.observation), shown.copy)) {
      fail(env, 'expected an observation to stay as it was given, got one that the next step changed');
    }
    checkResult(env, result);
    record.push(structuredClone({ ...result, text: env.render() }));
    shown = { observation: result.observation, copy: structuredClone(result.observation) };
    if (result.terminated || result.truncated) return record;
  }
}

/** At every state of an episode: what the mask allows is accepted; with `refusals` what it forbids is refused without effect. */
function checkMasks<Observation>(
  env: Env<Observation>,
  seed: number,
  actions: readonly number[],
  rng: Rng,
  refusals: boolean,
) {
  const reach = (step: number) => {
    let { observation } = env.reset({ seed });
    for (const action of actions.slice(0, step)) ({ observation } = env.step(action));
    return observation;
  };
  for (let step = 0; step < actions.length; step++) {
    const mask = maskOf(env, reach(step));
    const before = env.render();
    const illegal: unknown[] = [-1, 0.5, Number.NaN];
    const beyond = mask?.length ?? numActionsOf(env);
    if (beyond !== undefined) illegal.push(beyond);
    if (mask) illegal.push(...[...mask.keys()].filter((action) => mask[action] === 0).slice(0, 8));
    for (const action of refusals ? illegal : []) {
      expectThrow(env, () => env.step(action as number), InvalidAction, `illegal action ${String(action)}`);
    }
    if (env.render() !== before) fail(env, 'expected a refused action to change nothing, got another state');
    const tried = mask ? Array.from({ length: 8 }, () => env.actionSpace.sample(rng, mask)) : [];
    if (mask?.at(-1) === 1) tried.push(mask.length - 1);
    for (const action of tried) {
      reach(step);
      checkResult(env, env.step(action));
    }
  }
}

type Mask = Uint8Array | undefined;

/** Name and action count of an environment. */
type Introduced = { spec: { id: string }; actionSpace: object };

/** The mask of an observation that has one, of as many actions as the space has at most. */
function maskOf(env: Introduced, observation: unknown): Mask {
  const mask = (observation as { actionMask?: unknown } | null)?.actionMask;
  if (mask === undefined) return undefined;
  const most = numActionsOf(env) ?? Infinity;
  if (mask instanceof Uint8Array && mask.length <= most) return mask;
  return fail(env, `expected an actionMask of at most ${most} actions, uint8, got ${describeValue(mask)}`);
}

function numActionsOf({ actionSpace }: Introduced): number | undefined {
  return 'n' in actionSpace && typeof actionSpace.n === 'number' ? actionSpace.n : undefined;
}

function given<Result>(env: Introduced, result: Result): Result {
  if (Object(result) === result && 'observation' in (result as object)) return result;
  return fail(env, `expected an object with an observation, got ${describeValue(result)}`);
}

function checkObservation<Observation>(env: Env<Observation>, observation: Observation) {
  maskOf(env, observation);
  if (env.observationSpace.contains(observation)) return;
  fail(env, `expected an observation of observationSpace, got another: ${describeValue(observation)}`);
}

function checkResult<Observation>(env: Env<Observation>, result: StepResult<Observation>) {
  const { observation, reward, terminated, truncated } = result;
  checkObservation(env, observation);
  if (!Number.isFinite(reward)) fail(env, `expected a finite reward, got ${reward}`);
  if (typeof terminated !== 'boolean' || typeof truncated !== 'boolean' || (terminated && truncated)) {
    fail(env, `expected terminated or truncated or neither, got ${String(terminated)} and ${String(truncated)}`);
  }
  const legal = maskOf(env, observation);
  if (!terminated && legal && !legal.includes(1)) fail(env, 'expected a legal action in a running episode, got none');
}

type Refusal = typeof ResetNeeded | typeof InvalidAction;

function expectThrow(env: Introduced, run: () => unknown, error: Refusal, what: string) {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof error) return;
    fail(env, `expected ${error.name} for ${what}, got ${String(thrown)}`, thrown);
  }
  fail(env, `expected ${error.name} for ${what}, got no error`);
}

function fail(env: Introduced, message: string, cause?: unknown): never {
  throw new WorkbenchError('failure', `${message}, at checkEnv of ${env.spec.id}`, { cause });
}
