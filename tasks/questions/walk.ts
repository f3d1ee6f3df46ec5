/** What training on questions needs of a walk, over relations or over edges. */
import type { TaskRequest } from '../../agents/actor.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { VectorEnv } from '../../envs/vector-env.js';
import type { GreedyWalk } from '../../trainers/greedy-walks.js';
import type { Learner } from '../../trainers/ppo-step.js';
import type { Session } from '../../trainers/session.js';

/** What a finished walk amounts to. */
export interface WalkOutcome {
  f1: number;
  /** First answer is right. */
  hit: boolean;
  exact: boolean;
  /** Relations walked. */
  chain: readonly number[];
}

/** A walk whose texts are encoded and whose networks are made; closed by who opened it. */
export interface OpenedWalk<Observation, Request extends TaskRequest> {
  learner: Learner<Observation, Request>;
  /** Copies over the train questions, as many as a round walks. */
  envs: VectorEnv<Observation>;
  /** Copies over the valid questions. */
  validEnvs: VectorEnv<Observation>;
  /** int32: train questions that can be walked. */
  walkable: Int32Array;
  outcomeOf(walk: GreedyWalk<Observation>, sample: QuestionSample): WalkOutcome;
  close(): void;
}

/** A kind of walk over the questions of a run. */
export interface QuestionWalk<Observation, Request extends TaskRequest> {
  open(session: Session): Promise<OpenedWalk<Observation, Request>>;
}

/** Copies of the environment that valid questions are walked in at once. */
export const evaluatedAtOnce = 512;
