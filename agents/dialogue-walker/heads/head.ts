/** The interface of the networks that score legal actions: states as flat arrays, side by side, and what is made of them. */
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import type { Rng } from '../../../src/run/seeds.js';
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import type { Parameters } from '../../../src/nn/parameters.js';
import type { Outputs, Taped } from '../../../src/nn/tape.js';
import type { SaidWords } from '../words/said-words.js';
import type { WalkerSettings } from '../settings.js';

/** A network that scores legal actions. */
export interface WalkerHead {
  readonly parameters: Parameters;
  readonly precision?: 'f32' | 'bf16';
  /** See `Actor.maxScoresPerBatch`. */
  readonly maxScoresPerBatch?: number;
  /** float32 [N]: logits of every legal action. @param dropout absent: none */
  logits(batch: StateBatch, dropout?: Rng): Outputs;
  /**
   * float32 [S]: the loss of each state by margins between the gold and what is drawn from the whole graph. Of heads that aim at vectors.
   * @param golds int32 [S]: place of each state's gold among the actions of the batch
   * @param drawing draws what is not gold
   */
  marginLosses?(batch: StateBatch, golds: Int32Array, drawing: Rng, dropout?: Rng): Outputs;
  /** See `Actor.hold`. */
  hold?(batch: StateBatch): (states: Int32Array) => { offsets: Int32Array; logits: () => Outputs };
  /** The same without a gradient, reusing what depends on the weights alone until `weightsChanged` is called. */
  infer(batch: StateBatch): Promise<Float32Array>;
  /** Logits for ranking alone: what was said is read once a task instead of in each batch. Absent where both are one. */
  rank?(batch: StateBatch): Promise<Float32Array>;
  /** Present where walks may leave the graph: logits are log-probabilities then, among all that might have been chosen. */
  writer?: WalkWriter;
  /** Forgets what `infer` and `rank` keep. Call after every update. */
  weightsChanged(): void;
  dispose(): void;
}

/** Writes walks step by step, a relation and then an entity, also beyond the graph; on the host, by what `infer` keeps. */
export interface WalkWriter {
  /** float32 [S, numRelations + 1]: ln of the probability of each relation in each state, staying last. */
  relations(batch: StateBatch): Promise<Float32Array>;
  /** float32 [pairs, numEntities]: ln of the probability of each entity once a state has written a relation. */
  tails(batch: StateBatch, pairs: WrittenRelations): Promise<Float32Array>;
}

/** Relations that states of a batch write. */
export interface WrittenRelations {
  /** int32 [pairs]: state of each. */
  stateOf: Int32Array;
  /** int32 [pairs] */
  relations: Int32Array;
}

/** Frozen vectors of entities and relations, one a row. */
export interface FrozenTables {
  /** float32 [numEntities, entityDim]. */
  entities: Float32Array;
  entityDim: number;
  /** float32 [numRelations, relationDim]. */
  relations: Float32Array;
  relationDim: number;
}

/** Shape of a head: widths, sizes of the graph, its edges and the frozen vectors. */
export interface HeadShape {
  contextDim: number;
  /** Steps of a walk; a state's `hop` is below. */
  horizon: number;
  /** Numbers of a state in addition to its vectors: see `scalarNames`. */
  numScalars: number;
  numEdgeFeatures: number;
  numEntities: number;
  numRelations: number;
  /** The edges that walks may take. */
  rows: AdjacencyRows;
  /** Rows of the table of words, that of unknown ones included; 0 where none are read. */
  numWords: number;
  /** Width 0 if the network reads none. */
  tables: FrozenTables;
  /** Places of the longest action list, staying counted: with `pathAware: false`, whose logits are places'. */
  maxActions?: number | undefined;
}

/** S states with N legal actions in all. Every array is row-major; ids are the graph's. */
export interface StateBatch {
  numStates: number;
  /** float32 [S, contextDim]: frozen text vectors of the dialogue. */
  context: Float32Array;
  /** int32 [S]: where the walk started. */
  start: Int32Array;
  /** int32 [S]: where it stands. */
  current: Int32Array;
  /** int32 [S]: relation walked last, or `numRelations + 1` (none) before the first step. */
  lastRelation: Int32Array;
  /** int32 [S]: last relation of the dialogue's previous path, or `numRelations + 1` (none). */
  previousPathRelation: Int32Array;
  /** int32 [S, horizon]: relations of the dialogue's previous path, its last ones; `numRelations + 1` (none) where it is shorter. */
  earlierRelations: Int32Array;
  /** int32 [S, horizon]: entities that they led to; the start where there is none. */
  earlierTails: Int32Array;
  /** int32 [S, horizon − 1]: relations walked so far; `numRelations + 1` (none) for steps not taken. */
  walkedRelations: Int32Array;
  /** int32 [S, horizon − 1]: entities that they led to; the start for steps not taken. */
  walkedTails: Int32Array;
  /** float32 [S, numScalars]: see `scalarNames`. */
  scalars: Float32Array;
  /** int32 [S + 1]: actions of state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [N]: state of each action. */
  stateOf: Int32Array;
  /** int32 [N]: index of each in the state's whole action list. */
  actions: Int32Array;
  /** int32 [N]: relation of each action; `numRelations` (Equal) for staying. */
  relations: Int32Array;
  /** int32 [N]: entity that each action leads to. */
  tails: Int32Array;
  /**
   * float32 [N]: ln of how many legal actions each listed one stands for; absent where all are listed. Trainers add it to logits;
   * heads that normalise by themselves count it in their sums.
   */
  logWeights?: Float32Array | undefined;
  /** float32 [N, numEdgeFeatures], empty when the head does not read them. */
  edgeFeatures: Float32Array;
  /** Present where the network reads words. */
  words?: SaidWords;
  /** Context and edge features of a batch that was held, of which this one has some of the states; its own arrays are empty then. */
  held?: HeldRows;
}

/** Rows that stay where networks are computed, and which of them a batch reads. */
interface HeldRows {
  context: Taped;
  /** int32 [S] */
  contextOf: Int32Array;
  /** Absent where the head reads none. */
  edgeFeatures?: Taped | undefined;
  /** int32 [N] */
  edges: Int32Array;
}

const usualScalars = [
  'hop',
  'sender is the assistant',
  'has an earlier path',
  'the earlier path had two hops or more',
  'start is the tail of the earlier path',
  'messages so far / 8',
];

/** Names of the state's scalars, in order. @param linkedTurns whether the network is cloned on linked turns, too */
export const scalarNames = (linkedTurns = false): readonly string[] =>
  linkedTurns ? [...usualScalars, 'is linked'] : usualScalars;

type BatchShape = Pick<HeadShape, 'contextDim' | 'numScalars' | 'horizon' | 'numEdgeFeatures'>;

/** Allocates a batch whose arrays are exact for the given states. */
export const allocateBatch = (numStates: number, numActions: number, shape: BatchShape): StateBatch => ({
  numStates,
  context: new Float32Array(numStates * shape.contextDim),
  start: new Int32Array(numStates),
  current: new Int32Array(numStates),
  lastRelation: new Int32Array(numStates),
  previousPathRelation: new Int32Array(numStates),
  earlierRelations: new Int32Array(numStates * shape.horizon),
  earlierTails: new Int32Array(numStates * shape.horizon),
  walkedRelations: new Int32Array(numStates * (shape.horizon - 1)),
  walkedTails: new Int32Array(numStates * (shape.horizon - 1)),
  scalars: new Float32Array(numStates * shape.numScalars),
  offsets: new Int32Array(numStates + 1),
  stateOf: new Int32Array(numActions),
  actions: new Int32Array(numActions),
  relations: new Int32Array(numActions),
  tails: new Int32Array(numActions),
  edgeFeatures: new Float32Array(numActions * shape.numEdgeFeatures),
});

/** Parts of a network's shape that determine the rows. */
export type StateRowShape = Pick<HeadShape, 'contextDim' | 'horizon' | 'numScalars' | 'tables'>;

/**
 * One row is [text vector ; start ; current ; relations ; scalars ; one-hot of the step], of which all but the text vector
 * are there by the settings.
 * @param withRelations whether the relation walked last and that of the path before are among the vectors of the place
 */
export function createStateRows(
  settings: WalkerSettings,
  { contextDim, horizon, numScalars, tables }: StateRowShape,
  withRelations: boolean,
) {
  const { entities, entityDim, relations, relationDim } = tables;
  const placeDim = settings.placeVectors ? 2 * entityDim + (withRelations ? 2 * relationDim : 0) + numScalars : 0;
  const oneHot = settings.stepEncoding === 'concat' ? horizon : 0;
  const dim = contextDim + placeDim + oneHot;
  const positions =
    settings.stepEncoding === 'additive-sin'
      ? Array.from({ length: horizon }, (_, step) => stepVector(step, contextDim))
      : undefined;

  const writeText = (text: Float32Array, step: number) => {
    if (settings.stateNorm === 'layer') normalize(text);
    const position = positions?.[step];
    if (position) for (let i = 0; i < contextDim; i++) text[i]! += position[i]!;
  };
  const writePlace = (batch: StateBatch, s: number, rows: Float32Array, begin: number) => {
    let at = begin;
    const write = (table: Float32Array, row: number, width: number) => {
      // Staying and "none yet" are beyond the table: zero, so that only the tail speaks for them.
      rows.set(table.subarray(row * width, (row + 1) * width), at);
      at += width;
    };
    write(entities, batch.start[s]!, entityDim);
    write(entities, batch.current[s]!, entityDim);
    if (withRelations) {
      write(relations, batch.lastRelation[s]!, relationDim);
      write(relations, batch.previousPathRelation[s]!, relationDim);
    }
    write(batch.scalars, s, numScalars);
  };

  return {
    dim,
    /** float32 [numStates, dim]. */
    of(batch: StateBatch): Float32Array {
      const rows = new Float32Array(batch.numStates * dim);
      for (let s = 0; s < batch.numStates; s++) {
        const at = s * dim;
        const step = batch.scalars[s * numScalars + hop]!;
        const text = rows.subarray(at, at + contextDim);
        text.set(batch.context.subarray(s * contextDim, (s + 1) * contextDim));
        writeText(text, step);
        if (settings.placeVectors) writePlace(batch, s, rows, at + contextDim);
        if (oneHot > 0) rows[at + contextDim + placeDim + step] = 1;
      }
      return settings.precision === 'bf16' ? roundedToBfloat16(rows) : rows;
    },
  };
}

const hop = usualScalars.indexOf('hop');

/** Steps that state `s` has taken. */
export function hopOf({ numStates, scalars }: Pick<StateBatch, 'numStates' | 'scalars'>, s: number): number {
  return scalars[s * (scalars.length / numStates) + hop]!;
}

/**
 * sin and cos of the step at falling frequencies, side by side; zeros at the first step.
 * @source Vaswani et al. 2017, section 3.5; the zeros are of LLM-ARK's code
 */
function stepVector(step: number, dim: number): Float32Array {
  if (step === 0) return new Float32Array(dim);
  return Float32Array.from({ length: dim }, (_, i) => {
    const angle = step / 10_000 ** ((i - (i % 2)) / dim);
    return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

/** To mean 0 and variance 1, in place. @source Ba et al. 2016, arXiv:1607.06450, without gain and bias */
function normalize(values: Float32Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  for (let i = 0; i < values.length; i++) values[i] = (values[i]! - mean) * scale;
}
