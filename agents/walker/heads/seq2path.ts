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
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, matMul } from '../../../src/tensor/ops.js';
import type { CellState } from '../../../src/tensor/recurrent.js';
import { segmentLogSoftmaxColumns } from '../../../src/tensor/segments.js';
import { trainedDots } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape, StateBatch, WrittenRelations } from './head.js';
import { type EmbeddedNetwork, type Layers, longestWalk, ofStep, rowsOfHop, type Scene } from './network.js';
import { type RelationRuns, relationRuns } from './relation-runs.js';

type Tensor1D = tfTypes.Tensor1D;
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
  const tailDots = trainedDots(tf);
  const runsOf = new WeakMap<StateBatch, RelationRuns>();
  const runs = (batch: StateBatch) => {
    if (!runsOf.has(batch)) runsOf.set(batch, relationRuns(rows, batch, numRelations));
    return runsOf.get(batch)!;
  };

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
    return said.map((_, part) =>
      rowsOfHop(
        tf,
        ends.map((end) => end[part]!),
        batch,
      ),
    );
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
      const ofThose = gatherRows(
        tf,
        all,
        there.relations.map((r, i) => there.stateOf[i]! * choices + r),
      );
      const byRelation = segmentLogSoftmaxColumns(tf, ofThose, there.offsets);
      const relationPart = gatherRows(tf, byRelation, there.relationOf);
      const { forks, tailOffsets, forkOf, tailOf } = there;
      if (forks.length === 0) return tf.reshape(relationPart, [-1]) as Tensor1D;

      const wanted = wantedAfter(scene, state, {
        stateOf: forks.map((place) => there.stateOf[place]!),
        relations: forks.map((place) => there.relations[place]!),
      });
      const ofTails = tf.reshape(tailDots(wanted, [entities], { left: forkOf, right: [local.others] }), [-1, 1]);
      const byTail = segmentLogSoftmaxColumns(tf, ofTails as Tensor2D, tailOffsets);
      // The last row is of tails without an alternative: certain.
      const certain = forkOf.length;
      const rowsOfTails = tf.concat([byTail, tf.zeros([1, 1])], 0) as Tensor2D;
      const tailPart = gatherRows(
        tf,
        rowsOfTails,
        tailOf.map((at) => (at < 0 ? certain : at)),
      );
      return tf.reshape(tf.add(relationPart, tailPart), [-1]) as Tensor1D;
    },
  };
}

/** Parts of both decoders. */
interface Decoder {
  decode(scene: Scene): CellState;
  ofRelations(scene: Scene, state: CellState): Tensor2D;
  wantedAfter(scene: Scene, state: CellState, written: WrittenRelations): Tensor2D;
}

/** The decoder whose softmaxes go over all relations of the graph, and over all entities. @param choices relations, staying counted */
function freely(tf: Tf, choices: number, { decode, ofRelations, wantedAfter }: Decoder): EmbeddedNetwork {
  const dots = trainedDots(tf);
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
      const byRelation = tf.reshape(logSoftmax(ofRelations(scene, state)), [-1, 1]) as Tensor2D;
      const relationPart = gatherRows(
        tf,
        byRelation,
        relations.map((r, i) => stateOf[i]! * choices + r),
      );
      // Staying ends a walk: no entity is written after it.
      const places = Int32Array.from(relations.keys()).filter((i) => relations[i]! < choices - 1);
      if (places.length === 0) return tf.reshape(relationPart, [-1]) as Tensor1D;
      const of = (list: Int32Array) => places.map((i) => list[i]!);
      const wanted = wantedAfter(scene, state, { stateOf: of(stateOf), relations: of(relations) });
      const pairs = { left: Int32Array.from(places.keys()), right: [of(local.tails)] };
      const byTail = tf.sub(dots(wanted, [entities], pairs), tf.logSumExp(scoresOfAll(wanted, entities), 1));
      // The last row is that of staying.
      const rows = tf.concat([tf.reshape(byTail, [-1, 1]), tf.zeros([1, 1])], 0) as Tensor2D;
      const rowOf = new Int32Array(relations.length).fill(places.length);
      places.forEach((i, row) => (rowOf[i] = row));
      return tf.reshape(tf.add(relationPart, gatherRows(tf, rows, rowOf)), [-1]) as Tensor1D;
    },
  };
}
