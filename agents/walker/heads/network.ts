/** Parts of networks of heads over embedded edges: weights, inputs of a batch, common steps. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, matMul, relu } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import { ParameterSet, uniformFanIn } from '../../../src/tensor/parameters.js';
import { type CellState, createRecurrentLayer, type RecurrentLayer } from '../../../src/tensor/recurrent.js';
import { renumbering } from './batch-rows.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch, type WrittenRelations } from './head.js';
import type { Inflow } from './inflow.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** Weights of a network, by name. */
export interface Layers {
  readonly parameters: ParameterSet;
  /** Adds weights [fanIn, fanOut] with their bias, `NAME.bias`, where it has one. */
  add(name: string, fanIn: number, fanOut: number, biased?: boolean): void;
  lstm(name: string, inputs: number, dim: number): RecurrentLayer;
  weight(name: string): Tensor2D;
  /** input · W + b */
  dense(input: Tensor2D, name: string): Tensor2D;
}

/** Inputs from which a network scores the actions of a batch; all differentiable. */
export interface Scene {
  batch: StateBatch;
  /** float32 [S, width]: what was said. */
  text: Tensor2D;
  /** float32 [entities of the batch, embeddingDim + prepared]: rows by the places in `local`; those of the in-flow instead, where there is one. */
  entities: Tensor2D;
  /** float32 [numRelations + 2, embeddingDim + prepared]; the last two are Equal and "none". */
  relations: Tensor2D;
  /** Places of entities among the rows of `entities`. */
  local: LocalEntities;
  dropped(rows: Tensor2D): Tensor2D;
}

/** Adds the weights of a network and returns it. @param seed of the initial weights */
export type MakeNetwork = (
  tf: Tf,
  settings: WalkerSettings,
  shape: HeadShape,
  layers: Layers,
  seed: number,
) => EmbeddedNetwork;

/** Parts specific to a head. */
export interface EmbeddedNetwork {
  /**
   * float32 [rows, more]: columns that depend on a row and the weights alone, behind its embedding: kept between inferences.
   * @param rows float32 [rows, embeddingDim]
   */
  prepared?: { width: number; entities(rows: Tensor2D): Tensor2D; relations(rows: Tensor2D): Tensor2D };
  /** Entities whose rows `scores` reads in addition to those of the batch, at the indexes `local.others`. */
  others?(batch: StateBatch): Int32Array;
  inflow?: Inflow;
  /** Set for a network that writes walks: `scores` are log-probabilities then, and a scene has the rows of all entities, by their ids. */
  writes?: {
    /** float32 [S, numRelations + 1]: ln of the probability of each relation, staying last. */
    relations(scene: Scene): Tensor2D;
    /** float32 [pairs, numEntities]: ln of the probability of each entity once a state has written a relation. */
    tails(scene: Scene, pairs: WrittenRelations): Tensor2D;
  };
  /** float32 [N]: logits of the actions; features of edges are added to them where the network does not read them by itself. */
  scores(scene: Scene): Tensor1D;
  /**
   * float32 [S]: the loss of each state by margins, of a network that aims at vectors; features of edges have no part in it.
   * @param scene the entities drawn are at `local.others`
   */
  margins?(scene: Scene, aims: Aims): Tensor1D;
  /** Set if `scores` reads `batch.edgeFeatures`; default false. */
  readsFeatures?: boolean;
}

/** Target of each state, and the other actions. */
interface Aims {
  /** int32 [S]: place of the gold among the actions of the batch. */
  golds: Int32Array;
  /** int32 [S · negatives]: relations of the graph; the entities drawn stand at `local.others`. */
  relations: Int32Array;
}

interface LocalEntities {
  /** int32: the distinct ones. */
  ids: Int32Array;
  /** int32 [S]: places in `ids`. */
  start: Int32Array;
  /** int32 [S] */
  current: Int32Array;
  /** int32 [N] */
  tails: Int32Array;
  /** int32 [S, horizon − 1]: of `walkedTails`. */
  walked: Int32Array;
  /** int32: indexes of further entities that the network reads. */
  others: Int32Array;
}

/** Initial weights uniform by fan-in, biases 0. */
export function layersOf(tf: Tf, seed: number): Layers {
  const parameters = new ParameterSet(tf);
  const weight = (name: string) => parameters.get(name) as unknown as Tensor2D;
  return {
    parameters,
    weight,
    add(name, fanIn, fanOut, biased = false) {
      parameters.add(name, [fanIn, fanOut], uniformFanIn(Rng.named(seed, `walker/${name}`), fanIn, fanIn * fanOut));
      if (biased) parameters.add(`${name}.bias`, [fanOut], new Float32Array(fanOut));
    },
    lstm: (name, inputs, dim) =>
      createRecurrentLayer(tf, parameters, { cell: 'lstm', name, inputs, dim }, (part) =>
        Rng.named(seed, `walker/${part}`),
      ),
    dense: (input, name) => tf.add(matMul(tf, input, weight(name)), weight(`${name}.bias`)) as Tensor2D,
  };
}

/** Renumbers the entities of a batch, so that only their rows enter the network: O(actions). @param othersOf see `others` */
export function localEntities(
  numEntities: number,
  othersOf: (batch: StateBatch) => Int32Array = () => new Int32Array(0),
): (batch: StateBatch, extra?: Int32Array) => LocalEntities {
  const renumber = renumbering(numEntities);
  return (batch, extra = othersOf(batch)) => {
    const { ids, indices } = renumber(batch.start, batch.current, batch.tails, batch.walkedTails, extra);
    const [start, current, tails, walked, others] = indices as [Int32Array, ...Int32Array[]];
    return { ids, start, current: current!, tails: tails!, walked: walked!, others: others! };
  };
}

/** The same where every entity of the graph has its row: numbers stay ids, but for what the graph lacks, as in `renumbering`. */
export function allEntities(numEntities: number): ReturnType<typeof localEntities> {
  const ids = Int32Array.from({ length: numEntities }, (_, id) => id);
  const known = (list: Int32Array) => list.map((id) => Math.max(0, id));
  return ({ start, current, tails, walkedTails }) => ({
    ids,
    start: known(start),
    current: known(current),
    tails: known(tails),
    walked: known(walkedTails),
    others: new Int32Array(0),
  });
}

/** Selects the row of each state's hop from rows of all hops, each [S, width]. */
export function rowsOfHop(tf: Tf, byHop: readonly Tensor2D[], batch: StateBatch): Tensor2D {
  const { numStates } = batch;
  const indices = Int32Array.from({ length: numStates }, (_, s) => hopOf(batch, s) * numStates + s);
  const last = (byHop.length - 1) * numStates;
  return indices.every((index) => index >= last) ? byHop.at(-1)! : gatherRows(tf, tf.concat([...byHop], 0), indices);
}

/** The same of states of a cell. */
export function statesOfHop(tf: Tf, byHop: readonly CellState[], batch: StateBatch): CellState {
  const rows = (part: number) => byHop.map((state) => state[part]!);
  return byHop[0]!.map((_, part) => rowsOfHop(tf, rows(part), batch));
}

/** Memo of what a batch determines. */
export function perBatch<T>(make: (batch: StateBatch) => T): (batch: StateBatch) => T {
  const known = new WeakMap<StateBatch, { made: T }>();
  return (batch) => {
    if (!known.has(batch)) known.set(batch, { made: make(batch) });
    return known.get(batch)!.made;
  };
}

/** Elements of a tensor by their flat places: float32 [places]. */
export function elements(tf: Tf, values: tfTypes.Tensor, indices: Int32Array): Tensor1D {
  return tf.reshape(gatherRows(tf, tf.reshape(values, [-1, 1]), indices), [-1]);
}

/** Steps of the longest walk of a batch. */
export function longestWalk(batch: StateBatch): number {
  let most = 0;
  for (let s = 0; s < batch.numStates; s++) most = Math.max(most, hopOf(batch, s));
  return most;
}

/** Column `step` of int32 [S, steps]. */
export function ofStep(walked: Int32Array, numStates: number, step: number): Int32Array {
  const steps = walked.length / numStates;
  return Int32Array.from({ length: numStates }, (_, s) => walked[s * steps + step]!);
}

/** Scores of each action's relation out of a [S, numRelations + 2] table of all of them. */
export function pickRelations(tf: Tf, scores: Tensor2D, { stateOf, relations }: StateBatch): Tensor1D {
  const width = scores.shape[1];
  const flat = stateOf.map((s, i) => s * width + relations[i]!);
  return elements(tf, scores, flat);
}

const negatives = 20;

/** Draws for each state, evenly from the whole graph; golds are not left out. @returns entities too */
export function drawnAims(
  golds: Int32Array,
  { numEntities, numRelations }: Pick<HeadShape, 'numEntities' | 'numRelations'>,
  rng: Rng,
): Aims & { entities: Int32Array } {
  const drawn = (count: number) => Int32Array.from({ length: golds.length * negatives }, () => rng.integer(count));
  return { golds, entities: drawn(numEntities), relations: drawn(numRelations) };
}

/**
 * ℓ(x, y) = Σ_j max(0, ỹ_j · y + x · (ỹ_j − y)), float32 [S]; golds y and others ỹ are rows of the table.
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.3
 */
export function marginLoss(tf: Tf, aims: Tensor2D, table: Tensor2D, golds: Int32Array, others: Int32Array): Tensor1D {
  const numStates = golds.length;
  const aimed = gatherRows(tf, table, golds);
  const states = Int32Array.from(others, (_, i) => Math.floor(i / negatives));
  const towardsOthers = pairDot(tf, tf.add(aims, aimed), table, states, others);
  const towardsGold = tf.sum(tf.mul(aims, aimed), 1, true);
  const excess = tf.sub(tf.reshape(towardsOthers, [numStates, negatives]), towardsGold);
  return tf.sum(relu(tf, excess), 1);
}

/** Entities that golds lead to, as rows of the batch. */
export const goldTails = ({ local }: Pick<Scene, 'local'>, { golds }: Aims) => golds.map((i) => local.tails[i]!);
