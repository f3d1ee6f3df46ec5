/** LSTM layers over what was said and the walk so far: the hidden rows that a state's next edge is chosen from. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows } from '../../../src/tensor/ops.js';
import type { ParameterSet } from '../../../src/tensor/parameters.js';
import { createRecurrentLayer } from '../../../src/tensor/recurrent.js';
import { columns, type Scene } from './embedded-head.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';

type Tensor2D = tfTypes.Tensor2D;

interface WalkLstmOptions {
  layers: number;
  units: number;
  /** Of embedded entities and relations; what was said comes in 2 × as many numbers. */
  embeddingDim: number;
}

/** Adds the layers `walk.1`, `walk.2`, … @param seed what they start from; zeros without it, for weights to be imported */
export function createWalkLstm(
  tf: Tf,
  parameters: ParameterSet,
  { horizon, numRelations }: Pick<HeadShape, 'horizon' | 'numRelations'>,
  { layers: count, units, embeddingDim: d }: WalkLstmOptions,
  seed?: number,
) {
  const layers = Array.from({ length: count }, (_, i) => {
    const shape = { cell: 'lstm' as const, name: `walk.${i + 1}`, inputs: i === 0 ? 2 * d : units, dim: units };
    return createRecurrentLayer(tf, parameters, shape, seed === undefined ? undefined : rngOf(seed));
  });

  /** Rows [E ; R] of a step: the start, without a relation, before the first. */
  const stepRows = ({ batch, local, ...rows }: Scene, step: number) => {
    const width = horizon - 1;
    const places = Int32Array.from({ length: batch.numStates }, (_, s) => s * width + step - 1);
    const entities = step === 0 ? local.start : places.map((at) => local.walked[at]!);
    const relations = places.map((at) => (step === 0 ? numRelations + 1 : batch.walkedRelations[at]!));
    return tf.concat(
      [
        gatherRows(tf, columns(tf, rows.entities, 0, d), entities),
        gatherRows(tf, columns(tf, rows.relations, 0, d), relations),
      ],
      1,
    ) as Tensor2D;
  };

  /**
   * @param said float32 [S, 2 d]: the first input; then come the start and the steps
   * @returns float32 [S, units], after the last step that each walk has taken
   */
  return (said: Tensor2D, scene: Scene): Tensor2D => {
    const { batch, dropped } = scene;
    const hops = Int32Array.from({ length: batch.numStates }, (_, s) => hopOf(batch, s));
    const last = hops.reduce((most, hop) => Math.max(most, hop), 0);
    const inputs = [said, ...Array.from({ length: last + 1 }, (_, step) => stepRows(scene, step))];
    let states = layers.map((layer) => layer.start(batch.numStates));
    const outputs = inputs.map((input) => {
      let rows = dropped(input);
      states = layers.map((layer, i) => {
        const next = layer.step(layer.given(rows), states[i]!);
        rows = dropped(next[0]!);
        return next;
      });
      return rows;
    });
    const ends = outputs.slice(1);
    if (hops.every((hop) => hop === last)) return ends[last]!;
    return gatherRows(tf, tf.concat(ends, 0) as Tensor2D, endPlaces(batch, hops));
  };
}

const rngOf = (seed: number) => (weights: string) => Rng.named(seed, `walker/${weights}`);

/** Where the last step of each state stands among rows of all steps, step by step. */
const endPlaces = ({ numStates }: StateBatch, hops: Int32Array) => hops.map((hop, s) => hop * numStates + s);
