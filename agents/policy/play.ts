/** Whole episodes, played to be counted: nothing is learned and no statistics move. */
import type { Normalizer } from '../../envs/wrappers/normalizer.js';
import { Rng, subSeed } from '../../src/run/seeds.js';
import { throwIfStopped, eventLoopYielder } from '../../src/run/stop.js';
import { argmaxSegment, sampleSegment } from '../../src/nn/categorical.js';
import { actionLogProbs, type Actor } from '../../trainers/actor.js';
import { meanScorer } from '../mean-scorer.js';
import {
  maskOf,
  type PolicyShape,
  policyShapeOf,
  vectorOf,
  type VectorObservation,
  type VectorObservationEnv,
} from './spaces.js';
import { WatchedEnv } from './watched-env.js';

/** Result of an episode. */
export interface PlayedEpisode {
  /** Sum of its rewards, undiscounted. */
  return: number;
  length: number;
  /** Ended by truncation rather than termination. */
  truncated: boolean;
}

/**
 * Chooses an action for each of some observations, counted from 0.
 * @param rngs one an observation, that of its episode
 * @param deterministic takes the most likely action instead of sampling; default true
 */
export type Chooser = (
  observations: readonly VectorObservation[],
  rngs: readonly Rng[],
  deterministic?: boolean,
) => Promise<ArrayLike<number>>;

/** The choices of a policy. @param normalizer of its observations, frozen */
export function policyChooser<Request>(actor: Actor<VectorObservation, Request>, normalizer?: Normalizer): Chooser {
  return async (observations, rngs, deterministic = true) => {
    const requests = observations.map((observation) => actor.requestOf(scaledBy(normalizer, observation)));
    const { logProbs, offsets } = await actionLogProbs(actor, requests);
    return requests.map((request, i) => {
      const [begin, end] = [offsets[i]!, offsets[i + 1]!];
      const index = deterministic ? argmaxSegment(logProbs, begin, end) : sampleSegment(logProbs, begin, end, rngs[i]!);
      return actor.envAction?.(request, index) ?? index;
    });
  };
}

/** A policy with the normaliser that its observations go through. */
export type PolicyMember = { actor: Actor<VectorObservation, unknown>; normalizer?: Normalizer | undefined };

/** The choices of several policies as one: the mean of their log-probabilities. */
export function meanChooser(members: readonly PolicyMember[]): Chooser {
  interface Seen {
    observation: VectorObservation;
  }
  const scorer = meanScorer<Seen>(
    members.map(({ actor, normalizer }) => ({
      scorer: actor,
      requestOf: ({ observation }) => actor.requestOf(scaledBy(normalizer, observation)),
    })),
  );
  const [{ actor: first, normalizer }] = members as [PolicyMember];
  return policyChooser<Seen>({
    ...scorer,
    weightsChanged() {},
    dispose() {},
    requestOf: (observation) => ({ observation }),
    envAction: ({ observation }, index) =>
      first.envAction?.(first.requestOf(scaledBy(normalizer, observation)), index) ?? index,
  });
}

/** An observation on the scale that a policy was trained on. */
export function scaledBy(normalizer: Normalizer | undefined, observation: VectorObservation): VectorObservation {
  if (!normalizer?.observations) return observation;
  const scaled = normalizer.observation(vectorOf(observation));
  return observation instanceof Float32Array ? scaled : { ...observation, observation: scaled };
}

/** Any legal action, each as likely. */
export function randomChooser({ numActions }: PolicyShape): Chooser {
  return (observations, rngs) =>
    Promise.resolve(
      observations.map((observation, i) => {
        const mask = maskOf(observation);
        const legal = [...Array(numActions).keys()].filter((action) => !mask || mask[action] === 1);
        return legal[rngs[i]!.integer(legal.length)]!;
      }),
    );
}

interface PlayOptions {
  /** One an episode. */
  seeds: readonly number[];
  /** Takes the most likely actions instead of sampling. Default true. */
  deterministic?: boolean | undefined;
  /** Called as each episode ends. @param index among the seeds */
  onEpisode?: ((index: number, episode: PlayedEpisode) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Copies that are walked side by side. */
const copiesAtOnce = 32;

/**
 * Plays an episode for each seed, in the order of the seeds. What comes of one does not depend on the others.
 * @param makeEnv a new copy, closed here
 * @throws WorkbenchError `failure` for an environment that breaks its promises
 */
export async function playEpisodes(
  makeEnv: () => VectorObservationEnv,
  choose: Chooser,
  { seeds, deterministic, onEpisode, signal }: PlayOptions,
): Promise<PlayedEpisode[]> {
  const played = new Array<PlayedEpisode>(seeds.length);
  const envs: VectorObservationEnv[] = [];
  let next = 0;
  const begin = (copy: WatchedEnv) => {
    const index = next++;
    copy.begin(seeds[index]!);
    return { copy, index, rng: new Rng(subSeed(seeds[index]!, 'policy/act')) };
  };
  try {
    const open = () => {
      const env = makeEnv();
      envs.push(env);
      return begin(new WatchedEnv(env, policyShapeOf(env)));
    };
    const turn = eventLoopYielder();
    let running = Array.from({ length: Math.min(copiesAtOnce, seeds.length) }, open);
    for (let step = 0; running.length > 0; step++) {
      throwIfStopped(signal);
      await turn();
      const places = await choose(
        running.map(({ copy }) => copy.observation),
        running.map(({ rng }) => rng),
        deterministic,
      );
      running = running.flatMap((one, i) => {
        const { copy, index } = one;
        copy.step(places[i]!);
        if (!copy.ended) return [one];
        played[index] = { return: copy.sum, length: copy.steps, truncated: copy.truncated };
        onEpisode?.(index, played[index]);
        return next < seeds.length ? [begin(copy)] : [];
      });
    }
    return played;
  } finally {
    for (const env of envs) env.close();
  }
}

/** Seeds of the episodes of a split: the first of more are those of fewer. `valid` chooses the best; `test` is never trained by. */
export function episodeSeeds(split: string, count: number, seed = 0): number[] {
  return Array.from({ length: count }, (_, i) => subSeed(seed, `episodes/${split}`, i) >>> 0);
}
