/** Interface of dialogue agents: trained walkers and baselines. */
import type { WalkTask } from '../datasets/walk-sample.js';
import type { Path } from '../src/kg/graph.js';
import type { ArkBeam } from '../src/metrics/ranks.js';

/** A complete walk with its log-probability under the agent (or any score that orders walks the same way). */
export interface RankedPath {
  /** Canonical: without stay steps; empty when the agent chose to stay at the start. */
  path: Path;
  logProb: number;
}

/** A distinct final entity with the best and the summed log-probability of the paths that end there. */
export type RankedAnswer = { entity: number; logProb: number; summedLogProb: number };

/** Cost of an answer. Absent counts are zero. */
export interface Cost {
  calls?: number;
  promptTokens?: number;
  cachedTokens?: number;
  completionTokens?: number;
  encodes?: number;
  graphReads?: number;
  /** Relations it met whose tails an endpoint, or the cap on them, cut; absent for none. */
  cutRelations?: number;
}

/** Answer to one task. */
export interface Answer {
  /** Best first, at most the beam's width, distinct. Empty where the agent could not walk. */
  paths: readonly RankedPath[];
  /** Best first by `logProb`, distinct. */
  answers: readonly RankedAnswer[];
  text?: string;
  /** Share of probability on the first answer, in [0, 1]. */
  confidence?: number;
  /** The beam of LLM-ARK's reference, of agents that walk two steps and were made to keep it. */
  arkBeam?: ArkBeam;
  cost: Cost;
}

/** Walks of a task to compute probabilities of. */
export interface GivenWalks {
  task: WalkTask;
  /** Canonical paths. */
  paths: readonly Path[];
}

/** Dialogue agent; never sees gold paths. */
export interface Agent {
  readonly name: string;
  /** Note to report with its results, such as "uses entity counts". */
  readonly note?: string;
  /**
   * Answers every task, in order. Batched so that encoders and networks can work on many at once.
   * @param onProgress called with the number of tasks answered so far
   */
  answer(tasks: readonly WalkTask[], onProgress?: (done: number) => void): Promise<Answer[]>;
  /**
   * ln of the probability of given walks among all legal ones, or all that it may write, of agents that are a distribution over walks:
   * in order, a number for each path, NaN where it is not legal. Evaluations alone ask, after the answers; nothing of the paths may be kept.
   */
  logProbs?(given: readonly GivenWalks[]): Promise<number[][]>;
}
