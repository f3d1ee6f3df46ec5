/**
 * Tri-LSTM: an edge is read by an LSTM together with the walk so far, and meets what was said, and that fact about the start
 * that fits it best. Facts about the start are edges out of it, at most `mostFacts`, read by a separate LSTM.
 *
 *   x = X text + b        a = LSTM_a(E[start], R[r], E[n])        y = LSTM_y(E[v₀], R[r₁], E[v₁], …, R[r], E[n])
 *   logit(r, n) = xᵀ W y + max_a aᵀ V y
 *
 * @source Young et al. 2018, "Augmenting end-to-end dialogue systems with commonsense knowledge", section 4.4; as a walker: Moon
 *   et al. 2019 (OpenDialKG), section 5
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { batchDots, columns, gatherRows, matMul } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import type { CellState, RecurrentLayer } from '../../../src/tensor/recurrent.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape, StateBatch } from './head.js';
import { elements, type EmbeddedNetwork, type Layers, ofStep, perBatch, type Scene, statesOfHop } from './network.js';

type Tensor2D = tfTypes.Tensor2D;

const mostFacts = 64;
const actionsAtOnce = 64;

/** Its LSTMs have `walker.hidden` units. */
export function triLstmNetwork(
  tf: Tf,
  { width, embeddingDim: d, hidden }: WalkerSettings,
  { horizon, rows }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  layers.add('tri.message', width, hidden, true);
  const facts = layers.lstm('tri.fact', d, hidden);
  const walks = layers.lstm('tri.walk', d, hidden);
  layers.add('tri.message-walk', hidden, hidden);
  layers.add('tri.fact-walk', hidden, hidden);
  const factsOf = perBatch(createFacts(rows));

  return {
    others: (batch) => factsOf(batch).tails,
    scores(scene) {
      const { batch, text, dropped } = scene;
      const about = factsOf(batch);
      const message = layers.dense(dropped(text), 'tri.message');
      const read = dropped(readWalks(scene));
      const indices = Int32Array.from(batch.tails.keys());
      const toMessage = matMul(tf, message, layers.weight('tri.message-walk'));
      const toFacts = matMul(tf, dropped(readFacts(scene, about)), layers.weight('tri.fact-walk'));
      const byMessage = pairDot(tf, toMessage, read, batch.stateOf, indices);
      return tf.add(byMessage, bestFacts(tf, read, toFacts, batch, about));
    },
  };

  /** float32 [facts, hidden] */
  function readFacts({ entities, relations, local }: Scene, { starts, startOf, relations: ids }: Facts): Tensor2D {
    const begun = facts.step(
      facts.given(gatherRows(tf, entities, placesOf(local.start, starts))),
      facts.start(starts.length),
    );
    return readEdges(facts, begun, { entities, relations }, { from: startOf, relations: ids, tails: local.others });
  }

  /** float32 [N, hidden] */
  function readWalks({ batch, entities, relations, local }: Scene): Tensor2D {
    const { numStates } = batch;
    const read = (table: Tensor2D, ids: Int32Array) => walks.given(gatherRows(tf, columns(tf, table, 0, d), ids));
    let state = walks.step(read(entities, local.start), walks.start(numStates));
    const prefixes: CellState[] = [state];
    for (let hop = 1; hop < horizon; hop++) {
      state = walks.step(read(relations, ofStep(batch.walkedRelations, numStates, hop - 1)), state);
      state = walks.step(read(entities, ofStep(local.walked, numStates, hop - 1)), state);
      prefixes.push(state);
    }
    const walked = statesOfHop(tf, prefixes, batch);
    const edges = { from: batch.stateOf, relations: batch.relations, tails: local.tails };
    return readEdges(walks, walked, { entities, relations }, edges);
  }

  /** Continues by a relation and a tail each; edges of one relation out of one state share the step in between. */
  function readEdges(
    layer: RecurrentLayer,
    before: CellState,
    { entities, relations }: Pick<Scene, 'entities' | 'relations'>,
    edges: { from: Int32Array; relations: Int32Array; tails: Int32Array },
  ): Tensor2D {
    const shared = pairsOf(edges.from, edges.relations, relations.shape[0]);
    const rowsAt = (state: CellState, indices: Int32Array) => state.map((part) => gatherRows(tf, part, indices));
    const given = (table: Tensor2D, indices: Int32Array) =>
      gatherRows(tf, layer.given(columns(tf, table, 0, d)), indices);
    const between = layer.step(given(relations, shared.right), rowsAt(before, shared.left));
    return layer.step(given(entities, edges.tails), rowsAt(between, shared.indices))[0]!;
  }
}

/** Facts about the starts of a batch. */
interface Facts {
  /** A state of each distinct start. */
  starts: Int32Array;
  /** int32 [S]: place among `starts`. */
  startAt: Int32Array;
  /** int32 [starts + 1]: facts of a start. */
  offsets: Int32Array;
  /** int32 [facts]: place among `starts`. */
  startOf: Int32Array;
  relations: Int32Array;
  tails: Int32Array;
}

/** Hubs are drawn from, evenly and the same each time: what is ranked is what was trained. */
function createFacts(rows: AdjacencyRows): (batch: StateBatch) => Facts {
  const drawn = new Map<number, Int32Array>();
  const edgesOf = (start: number): Int32Array => {
    // There are no facts about a start that the graph lacks.
    if (start < 0) return new Int32Array(0);
    const begin = rows.offsets[start]!;
    const degree = rows.offsets[start + 1]! - begin;
    if (degree <= mostFacts) return Int32Array.from({ length: degree }, (_, i) => begin + i);
    const known = drawn.get(start);
    if (known) return known;
    const rng = Rng.named(0, 'walker/facts', start);
    const chosen = new Set<number>();
    while (chosen.size < mostFacts) chosen.add(begin + rng.integer(degree));
    const edges = Int32Array.from(chosen).sort();
    drawn.set(start, edges);
    return edges;
  };
  return ({ numStates, start }) => {
    const placeOf = new Map<number, number>();
    const starts: number[] = [];
    const startAt = new Int32Array(numStates);
    const lists: Int32Array[] = [];
    for (let s = 0; s < numStates; s++) {
      let place = placeOf.get(start[s]!);
      if (place === undefined) {
        place = starts.push(s) - 1;
        placeOf.set(start[s]!, place);
        lists.push(edgesOf(start[s]!));
      }
      startAt[s] = place;
    }
    const offsets = new Int32Array(starts.length + 1);
    lists.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + length));
    const edges = lists.flatMap((list) => Array.from(list));
    return {
      starts: Int32Array.from(starts),
      startAt,
      offsets,
      startOf: Int32Array.from(lists.flatMap((list, i) => new Array<number>(list.length).fill(i))),
      relations: Int32Array.from(edges, (edge) => rows.relations[edge]!),
      tails: Int32Array.from(edges, (edge) => rows.tails[edge]!),
    };
  };
}

/** float32 [N]: each action's largest dot product with a fact about its start. */
function bestFacts(
  tf: Tf,
  actions: Tensor2D,
  facts: Tensor2D,
  { numStates, offsets }: StateBatch,
  { startAt, offsets: factOffsets }: Facts,
): tfTypes.Tensor1D {
  const [actionPlaces, factPlaces, hidden, taken]: [number[], number[], number[], number[]] = [[], [], [], []];
  const group = (begin: number, end: number, start: number) => {
    for (let i = 0; i < actionsAtOnce; i++) {
      if (begin + i < end) taken.push(actionPlaces.length);
      actionPlaces.push(Math.min(begin + i, end - 1));
    }
    const [first, behind] = [factOffsets[start]!, factOffsets[start + 1]!];
    for (let i = 0; i < mostFacts; i++) {
      factPlaces.push(Math.min(first + i, behind - 1));
      hidden.push(first + i < behind ? 0 : -1e9);
    }
  };
  for (let s = 0, next = 0; s < numStates; s = next) {
    while (next < numStates && startAt[next] === startAt[s]) next++;
    for (let begin = offsets[s]!; begin < offsets[next]!; begin += actionsAtOnce) {
      group(begin, offsets[next]!, startAt[s]!);
    }
  }
  const groups = hidden.length / mostFacts;
  const [n, width] = [actionsAtOnce, actions.shape[1]];
  const left = tf.reshape(gatherRows(tf, actions, Int32Array.from(actionPlaces)), [groups, n, width]);
  const right = tf.reshape(gatherRows(tf, facts, Int32Array.from(factPlaces)), [groups, mostFacts, width]);
  const dots = tf.add(
    batchDots(tf, left as tfTypes.Tensor3D, right as tfTypes.Tensor3D),
    tf.tensor3d(hidden, [groups, 1, mostFacts]),
  );
  return elements(tf, tf.max(dots, 2), Int32Array.from(taken));
}

/** Distinct pairs in order of appearance, and the place of each given pair among them. */
function pairsOf(left: Int32Array, right: Int32Array, numRight: number) {
  const placeOf = new Map<number, number>();
  const indices = left.map((value, i) => {
    const key = value * numRight + right[i]!;
    if (!placeOf.has(key)) placeOf.set(key, placeOf.size);
    return placeOf.get(key)!;
  });
  const keys = [...placeOf.keys()];
  return {
    indices,
    left: Int32Array.from(keys, (key) => Math.floor(key / numRight)),
    right: Int32Array.from(keys, (key) => key % numRight),
  };
}

const placesOf = (all: Int32Array, chosen: Int32Array) => chosen.map((index) => all[index]!);
