/**
 * Networks of relation walkers: they read the question and the relations walked, never the graph or an entity, so the same question is
 * walked alike from any topic. They score every relation and STOP; what is legal is the mask's business. Computed on the host.
 */
import type { QuestionTask } from '../../datasets/question.js';
import type { RelationWalkObservation } from '../../envs/relation-walk/relation-walk-env.js';
import { distinctTexts } from '../../src/encoder/state-encoder.js';
import { Rng } from '../../src/run/seeds.js';
import { type HostOutputs, type HostTaped, SimdParameters, SimdTape } from '../../src/nn/simd/tape.js';
import { type HostTensor, orthogonalValues } from '../../src/nn/parameters.js';
import type { Actor } from '../actor.js';
import { questionText, type ScaledTexts } from './question-vectors.js';
import type { RelationWalkerSettings } from './settings.js';

/** Relations of the graph, and length of a walk. */
export interface RelationShape {
  numRelations: number;
  horizon: number;
}

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
  readonly parameters: SimdParameters;
  readonly shape: RelationShape;
  /** Encodes questions; required before `scores` and `recorded`. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** float32 [S · (numRelations + 1)]: scores of all actions, illegal ones included. */
  scores(requests: readonly RelationRequest[]): Float32Array;
  /** The same with the backward pass. @param dropout instead of the masks of `drop` */
  recorded(requests: readonly RelationRequest[], dropout?: Rng): HostOutputs;
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
  readonly parameters: SimdParameters;
  readonly #recording: SimdTape;
  readonly #reading: SimdTape;

  /** @param seed of the initial weights; zeros without it, for weights to be imported */
  constructor(
    readonly settings: Pick<RelationWalkerSettings, 'questionWidth' | 'width' | 'keepName'>,
    readonly shape: RelationShape,
    readonly texts: ScaledTexts,
    seed?: number,
  ) {
    const { questionWidth, width } = settings;
    const rngOf = seed === undefined ? undefined : (name: string) => Rng.named(seed, `relation-walker/${name}`);
    this.parameters = new SimdParameters({
      ...orthogonalLayer('question', texts.dim, questionWidth, Math.SQRT2, rngOf),
      ...orthogonalLayer('trunk', questionWidth + oneHots(shape), width, Math.SQRT2, rngOf),
      ...orthogonalLayer('out', width, shape.numRelations + 1, 0.01, rngOf),
    });
    this.#recording = new SimdTape(this.parameters);
    this.#reading = new SimdTape(this.parameters, false);
  }

  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void> {
    return this.texts.prepare(this.#textsOf(tasks), signal);
  }

  scores(requests: readonly RelationRequest[]): Float32Array {
    return this.#scored(this.#reading, requests).values.slice();
  }

  recorded(requests: readonly RelationRequest[]): HostOutputs {
    return this.#recording.outputs([this.#scored(this.#recording, requests)]);
  }

  #scored(tape: SimdTape, requests: readonly RelationRequest[]): HostTaped {
    tape.begin();
    const { questionWidth, width } = this.settings;
    const { distinct, rows } = distinctTexts(this.#textsOf(requests.map(({ task }) => task)));
    const input = tape.constant(this.texts.matrix(distinct), this.texts.dim);
    const read = tape.dense(input, 'question', questionWidth, 'question.bias', 'relu');
    const trunk = tape.parameter('trunk', width);
    const part = (begin: number, end?: number): HostTaped => {
      const [values, grads] = [trunk.values, trunk.grads].map((all) =>
        all?.subarray(begin * width, end && end * width),
      );
      return { rows: values!.length / width, width, values: values!, grads };
    };
    const bias = tape.rows(tape.parameter('trunk.bias', width), new Int32Array(distinct.length));
    const ofTexts = tape.add(tape.product(read, part(0, questionWidth)), bias);
    const chains = requests.map(({ relations }) => relations);
    return trunkScores(tape, this.shape, [ofTexts, rows], part(questionWidth), chains);
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
 * @param tables [oneHots, width]: a one-hot picks a row
 */
export function trunkScores(
  tape: SimdTape,
  { numRelations, horizon }: RelationShape,
  texts: readonly [HostTaped, Int32Array],
  tables: HostTaped,
  chains: readonly Int32Array[],
): HostTaped {
  const numActions = numRelations + 1;
  const indices = Array.from({ length: horizon - 1 }, (_, slot) =>
    Int32Array.from(chains, (chain) => slot * numActions + (chain[slot] ?? numRelations)),
  );
  indices.push(Int32Array.from(chains, ({ length }) => (horizon - 1) * numActions + length));
  const sums = tape.reluOfSums([texts, ...indices.map((index) => [tables, index] as const)]);
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
  return {
    parameters,
    requestOf: ({ task, relations, actionMask }) => ({ task, relations, mask: actionMask }),
    stateKey: ({ relations }) => relations.join(),
    numScores: () => numActions,
    // 8,192 states: bounds memory.
    maxInferenceScores: 8192 * numActions,
    prepare: (requests) => network.prepare(requests.map(({ task }) => task)),
    score(requests) {
      const offsets = new Int32Array(requests.length + 1);
      const legal: number[] = [];
      requests.forEach(({ mask }, s) => {
        for (let action = 0; action < numActions; action++) if (mask[action] === 1) legal.push(s * numActions + action);
        offsets[s + 1] = legal.length;
      });
      const scoredOffsets = offsets.map((_, s) => s * numActions);
      return {
        offsets,
        masked: { scoredOffsets, legal: Int32Array.from(legal) },
        logits: (dropout) => network.recorded(requests, dropout),
        infer: () => Promise.resolve(network.scores(requests)),
      };
    },
    envAction: ({ mask }, place) => {
      let action = mask.indexOf(1);
      for (let skip = place; skip > 0; skip--) action = mask.indexOf(1, action + 1);
      return action;
    },
    drop: network.drop && ((rng) => network.drop!(rng?.uint32())),
    weightsChanged: () => {},
    dispose: () => parameters.dispose(),
  };
}

/** Question reader of a trained walker, for any network. */
export interface RelationReader {
  /** Work that is cheaper for many questions at once; `of` does without. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** Gives scores of all actions behind relations walked, fewer than the horizon: float32 [numRelations + 1], STOP last. */
  of(task: QuestionTask, signal?: AbortSignal): Promise<(relations: ArrayLike<number>) => Float32Array>;
}

/** Reader with the network's scores, question by question. */
export const relationReader = (network: RelationNetwork): RelationReader => ({
  prepare: (tasks, signal) => network.prepare(tasks, signal),
  async of(task, signal) {
    await network.prepare([task], signal);
    return (relations) => network.scores([{ task, relations: Int32Array.from(relations), mask: new Uint8Array(0) }]);
  },
});
