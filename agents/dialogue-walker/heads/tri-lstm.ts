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
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import { type CellState, Recurrent } from '../../../src/nn/recurrent.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import type { WalkerSettings } from '../settings.js';
import { renumbering } from './batch-rows.js';
import type { HeadShape, StateBatch } from './head.js';
import { type EmbeddedNetwork, ofStep, perBatch, type Scene, type Starts, statesOfHop } from './network.js';

const mostFacts = 64;

/** Its LSTMs have `walker.hidden` units. */
export function triLstmNetwork(
  { width, embeddingDim: d, hidden }: WalkerSettings,
  { horizon, rows, numEntities, numRelations }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  starts.add('tri.message', width, hidden, true);
  starts.lstm('tri.fact', d, hidden);
  starts.lstm('tri.walk', d, hidden);
  starts.add('tri.message-walk', hidden, hidden);
  starts.add('tri.fact-walk', hidden, hidden);
  const factsOf = perBatch(createFacts(rows));
  const renumber = renumbering(Math.max(numEntities, numRelations + 2));

  return {
    others: (batch) => factsOf(batch).tails,
    scores(scene) {
      const { tape, batch, text, dropped } = scene;
      const about = factsOf(batch);
      const message = tape.layer(dropped(text), 'tri.message');
      const read = dropped(readWalks(scene));
      const toMessage = tape.times(message, 'tri.message-walk');
      const toFacts = tape.times(dropped(readFacts(scene, about)), 'tri.fact-walk');
      const byMessage = tape.dots(toMessage, batch.stateOf, read, Int32Array.from(batch.tails.keys()));
      return tape.add(byMessage, bestFacts(tape, read, toFacts, batch, about));
    },
  };

  /** [facts, hidden] */
  function readFacts(scene: Scene, { starts, startOf, relations }: Facts): Taped {
    const { tape, entities, local } = scene;
    const layer = new Recurrent(tape, 'lstm', 'tri.fact', hidden);
    const begun = layer.step(
      layer.given(tape.rows(entities, placesOf(local.start, starts))),
      layer.start(starts.length),
    );
    return readEdges(layer, begun, scene, { from: startOf, relations, tails: local.others });
  }

  /** [N, hidden] */
  function readWalks(scene: Scene): Taped {
    const { tape, batch, entities, relations, local } = scene;
    const { numStates, walkedRelations } = batch;
    const layer = new Recurrent(tape, 'lstm', 'tri.walk', hidden);
    const read = (table: Taped, ids: Int32Array, before: CellState) =>
      layer.step(layer.given(tape.rows(table, ids)), before);
    const prefixes = [read(entities, local.start, layer.start(numStates))];
    for (let hop = 1; hop < horizon; hop++) {
      const chosen = read(relations, ofStep(walkedRelations, numStates, hop - 1), prefixes[hop - 1]!);
      prefixes.push(read(entities, ofStep(local.walked, numStates, hop - 1), chosen));
    }
    const walked = statesOfHop(tape, prefixes, batch);
    return readEdges(layer, walked, scene, { from: batch.stateOf, relations: batch.relations, tails: local.tails });
  }

  /** Continues by a relation and a tail each; edges of one relation out of one state share the step in between. */
  function readEdges(
    layer: Recurrent,
    before: CellState,
    { tape, entities, relations }: Scene,
    edges: { from: Int32Array; relations: Int32Array; tails: Int32Array },
  ): Taped {
    const shared = pairsOf(edges.from, edges.relations, relations.rows);
    const step = (table: Taped, which: Int32Array, state: CellState, indices: Int32Array) => {
      const { ids, indices: places } = renumber(which);
      const given = tape.rows(layer.given(tape.rows(table, ids)), places[0]!);
      return layer.step(
        given,
        state.map((part) => tape.rows(part, indices)),
      );
    };
    const between = step(relations, shared.right, before, shared.left);
    return step(entities, edges.tails, between, shared.indices)[0]!;
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

/** [N, 1]: each action's largest dot product with a fact about its start; 0 where there is none. */
function bestFacts(tape: Tape, actions: Taped, facts: Taped, { stateOf }: StateBatch, about: Facts): Taped {
  const { startAt, offsets } = about;
  const numFacts = (start: number) => offsets[start + 1]! - offsets[start]!;
  const starts = stateOf.map((s) => startAt[s]!);
  /** Actions by start, those left out about whose start there is no fact. */
  const order = Int32Array.from(starts.keys()).filter((i) => numFacts(starts[i]!) > 0);
  order.sort((i, j) => starts[i]! - starts[j]!);
  const [ofStarts, ofActions] = [new Int32Array(offsets.length), new Int32Array(order.length + 1)];
  const rowOf = new Int32Array(starts.length).fill(order.length);
  order.forEach((i, row) => {
    ofStarts[starts[i]! + 1]!++;
    ofActions[row + 1] = ofActions[row]! + numFacts(starts[i]!);
    rowOf[i] = row;
  });
  for (let start = 1; start < ofStarts.length; start++) ofStarts[start]! += ofStarts[start - 1]!;
  const products = tape.groupProducts(tape.rows(actions, order), ofStarts, facts, offsets);
  return tape.rows(tape.stack([tape.segmentMax(products, ofActions), tape.zeros(1, 1)]), rowOf);
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
