/** Parts of networks of heads over embedded edges: initial weights, inputs of a batch, common steps. */
import { Rng } from '../../../src/run/seeds.js';
import { type HostTensor, uniformFanIn } from '../../../src/nn/parameters.js';
import { type CellState, recurrentStarts } from '../../../src/nn/recurrent.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { renumbering } from './batch-rows.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch, type WrittenRelations } from './head.js';
import type { Inflow } from './inflow.js';

/** Initial weights of a network, by name. */
export class Starts {
  readonly values: Record<string, HostTensor> = {};

  constructor(readonly seed: number) {}

  /** Adds weights [fanIn, fanOut], uniform by fan-in, with a bias of zeros, `NAME.bias`, where it has one. */
  add(name: string, fanIn: number, fanOut: number, biased = false): void {
    this.set(name, [fanIn, fanOut], uniformFanIn(Rng.named(this.seed, `walker/${name}`), fanIn, fanIn * fanOut));
    if (biased) this.set(`${name}.bias`, [fanOut], new Float32Array(fanOut));
  }

  set(name: string, shape: number[], data: Float32Array): void {
    this.values[name] = { shape, data };
  }

  lstm(name: string, inputs: number, dim: number): void {
    const layer = { cell: 'lstm', name, inputs, dim } as const;
    Object.assign(
      this.values,
      recurrentStarts(layer, (part) => Rng.named(this.seed, `walker/${part}`)),
    );
  }
}

/** Inputs from which a network scores the actions of a batch. */
export interface Scene {
  tape: Tape;
  batch: StateBatch;
  /** [S, width]: what was said. */
  text: Taped;
  /** [entities of the batch, embeddingDim]: rows by the places in `local`. */
  entities: Taped;
  /** [numRelations + 2, embeddingDim]; the last two are Equal and "none". */
  relations: Taped;
  /** Results of `prepared` for these rows; of the in-flow instead, where there is one. */
  entityTerms: readonly Taped[];
  relationTerms: readonly Taped[];
  /** Places of entities among the rows of `entities`. */
  local: LocalEntities;
  dropped(rows: Taped): Taped;
}

/** Adds the initial weights of a network and returns it. */
export type MakeNetwork = (settings: WalkerSettings, shape: HeadShape, starts: Starts) => EmbeddedNetwork;

/** Parts specific to a head. */
export interface EmbeddedNetwork {
  /** Products that depend on a row [rows, embeddingDim] and the weights alone: kept between inferences. */
  prepared?: { entities(tape: Tape, rows: Taped): Taped[]; relations(tape: Tape, rows: Taped): Taped[] };
  /** Entities whose rows `scores` reads in addition to those of the batch, at the indexes `local.others`. */
  others?(batch: StateBatch): Int32Array;
  inflow?: Inflow;
  /** Set for a network that writes walks: `scores` are log-probabilities then, and a scene has the rows of all entities, by their ids. */
  writes?: {
    /** [S, numRelations + 1]: ln of the probability of each relation, staying last. */
    relations(scene: Scene): Taped;
    /** [pairs, numEntities]: ln of the probability of each entity once a state has written a relation. */
    tails(scene: Scene, pairs: WrittenRelations): Taped;
  };
  /** [N, 1]: logits of the actions; features of edges are added to them where the network does not read them by itself. */
  scores(scene: Scene): Taped;
  /**
   * [S, 1]: the loss of each state by margins, of a network that aims at vectors; features of edges have no part in it.
   * @param scene the entities drawn are at `local.others`
   */
  margins?(scene: Scene, aims: Aims): Taped;
  /** Set if `scores` reads `batch.edgeFeatures`; default false. */
  readsFeatures?: boolean;
  /** Set if relations of a batch are row numbers to `scores` and no more: in training it has the rows of those of the batch alone. */
  localRelations?: boolean;
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

/** Renumbers the entities of a batch, so that only their rows enter the network: O(actions). */
export function localEntities(numEntities: number): (batch: StateBatch, others: Int32Array) => LocalEntities {
  const renumber = renumbering(numEntities);
  return (batch, extra) => {
    const { ids, indices } = renumber(batch.start, batch.current, batch.tails, batch.walkedTails, extra);
    const [start, current, tails, walked, others] = indices as [Int32Array, ...Int32Array[]];
    return { ids, start, current: current!, tails: tails!, walked: walked!, others: others! };
  };
}

/** The same where every entity of the graph has its row: numbers stay ids, but for what the graph lacks, as in `renumbering`. */
export function allEntities(numEntities: number): ReturnType<typeof localEntities> {
  const ids = Int32Array.from({ length: numEntities }, (_, id) => id);
  const known = (list: Int32Array) => list.map((id) => Math.max(0, id));
  return ({ start, current, tails, walkedTails }, others) => ({
    ids,
    start: known(start),
    current: known(current),
    tails: known(tails),
    walked: known(walkedTails),
    others: known(others),
  });
}

/** Selects the row of each state's hop from rows of all hops, each [S, width]. */
export function rowsOfHop(tape: Tape, byHop: readonly Taped[], batch: StateBatch): Taped {
  const { numStates } = batch;
  const indices = Int32Array.from({ length: numStates }, (_, s) => hopOf(batch, s) * numStates + s);
  const last = (byHop.length - 1) * numStates;
  return indices.every((index) => index >= last) ? byHop.at(-1)! : tape.rows(tape.stack(byHop), indices);
}

/** The same of states of a cell. */
export function statesOfHop(tape: Tape, byHop: readonly CellState[], batch: StateBatch): CellState {
  const rows = (part: number) => byHop.map((state) => state[part]!);
  return byHop[0]!.map((_, part) => rowsOfHop(tape, rows(part), batch));
}

/** Memo of what a batch determines. */
export function perBatch<T>(make: (batch: StateBatch) => T): (batch: StateBatch) => T {
  const known = new WeakMap<StateBatch, { made: T }>();
  return (batch) => {
    if (!known.has(batch)) known.set(batch, { made: make(batch) });
    return known.get(batch)!.made;
  };
}

/** Elements of a matrix by their flat places: [places, 1]. */
export const elements = (tape: Tape, values: Taped, indices: Int32Array): Taped =>
  tape.rows(tape.reshape(values, 1), indices);

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
 * ℓ(x, y) = Σ_j max(0, ỹ_j · y + x · (ỹ_j − y)), [S, 1]; golds y and others ỹ are rows of the table.
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.3
 */
export function marginLoss(tape: Tape, aims: Taped, table: Taped, golds: Int32Array, others: Int32Array): Taped {
  const aimed = tape.rows(table, golds);
  const states = Int32Array.from(others, (_, i) => Math.floor(i / negatives));
  const towardsOthers = tape.dots(tape.add(aims, aimed), states, table, others);
  const towardsGold = tape.rows(tape.sums(tape.multiply(aims, aimed)), states);
  return tape.sums(tape.reshape(tape.relu(tape.add(towardsOthers, towardsGold, -1)), negatives));
}

/** Entities that golds lead to, as rows of the batch. */
export const goldTails = ({ local }: Pick<Scene, 'local'>, { golds }: Aims) => golds.map((i) => local.tails[i]!);
