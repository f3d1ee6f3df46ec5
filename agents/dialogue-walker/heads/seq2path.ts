/**
 * Seq2Path: a decoder writes the walk token by token, a relation and then an entity. Masked to the graph, it chooses among the
 * relations that leave the entity it stands at, then among the tails of that relation; free, among all relations of the graph,
 * then among all entities.
 *
 *   s = LSTM(C · text, E[start], R[r1], E[v1], …)              s' = LSTM(…, R[r])
 *   logit(r, t) = ln softmax over relations there of W · s [r] + ln softmax over their tails of U · s' · E[t] / √d
 *
 * @source a baseline of Jung, Son and Lyu 2020 (AttnIO), described there in a few lines; see docs/methods/dialogue-walker.md
 */
import { type AdjacencyRows, int32Lists } from '../../../src/kg/adjacency.js';
import { type CellState, Recurrent } from '../../../src/nn/recurrent.js';
import type { Taped } from '../../../src/nn/tape.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch, type WrittenRelations } from './head.js';
import {
  elements,
  type EmbeddedNetwork,
  longestWalk,
  ofStep,
  perBatch,
  type Scene,
  type Starts,
  statesOfHop,
} from './network.js';

export function seq2PathNetwork(
  { width, embeddingDim: d, recurrentUnits: units, decoder }: WalkerSettings,
  { numRelations, rows }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  const choices = numRelations + 1;
  starts.add('said', width, d, true);
  starts.lstm('decoder', d, units);
  starts.add('state.relation', units, choices, true);
  starts.add('state.tail', units, d, true);
  const runs = perBatch((batch) => relationRuns(rows, batch, numRelations));

  const step = ({ tape, dropped }: Scene, input: Taped, before?: CellState): CellState => {
    const cell = new Recurrent(tape, 'lstm', 'decoder', units);
    return cell.step(cell.given(dropped(input)), before ?? cell.start(input.rows));
  };

  /** After the last entity of each walk. */
  const decode = (scene: Scene): CellState => {
    const { tape, batch, text, entities, relations, local } = scene;
    const read = (table: Taped, ids: Int32Array, before: CellState) => step(scene, tape.rows(table, ids), before);
    const ends = [read(entities, local.start, step(scene, tape.layer(text, 'said')))];
    for (let hop = 0; hop < longestWalk(batch); hop++) {
      const chosen = read(relations, ofStep(batch.walkedRelations, batch.numStates, hop), ends[hop]!);
      ends.push(read(entities, ofStep(local.walked, batch.numStates, hop), chosen));
    }
    return statesOfHop(tape, ends, batch);
  };

  /** U · s′ / √d, once states have written relations: what meets entities. */
  const wantedAfter = (scene: Scene, state: CellState, written: WrittenRelations) => {
    const { tape, relations, dropped } = scene;
    const before = state.map((part) => tape.rows(part, written.stateOf));
    const [after] = step(scene, tape.rows(relations, written.relations), before);
    return tape.scaled(tape.layer(dropped(after!), 'state.tail'), 1 / Math.sqrt(d));
  };
  const ofRelations = ({ tape, dropped }: Scene, state: CellState) => tape.layer(dropped(state[0]!), 'state.relation');
  if (decoder === 'free') return freely(choices, { decode, ofRelations, wantedAfter });

  return {
    others: (batch) => runs(batch).tails,
    scores(scene) {
      const { tape, batch, entities, local } = scene;
      const there = runs(batch);
      const state = decode(scene);
      const indices = there.relations.map((r, i) => there.stateOf[i]! * choices + r);
      const listed = elements(tape, ofRelations(scene, state), indices);
      const relationPart = tape.rows(tape.segmentLogSoftmax(listed, there.offsets), there.relationOf);
      const { forks, tailOffsets, forkOf, tailOf } = there;
      if (forks.length === 0) return relationPart;

      const wanted = wantedAfter(scene, state, {
        stateOf: forks.map((index) => there.stateOf[index]!),
        relations: forks.map((index) => there.relations[index]!),
      });
      const byTail = tape.segmentLogSoftmax(tape.dots(wanted, forkOf, entities, local.others), tailOffsets);
      // The last row is of tails without an alternative: certain.
      const certain = forkOf.length;
      const rowsOfTails = tape.stack([byTail, tape.zeros(1, 1)]);
      const rowOf = tailOf.map((at) => (at < 0 ? certain : at));
      return tape.add(relationPart, tape.rows(rowsOfTails, rowOf));
    },
  };
}

interface Decoder {
  decode(scene: Scene): CellState;
  ofRelations(scene: Scene, state: CellState): Taped;
  wantedAfter(scene: Scene, state: CellState, written: WrittenRelations): Taped;
}

/** The decoder whose softmaxes go over all relations of the graph, and over all entities. @param choices relations, staying counted */
function freely(choices: number, { decode, ofRelations, wantedAfter }: Decoder): EmbeddedNetwork {
  const scoresOfAll = ({ tape, entities }: Scene, wanted: Taped) => tape.product(wanted, entities, true);
  return {
    writes: {
      relations: (scene) => scene.tape.logSoftmax(ofRelations(scene, decode(scene))),
      tails: (scene, written) => scene.tape.logSoftmax(scoresOfAll(scene, wantedAfter(scene, decode(scene), written))),
    },
    scores(scene) {
      const { tape, batch, entities, local } = scene;
      const { stateOf, relations } = batch;
      const state = decode(scene);
      const written = relations.map((r, i) => stateOf[i]! * choices + r);
      const relationPart = elements(tape, tape.logSoftmax(ofRelations(scene, state)), written);
      // Staying ends a walk: no entity is written after it.
      const indices = Int32Array.from(relations.keys()).filter((i) => relations[i]! < choices - 1);
      if (indices.length === 0) return relationPart;
      const of = (list: Int32Array) => indices.map((i) => list[i]!);
      const wanted = wantedAfter(scene, state, { stateOf: of(stateOf), relations: of(relations) });
      const dots = tape.dots(wanted, Int32Array.from(indices.keys()), entities, of(local.tails));
      const byTail = tape.add(dots, tape.logSumExp(scoresOfAll(scene, wanted)), -1);
      // The last row is that of staying.
      const rowOf = new Int32Array(relations.length).fill(indices.length);
      indices.forEach((i, row) => (rowOf[i] = row));
      return tape.add(relationPart, tape.rows(tape.stack([byTail, tape.zeros(1, 1)]), rowOf));
    },
  };
}

/** Choices at each state of a batch: a relation first, then an entity that it leads to. */
interface RelationRuns {
  /** int32 [S + 1]: relations at state `s` are `offsets[s] .. offsets[s + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [R]: state of each. */
  stateOf: Int32Array;
  /** int32 [R]: relations, each once a state, ascending; Equal last, where staying is legal. */
  relations: Int32Array;
  /** int32 [N]: place of each action's relation among them. */
  relationOf: Int32Array;
  /** Indexes of the listed relations that lead to several tails, which leaves a choice. */
  forks: Int32Array;
  /** int32 [forks + 1]: tails of fork `f` are `tailOffsets[f] .. tailOffsets[f + 1] - 1`. */
  tailOffsets: Int32Array;
  /** int32 [T]: fork of each tail. */
  forkOf: Int32Array;
  /** int32 [T]: tails in the order of the graph, those that are not listed included. */
  tails: Int32Array;
  /** int32 [N]: place of each action's tail among them, -1 where its relation leads to it alone. */
  tailOf: Int32Array;
}

/**
 * Reads the rows where the states stand: all their legal edges, though the batch may list but some of them.
 * @param equal the relation of staying
 */
function relationRuns({ offsets, relations, tails }: AdjacencyRows, batch: StateBatch, equal: number): RelationRuns {
  const runs = {
    offsets: [0],
    stateOf: [] as number[],
    relations: [] as number[],
    forks: [] as number[],
    tailOffsets: [0],
    forkOf: [] as number[],
    tails: [] as number[],
  };
  const relationOf = new Int32Array(batch.tails.length);
  const tailOf = new Int32Array(batch.tails.length).fill(-1);
  for (let s = 0; s < batch.numStates; s++) {
    const [first, end] = [offsets[batch.current[s]!] ?? 0, offsets[batch.current[s]! + 1] ?? 0];
    let listed = batch.offsets[s]!;
    for (let begin = first, next = begin; begin < end; begin = next) {
      while (next < end && relations[next] === relations[begin]) next++;
      const index = runs.relations.push(relations[begin]!) - 1;
      runs.stateOf.push(s);
      const isFork = next - begin > 1 && listed < batch.offsets[s + 1]! && first + batch.actions[listed]! < next;
      const firstTail = runs.tails.length;
      if (isFork) {
        const fork = runs.forks.push(index) - 1;
        for (let edge = begin; edge < next; edge++) {
          runs.tails.push(tails[edge]!);
          runs.forkOf.push(fork);
        }
        runs.tailOffsets.push(runs.tails.length);
      }
      for (; listed < batch.offsets[s + 1]! && first + batch.actions[listed]! < next; listed++) {
        relationOf[listed] = index;
        if (isFork) tailOf[listed] = firstTail + first + batch.actions[listed]! - begin;
      }
    }
    // Staying ends the list where it is there; from the second step on it is legal though it may not be listed.
    const stays = listed < batch.offsets[s + 1]!;
    if (stays || hopOf(batch, s) > 0) {
      const index = runs.relations.push(equal) - 1;
      runs.stateOf.push(s);
      if (stays) relationOf[listed] = index;
    }
    runs.offsets.push(runs.relations.length);
  }
  return { relationOf, tailOf, ...int32Lists(runs) };
}
