/**
 * Networks of relation walkers: they read the question and the relations walked, never the graph or an entity, so the same question is
 * walked alike from any topic. They score every relation and STOP; what is legal is the mask's business.
 */
import type { QuestionTask } from '../../datasets/question.js';
import type { RelationWalkObservation } from '../../envs/relation-walk/relation-walk-env.js';
import { distinctTexts } from '../../src/encoder/state-encoder.js';
import { Rng } from '../../src/run/seeds.js';
import type { Executor, Numbers, Rows, Scope } from '../../src/nn/executor.js';
import { type HostTensor, orthogonalValues, Parameters } from '../../src/nn/parameters.js';
import { type Gathered, type Outputs, Tape, type Taped } from '../../src/nn/tape.js';
import { type Actor, legalActions, nthLegal, pickRequests } from '../../trainers/actor.js';
import { questionText, type ScaledTexts } from './question-vectors.js';
import type { RelationWalkerSettings } from './settings.js';

/** Relations of the graph, and length of a walk. */
export type RelationShape = { numRelations: number; horizon: number };

/** A state of one question's walk. */
export interface RelationRequest {
  task: QuestionTask;
  /** int32 [step]: relations walked. */
  relations: Int32Array;
  /** uint8 [numRelations + 1], 1 = legal; a running walk has at least one. */
  mask: Uint8Array;
}

/** A network over a question and the relations walked. */
export interface RelationNetwork {
  readonly parameters: Parameters;
  readonly shape: RelationShape;
  /** States of a pass with gradients; default as many as there are. */
  readonly mostStates?: number;
  /** Encodes what states need; required before `scores` and `recorded`. An empty mask asks for the question alone. */
  prepare(requests: readonly RelationRequest[], signal?: AbortSignal): Promise<void>;
  /** float32 [S · (numRelations + 1)]: scores of all actions, those of illegal ones of any value. */
  scores(requests: readonly RelationRequest[]): Promise<Float32Array>;
  /** The same with the backward pass. @param dropout instead of the masks of `drop` */
  recorded(requests: readonly RelationRequest[], dropout?: Rng): Outputs;
  /** The same for some of the states of a round, whose texts stay where the network is computed. See `Actor.hold`. */
  hold?(requests: readonly RelationRequest[]): (chosen: readonly RelationRequest[]) => Outputs;
  /** Sets the seed of dropout masks by text; undefined: no dropout. */
  drop?(seed: number | undefined): void;
}

/**
 * The network that reads the vector of a question's text.
 *
 *   x = relu(T · [relu(Q·question + b) ; onehot(first) ; onehot(second) … ; onehot(step)] + b),   scores = O·x + b
 *
 * @source the recipe was measured on MetaQA (docs/decisions/questions.md); orthogonal starts, gain √2 and 0.01
 */
export class SentenceNetwork implements RelationNetwork {
  readonly parameters: Parameters;
  readonly #recording: Tape;
  readonly #reading: Tape;
  readonly #held: Scope<Numbers, Rows>;

  /** @param seed of the initial weights; zeros without it, for weights to be imported */
  constructor(
    executor: Executor,
    readonly settings: Pick<RelationWalkerSettings, 'questionWidth' | 'width' | 'keepName'>,
    readonly shape: RelationShape,
    readonly texts: ScaledTexts,
    seed?: number,
  ) {
    const { questionWidth, width } = settings;
    const rngOf = seed === undefined ? undefined : (name: string) => Rng.named(seed, `relation-walker/${name}`);
    this.parameters = new Parameters(executor, {
      ...orthogonalLayer('question', texts.dim, questionWidth, Math.SQRT2, rngOf),
      ...orthogonalLayer('trunk', questionWidth + oneHots(shape), width, Math.SQRT2, rngOf),
      ...orthogonalLayer('out', width, shape.numRelations + 1, 0.01, rngOf),
    });
    this.#recording = new Tape(this.parameters);
    this.#reading = new Tape(this.parameters, false);
    this.#held = executor.scope();
  }

  prepare(requests: readonly RelationRequest[], signal?: AbortSignal): Promise<void> {
    return this.texts.prepare(this.#textsOf(requests.map(({ task }) => task)), signal);
  }

  scores(requests: readonly RelationRequest[]): Promise<Float32Array> {
    return this.#scored(this.#reading, requests).read();
  }

  recorded(requests: readonly RelationRequest[]): Outputs {
    return this.#scored(this.#recording, requests);
  }

  hold(requests: readonly RelationRequest[]): (chosen: readonly RelationRequest[]) => Outputs {
    const { texts } = this;
    const { distinct } = distinctTexts(this.#textsOf(requests.map(({ task }) => task)));
    const placeOf = new Map(distinct.map((text, place) => [text, place]));
    this.#held.begin();
    const all = { rows: distinct.length, width: texts.dim, values: this.#held.copy(texts.matrix(distinct)) };
    return (chosen) =>
      this.#scored(this.#recording, chosen, (tape, some) =>
        tape.rows(
          all,
          Int32Array.from(some, (text) => placeOf.get(text)!),
        ),
      );
  }

  /** @param rowsOf vectors of texts; default a copy of them */
  #scored(
    tape: Tape,
    requests: readonly RelationRequest[],
    rowsOf = (on: Tape, texts: readonly string[]) => on.constant(this.texts.matrix(texts), this.texts.dim),
  ): Outputs {
    tape.begin();
    const { questionWidth, width } = this.settings;
    const { distinct, rows } = distinctTexts(this.#textsOf(requests.map(({ task }) => task)));
    const read = tape.dense(rowsOf(tape, distinct), 'question', questionWidth, 'question.bias', 'relu');
    const trunk = tape.parameter('trunk', width);
    const shares = tape.product(read, tape.slice(trunk, 0, questionWidth));
    const ofTexts = tape.biased(shares, tape.parameter('trunk.bias', width));
    const chains = requests.map(({ relations }) => relations);
    const tables = { rows: trunk, from: questionWidth };
    return tape.outputs([trunkScores(tape, this.shape, [ofTexts, rows], tables, chains)]);
  }

  #textsOf(tasks: readonly QuestionTask[]): string[] {
    return tasks.map((task) => questionText(task, this.settings.keepName));
  }
}

/** Length of the one-hots: a slot for each relation walked, which has a place for none yet, and the step. */
export const oneHots = ({ numRelations, horizon }: RelationShape): number =>
  (horizon - 1) * (numRelations + 1) + horizon;

/**
 * Scores of all relations and STOP behind some chains, by the layer `out`.
 * @param texts the question's share of the sum, and the row of each chain's
 * @param tables [from + oneHots, width]: a one-hot picks a row
 */
export function trunkScores<N extends Numbers, R extends Rows>(
  tape: Tape<N, R>,
  { numRelations, horizon }: RelationShape,
  texts: Gathered<N>,
  { rows, from }: { rows: Taped<N>; from: number },
  chains: readonly Int32Array[],
): Taped<N> {
  const numActions = numRelations + 1;
  const indices = Array.from({ length: horizon - 1 }, (_, slot) =>
    Int32Array.from(chains, (chain) => from + slot * numActions + (chain[slot] ?? numRelations)),
  );
  indices.push(Int32Array.from(chains, ({ length }) => from + (horizon - 1) * numActions + length));
  const sums = tape.sumOfRows([texts, ...indices.map((index) => [rows, index] as const)], { act: 'relu' });
  return tape.dense(sums, 'out', numActions);
}

/** An orthogonal matrix, or zeros without a generator, and a bias of zeros. */
export function orthogonalLayer(
  name: string,
  rows: number,
  width: number,
  gain: number,
  rngOf?: (name: string) => Rng,
): Record<string, HostTensor> {
  const data = rngOf ? orthogonalValues(rngOf(name), rows, width, gain) : new Float32Array(rows * width);
  return {
    [name]: { shape: [rows, width], data },
    [`${name}.bias`]: { shape: [width], data: new Float32Array(width) },
  };
}

/** Wraps a network; disposing one disposes the other. */
export function relationActor(network: RelationNetwork): Actor<RelationWalkObservation, RelationRequest> {
  const { parameters, shape } = network;
  const numActions = shape.numRelations + 1;
  const legalOf = (requests: readonly RelationRequest[]) =>
    legalActions(
      requests.map(({ mask }) => mask),
      Int32Array.from({ length: requests.length + 1 }, (_, s) => s * numActions),
    );
  return {
    parameters,
    requestOf: ({ task, relations, actionMask }) => ({ task, relations, mask: actionMask }),
    stateKey: ({ relations }) => relations.join(),
    numScores: () => numActions,
    maxScoresPerBatch: network.mostStates && network.mostStates * numActions,
    // 8,192 states: bounds memory.
    maxInferenceScores: 8192 * numActions,
    prepare: (requests) => network.prepare(requests),
    score: (requests) => ({
      ...legalOf(requests),
      logits: (dropout) => network.recorded(requests, dropout),
      infer: () => network.scores(requests),
    }),
    hold:
      network.hold &&
      ((requests) => {
        const score = network.hold!(requests);
        return (states) => {
          const chosen = pickRequests(requests, states);
          return { ...legalOf(chosen), logits: () => score(chosen) };
        };
      }),
    envAction: ({ mask }, place) => nthLegal(mask, place),
    drop: network.drop && ((rng) => network.drop!(rng?.uint32())),
    weightsChanged: () => {},
    dispose: () => parameters.dispose(),
  };
}

/** Question reader of a trained walker, for any network. */
export interface RelationReader {
  /** Work that is cheaper for many questions at once; `of` does without. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** Gives scores of legal actions behind relations walked, fewer than the horizon: float32 [numRelations + 1], STOP last. */
  of(task: QuestionTask, signal?: AbortSignal): Promise<ScoresBehind>;
}

/** @param mask uint8 [numRelations + 1], 1 = legal */
export type ScoresBehind = (relations: ArrayLike<number>, mask: Uint8Array) => Promise<Float32Array>;

/** Reader with the network's scores, question by question. */
export const relationReader = (network: RelationNetwork): RelationReader => ({
  prepare: (tasks, signal) => network.prepare(tasks.map(unmasked), signal),
  async of(task, signal) {
    await network.prepare([unmasked(task)], signal);
    return async (relations, mask) => {
      const request = { task, relations: Int32Array.from(relations), mask };
      await network.prepare([request], signal);
      return network.scores([request]);
    };
  },
});

/** Request for a question alone. */
export const unmasked = (task: QuestionTask): RelationRequest => ({
  ...{ task, relations: new Int32Array(0), mask: new Uint8Array(0) },
});
