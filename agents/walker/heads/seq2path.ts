/**
 * Seq2Path: a decoder writes the walk token by token, a relation and then an entity. Masked to the graph, it chooses among the
 * relations that leave the entity it stands at, then among the tails of that relation; free, among all relations of the graph,
 * then among all entities.
 *
 *   s = LSTM(C · text, E[start], R[r1], E[v1], …)              s' = LSTM(…, R[r])
 *   logit(r, t) = ln softmax over relations there of W · s [r] + ln softmax over their tails of U · s' · E[t] / √d
 *
 * @source a baseline of Jung, Son and Lyu 2020 (AttnIO), described there in a few lines; see docs/dialogue-walkers.md
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { type AdjacencyRows, int32Lists } from '../../../src/kg/adjacency.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, matMul } from '../../../src/tensor/ops.js';
import type { CellState } from '../../../src/tensor/recurrent.js';
import { segmentLogSoftmaxColumns } from '../../../src/tensor/segments.js';
import { trainedDots } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch, type WrittenRelations } from './head.js';
import {
  elements,
  type EmbeddedNetwork,
  type Layers,
  longestWalk,
  ofStep,
  perBatch,
  type Scene,
  statesOfHop,
} from './network.js';

type Tensor2D = tfTypes.Tensor2D;

export function seq2PathNetwork(
  tf: Tf,
  { width, embeddingDim: d, recurrentUnits: units, decoder }: WalkerSettings,
  { numRelations, rows }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  const { dense } = layers;
  const choices = numRelations + 1;
  layers.add('said', width, d, true);
  const cell = layers.lstm('decoder', d, units);
  layers.add('state.relation', units, choices, true);
  layers.add('state.tail', units, d, true);
  const runs = perBatch((batch) => relationRuns(rows, batch, numRelations));

  /** After the last entity of each walk. */
  const decode = ({ batch, text, entities, relations, local, dropped }: Scene): CellState => {
    const { numStates } = batch;
    const read = (state: CellState, table: Tensor2D, ids: Int32Array) =>
      cell.step(cell.given(dropped(gatherRows(tf, table, ids))), state);
    const said = cell.step(cell.given(dropped(dense(text, 'said'))), cell.start(numStates));
    const ends = [read(said, entities, local.start)];
    for (let step = 0; step < longestWalk(batch); step++) {
      const chosen = read(ends[step]!, relations, ofStep(batch.walkedRelations, numStates, step));
      ends.push(read(chosen, entities, ofStep(local.walked, numStates, step)));
    }
    return statesOfHop(tf, ends, batch);
  };

  /** U · s′ / √d, once states have written relations: what meets entities. */
  const wantedAfter = ({ relations, dropped }: Scene, state: CellState, written: WrittenRelations) => {
    const before = state.map((part) => gatherRows(tf, part, written.stateOf));
    const [after] = cell.step(cell.given(dropped(gatherRows(tf, relations, written.relations))), before);
    return tf.mul(dense(dropped(after!), 'state.tail'), 1 / Math.sqrt(d)) as Tensor2D;
  };
  const ofRelations = ({ dropped }: Scene, state: CellState) => dense(dropped(state[0]!), 'state.relation');
  if (decoder === 'free') return freely(tf, choices, { decode, ofRelations, wantedAfter });

  return {
    others: (batch) => runs(batch).tails,
    scores(scene) {
      const { batch, entities, local } = scene;
      const there = runs(batch);
      const state = decode(scene);
      const all = tf.reshape(ofRelations(scene, state), [-1, 1]) as Tensor2D;
      const indices = there.relations.map((r, i) => there.stateOf[i]! * choices + r);
      const byRelation = segmentLogSoftmaxColumns(tf, gatherRows(tf, all, indices), there.offsets);
      const relationPart = elements(tf, byRelation, there.relationOf);
      const { forks, tailOffsets, forkOf, tailOf } = there;
      if (forks.length === 0) return relationPart;

      const wanted = wantedAfter(scene, state, {
        stateOf: forks.map((index) => there.stateOf[index]!),
        relations: forks.map((index) => there.relations[index]!),
      });
      const ofTails = tf.reshape(trainedDots(tf, wanted, [entities], { left: forkOf, right: [local.others] }), [-1, 1]);
      const byTail = segmentLogSoftmaxColumns(tf, ofTails as Tensor2D, tailOffsets);
      // The last row is of tails without an alternative: certain.
      const certain = forkOf.length;
      const rowsOfTails = tf.concat([byTail, tf.zeros([1, 1])], 0) as Tensor2D;
      const rowOf = tailOf.map((at) => (at < 0 ? certain : at));
      return tf.add(relationPart, elements(tf, rowsOfTails, rowOf));
    },
  };
}

interface Decoder {
  decode(scene: Scene): CellState;
  ofRelations(scene: Scene, state: CellState): Tensor2D;
  wantedAfter(scene: Scene, state: CellState, written: WrittenRelations): Tensor2D;
}

/** The decoder whose softmaxes go over all relations of the graph, and over all entities. @param choices relations, staying counted */
function freely(tf: Tf, choices: number, { decode, ofRelations, wantedAfter }: Decoder): EmbeddedNetwork {
  const logSoftmax = (scores: Tensor2D) => tf.sub(scores, tf.logSumExp(scores, 1, true)) as Tensor2D;
  const scoresOfAll = (wanted: Tensor2D, entities: Tensor2D) => matMul(tf, wanted, tf.transpose(entities));
  return {
    writes: {
      relations: (scene) => logSoftmax(ofRelations(scene, decode(scene))),
      tails: (scene, written) => logSoftmax(scoresOfAll(wantedAfter(scene, decode(scene), written), scene.entities)),
    },
    scores(scene) {
      const { batch, entities, local } = scene;
      const { stateOf, relations } = batch;
      const state = decode(scene);
      const written = relations.map((r, i) => stateOf[i]! * choices + r);
      const relationPart = elements(tf, logSoftmax(ofRelations(scene, state)), written);
      // Staying ends a walk: no entity is written after it.
      const indices = Int32Array.from(relations.keys()).filter((i) => relations[i]! < choices - 1);
      if (indices.length === 0) return relationPart;
      const of = (list: Int32Array) => indices.map((i) => list[i]!);
      const wanted = wantedAfter(scene, state, { stateOf: of(stateOf), relations: of(relations) });
      const pairs = { left: Int32Array.from(indices.keys()), right: [of(local.tails)] };
      const byTail = tf.sub(trainedDots(tf, wanted, [entities], pairs), tf.logSumExp(scoresOfAll(wanted, entities), 1));
      // The last row is that of staying.
      const rows = tf.concat([byTail, tf.zeros([1])], 0);
      const rowOf = new Int32Array(relations.length).fill(indices.length);
      indices.forEach((i, row) => (rowOf[i] = row));
      return tf.add(relationPart, elements(tf, rows, rowOf));
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
