/**
 * What turns the plain head's last layer into logits of edges: by their vectors, logit(r, t) = g · [R[r] ; E[t]], frozen or
 * trained, or by their place alone.
 */
import { WorkbenchError } from '../../../src/run/errors.js';
import { Rng } from '../../../src/run/seeds.js';
import { type HostTensor, xavierUniform } from '../../../src/nn/parameters.js';
import type { Places, Tape, Taped } from '../../../src/nn/tape.js';
import type { FrozenTables, HeadShape } from './head.js';
import type { WalkerSettings } from '../settings.js';

/** Edges, and the state that each is scored for. */
export interface Edges {
  stateOf: Places;
  relations: Places;
  tails: Places;
  /** Place of each among the actions of its state; read by `slots` alone. */
  actions?: Int32Array;
}

/** Makes logits of edges. */
export interface EdgeScorer {
  /** The layer before it. */
  readonly layer: { name: string; width: number };
  readonly initialValues: Record<string, HostTensor>;
  /** @param outputs [S, width] @returns [N, 1] */
  logits(tape: Tape, outputs: Taped, edges: Edges): Taped;
}

/**
 * @param round each matrix of the forward pass
 * @param seed what trained vectors start from; zeros without it
 * @throws WorkbenchError `failure` for slots without their number
 */
export function edgeScorerOf(
  settings: Pick<WalkerSettings, 'pathAware' | 'entityInit' | 'componentDim'>,
  shape: Pick<HeadShape, 'numEntities' | 'numRelations' | 'tables' | 'maxActions'>,
  round: (tape: Tape, x: Taped) => Taped,
  seed?: number,
): EdgeScorer {
  const { numEntities, numRelations, tables, maxActions } = shape;
  if (!settings.pathAware) {
    if (maxActions !== undefined) return slots({ count: maxActions, equalRelation: numRelations });
    throw new WorkbenchError('failure', 'expected the number of slots with pathAware=false, got none, at edgeScorerOf');
  }
  if (settings.entityInit === 'frozen') return frozenVectors(tables);
  // Staying is a separate relation here, as in the reference.
  return trainedVectors({ numEntities, numRelations: numRelations + 1, dim: settings.componentDim }, round, seed);
}

/** @param tables with a row for every relation that edges have */
export function frozenVectors({ entities, entityDim, relations, relationDim }: FrozenTables): EdgeScorer {
  const held = (tape: Tape, values: Float32Array, width: number): Taped => ({
    rows: values.length / width,
    width,
    values: tape.executor.hold(values),
  });
  return {
    layer: { name: 'pa.out', width: relationDim + entityDim },
    initialValues: {},
    logits: (tape, outputs, edges) =>
      edgeDots(tape, outputs, [held(tape, relations, relationDim), held(tape, entities, entityDim)], edges),
  };
}

/**
 * Tables that are parameters. A step's time and memory grow with both tables, since Adam moves every row at every step by
 * the momentum it has.
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without TransE
 */
function trainedVectors(
  { numEntities, numRelations, dim }: { numEntities: number; numRelations: number; dim: number },
  round: (tape: Tape, x: Taped) => Taped,
  seed?: number,
): EdgeScorer {
  const table = (name: string, rows: number): [string, HostTensor] => {
    const data =
      seed === undefined ? new Float32Array(rows * dim) : xavierUniform(Rng.named(seed, `walker/${name}`), rows, dim);
    return [name, { shape: [rows, dim], data }];
  };
  return {
    layer: { name: 'pa.out', width: 2 * dim },
    initialValues: Object.fromEntries([table('pa.relations', numRelations), table('pa.entities', numEntities)]),
    logits: (tape, outputs, edges) => {
      const tables = ['pa.relations', 'pa.entities'].map((name) => round(tape, tape.parameter(name)));
      return edgeDots(tape, outputs, tables, edges);
    },
  };
}

/**
 * Dot products of states' outputs with the vectors of edges: [N, 1].
 * @param tables of relations and, if entities have vectors, of them, side by side in `outputs`; entities that are missing from the
 *   graph (-1) are read as its first: a walk can only stay there
 */
export function edgeDots(tape: Tape, outputs: Taped, tables: readonly Taped[], { stateOf, ...edges }: Edges): Taped {
  const ids = vectorIds(edges);
  const parts = tables.map((table, k) => [table, ids[k]!] as const);
  return tape.dotsOfParts(outputs, stateOf, parts);
}

/** Rows of edges in the tables of relations and entities. */
export const vectorIds = ({ relations, tails }: Pick<Edges, 'relations' | 'tails'>): [Places, Places] => [
  relations,
  tails instanceof Int32Array ? tails.map((tail) => Math.max(0, tail)) : tails,
];

/**
 * @param count slots, staying counted
 * @param equalRelation relation id of staying
 * @returns a scorer that throws a WorkbenchError `config` for an action list longer than the slots
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without path awareness
 */
function slots({ count, equalRelation }: { count: number; equalRelation: number }): EdgeScorer {
  return {
    layer: { name: 'pa.slots', width: count },
    initialValues: {},
    logits: (tape, outputs, edges) => {
      // These are never held.
      const { stateOf, actions, relations } = edges as { [key in keyof Edges]-?: Int32Array };
      const slotOf = (state: number, i: number) => {
        const slot = relations[i] === equalRelation ? 0 : actions[i]! + 1;
        if (slot >= count) throw longerThanSlots(slot + 1, count);
        return state * count + slot;
      };
      return tape.rows(tape.reshape(outputs, 1), stateOf.map(slotOf));
    },
  };
}

/** @param needed slots of an action list, staying counted */
function longerThanSlots(needed: number, count: number): WorkbenchError {
  return new WorkbenchError(
    'config',
    `expected action lists of at most ${count} places, staying counted, with walker.pathAware=false, got one of ${needed}`,
    { hint: 'Cut the lists by env.edgePolicy=ark or topk-degree, which keep env.maxOut places.' },
  );
}
