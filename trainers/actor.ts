/** Interface between trainers and policies of any action space: edges of a dialogue's graph, relations of a question's. */
import type { Rng } from '../src/run/seeds.js';
import { joined, segmentLogSoftmax } from '../src/nn/categorical.js';
import type { Parameters } from '../src/nn/parameters.js';
import type { Outputs } from '../src/nn/tape.js';

/** Ragged log-probabilities: actions of request `i` are `offsets[i] .. offsets[i + 1] - 1`. */
export interface ActionLogProbs {
  /** float32 [number of legal actions of all requests]. */
  logProbs: Float32Array;
  /** int32 [number of requests + 1]. */
  offsets: Int32Array;
}

/** Legal actions of a network that scores a whole vocabulary. */
export interface MaskedActions {
  /** int32 [S + 1]: scores of state `s` are `scoredOffsets[s] .. scoredOffsets[s + 1] - 1`, illegal actions included. */
  scoredOffsets: Int32Array;
  /** int32 [N]: place of each legal action among the scores, ascending. */
  legal: Int32Array;
}

/** States that went through the host's part of a network, ready for the differentiable one. */
export interface ScoredActions {
  /** int32 [S + 1]: legal actions of state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** Absent where the network scores nothing but legal actions. */
  masked?: MaskedActions;
  /** True where scores are log-probabilities, possibly over more than the legal or listed actions. Default false: logits. */
  normalised?: boolean;
  /**
   * float32 [number of scores]. May be called again, which ends the computation before.
   * @param dropout generator of dropout masks, for networks that have it; absent means no dropout
   */
  logits(dropout?: Rng): Outputs;
  /**
   * float32 [S]: losses of states by margins between what is done and what is drawn. Of networks that have such a loss.
   * @param golds place of what is done among each state's legal actions
   * @param drawing draws what is not done
   */
  marginLosses?(golds: readonly number[], drawing: Rng, dropout?: Rng): Outputs;
  /** The same where nothing goes back, by what the network keeps of its weights. Default: `logits`, read. */
  infer?(): Promise<Float32Array>;
}

/** Common part of requests: the task of the walk. */
export type TaskRequest = { readonly task: { readonly id: string } };

/**
 * A policy as trainers see it.
 * @typeParam Observation what its environment shows
 * @typeParam Request what it keeps of one to score it, now and in every later epoch of the same round
 */
export interface Actor<Observation, Request> {
  readonly parameters: Parameters;
  /** Precision of its scores; default f32. */
  readonly precision?: 'f32' | 'bf16' | undefined;
  requestOf(observation: Observation): Request;
  /**
   * Key of everything that logits and values depend on, within a sample. States that walks of a sample share are scored and stored once.
   * Default: states are equal where the same actions led to them, as a walker sees them that reads its whole path.
   */
  stateKey?(observation: Observation): string;
  /** Scores that the network makes for a state: what memory grows with. At least 1. */
  numScores(request: Request): number;
  /** Largest number of scores per forward pass in training. Default 32,768. */
  readonly maxScoresPerBatch?: number | undefined;
  /** The same where nothing goes back; default: as many as in training. */
  readonly maxInferenceScores?: number | undefined;
  /** Reads what requests need before `score` may be asked for them. */
  prepare?(requests: readonly Request[]): Promise<void>;
  score(requests: readonly Request[]): ScoredActions;
  /**
   * Copies the states of a round to where the network is computed, apart from the host.
   * @returns scores some of them by their places, with nothing but these from the host; valid until the next call
   */
  hold?(requests: readonly Request[]): (states: Int32Array) => ScoredActions;
  /** The environment's action at a place of a state's list of legal ones. Default: the place itself, as where all are legal. */
  envAction?(request: Request, index: number): number;
  /**
   * Sets the dropout mask for both rollouts and updates, so that a PPO ratio compares one network before and after; undefined: no
   * dropout. Absent where PPO uses no dropout.
   */
  drop?(drawing: Rng | undefined): void;
  /** Forgets what was kept of the weights. Call after every update. */
  weightsChanged(): void;
  dispose(): void;
}

/** A critic as trainers see it. */
export interface ValueNetwork<Request> {
  readonly parameters: Parameters;
  /** Prepares states on the host. @returns makes float32 [number of requests]. May be called again, which ends the computation before. */
  values(requests: readonly Request[]): () => Outputs;
  /** The same as of an actor. */
  hold?(requests: readonly Request[]): (states: Int32Array) => () => Outputs;
  dispose(): void;
}

/** Part of an actor that scores states. */
export type StateScorer<Request> = Pick<
  Actor<never, Request>,
  'parameters' | 'numScores' | 'maxScoresPerBatch' | 'maxInferenceScores' | 'prepare' | 'score'
>;

/** Log-probabilities of all listed actions of states, by the arithmetic that trains: the first ratio of a round is 1. */
export async function actionLogProbs<Request>(
  actor: StateScorer<Request>,
  requests: readonly Request[],
): Promise<ActionLogProbs> {
  await actor.prepare?.(requests);
  const sizes = requests.map((request) => actor.numScores(request));
  const runs = runsOf(sizes, actor.maxInferenceScores ?? actor.maxScoresPerBatch);
  if (runs.length === 1) return runLogProbs(actor, requests);
  const offsets = new Int32Array(requests.length + 1);
  const parts: Float32Array[] = [];
  for (const [begin, end] of runs) {
    const { logProbs, offsets: own } = await runLogProbs(actor, requests.slice(begin, end));
    parts.push(logProbs);
    for (let i = 1; i < own.length; i++) offsets[begin + i] = offsets[begin]! + own[i]!;
  }
  return { logProbs: joined(parts), offsets };
}

async function runLogProbs<Request>(
  actor: StateScorer<Request>,
  requests: readonly Request[],
): Promise<ActionLogProbs> {
  const { offsets, masked, normalised, logits, infer } = actor.score(requests);
  const scores = await (infer ? infer() : logits().read());
  const legal = legalScores(scores, masked);
  return { logProbs: normalised ? legal : segmentLogSoftmax(legal, offsets), offsets };
}

/** Scores of the legal actions alone. */
export function legalScores(scores: Float32Array, masked: MaskedActions | undefined): Float32Array {
  if (!masked) return scores;
  const legal = new Float32Array(masked.legal.length);
  for (let i = 0; i < legal.length; i++) legal[i] = scores[masked.legal[i]!]!;
  return legal;
}

/**
 * Legal actions of states whose network scores a whole vocabulary.
 * @param masks uint8 of each state, 1 = legal
 * @param scoredOffsets int32 [S + 1]: see `MaskedActions`
 */
export function legalActions(
  masks: readonly Uint8Array[],
  scoredOffsets: Int32Array,
): { offsets: Int32Array; masked: MaskedActions } {
  const offsets = new Int32Array(masks.length + 1);
  masks.forEach((mask, s) => {
    let count = 0;
    for (let action = 0; action < mask.length; action++) count += Number(mask[action] === 1);
    offsets[s + 1] = offsets[s]! + count;
  });
  const legal = new Int32Array(offsets.at(-1)!);
  let end = 0;
  masks.forEach((mask, s) => {
    for (let action = 0; action < mask.length; action++)
      if (mask[action] === 1) legal[end++] = scoredOffsets[s]! + action;
  });
  return { offsets, masked: { scoredOffsets, legal } };
}

/** The action at a place of a mask's legal ones. */
export function nthLegal(mask: Uint8Array, place: number): number {
  let action = -1;
  for (let left = place; left >= 0; left--) action = mask.indexOf(1, action + 1);
  return action;
}

/** Some of the states of a round. */
export function pickRequests<Request>(states: readonly Request[], chosen: Int32Array): Request[] {
  const requests = new Array<Request>(chosen.length);
  for (let i = 0; i < chosen.length; i++) requests[i] = states[chosen[i]!]!;
  return requests;
}

/** Runs of states, in order, that go through a network at once: of at most `most` scores, unless one alone has more. */
export function runsOf(sizes: readonly number[], most = 32768): [begin: number, end: number][] {
  const runs: [number, number][] = [];
  let [begin, scores] = [0, 0];
  for (let i = 0; i < sizes.length; i++) {
    if (i > begin && scores + sizes[i]! > most) {
      runs.push([begin, i]);
      [begin, scores] = [i, 0];
    }
    scores += sizes[i]!;
  }
  if (sizes.length > 0) runs.push([begin, sizes.length]);
  return runs;
}
