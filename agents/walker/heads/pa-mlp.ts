/**
 * The plain head of LLM-ARK: g = W3·tanh(W2·tanh(W1·s)) over states, of which an edge scorer makes logits:
 * logit(r, t) = g · [R[r] ; E[t]], or one a place.
 * @source LLM-ARK (Huang 2024), section 3.3; no biases, orthogonal starts with gain 1 and 0.01
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/simd/arena.js';
import { DenseStack } from '../../../src/simd/dense-stack.js';
import { kernelsRun, openKernels } from '../../../src/simd/kernels.js';
import type { Tf } from '../../../src/tensor/backend.js';
import {
  hostValues,
  matMul,
  matMulConst,
  readTensor,
  roundedToBfloat16,
  roundingOf,
  type EndedOnHost,
  type TensorOutputs,
} from '../../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../../src/tensor/parameters.js';
import { type Edges, edgeScorerOf, type MakeEdgeScorer } from './edge-scorers.js';
import { createStateRows, type HeadShape, type StateBatch, type WalkerHead } from './head.js';
import type { WalkerSettings } from '../settings.js';

type Tensor2D = tfTypes.Tensor2D;

/** Edges that go through the network at once: the host makes one number of each, so that what grows is the states. */
export const edgesAtOnce = 2 ** 20;

/** Builds the plain head. @param seed what its weights start from; absent where others are imported into it */
export function createPaMlpHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  const { numRelations } = shape;
  const { relationDim } = shape.tables;
  const rows = createStateRows(settings, shape, true);
  // Staying and "none yet" have no frozen vector: zero, so that only the tail speaks for them.
  const relations = new Float32Array((numRelations + 2) * relationDim);
  relations.set(shape.tables.relations);
  const tables = { ...shape.tables, relations };
  const scorer = edgeScorerOf(tf, settings, { ...shape, tables });
  const { width, precision } = settings;
  const network = createPaMlpNetwork(tf, { stateDim: rows.dim, width, scorer, precision }, seed);
  const logits = (batch: StateBatch) => network.logits(rows.of(batch), batch);
  return {
    parameters: network.parameters,
    precision,
    maxScoresPerBatch: edgesAtOnce,
    logits,
    infer: (batch) => readTensor(tf, () => logits(batch)),
    rank: network.rank && ((batch) => network.rank!(rows.of(batch), batch)),
    weightsChanged: () => network.weightsChanged(),
    dispose: () => network.parameters.dispose(),
  };
}

export interface PaMlpNetwork {
  readonly parameters: ParameterSet;
  /** float32 [N]: logits of the edges, differentiable. @param states float32 [S, stateDim]; a tensor is differentiated */
  logits(states: Float32Array | Tensor2D, edges: Edges): TensorOutputs<tfTypes.Tensor1D>;
  /** The same on the host, in a little other digits; absent where there are no SIMD kernels, and with bf16. */
  rank?(states: Float32Array, edges: Edges): Promise<Float32Array>;
  weightsChanged(): void;
}

interface PaMlpNetworkOptions extends Partial<Pick<WalkerSettings, 'precision'>> {
  /** Numbers of a state; with precision bf16 rounded already, as `state-rows` makes them. */
  stateDim: number;
  width: number;
  scorer: MakeEdgeScorer;
  /** Those that the network's own are added to. Default: none. */
  parameters?: ParameterSet;
}

/**
 * With precision bf16 there is no `rank`: ranking goes by what is trained.
 * @param seed of an orthogonal start, which takes a second or so; zeros without it, for weights to be imported
 */
export function createPaMlpNetwork(
  tf: Tf,
  { stateDim, width, scorer: makeScorer, precision = 'f32', parameters = new ParameterSet(tf) }: PaMlpNetworkOptions,
  seed?: number,
): PaMlpNetwork {
  const layer = (name: string, rows: number, columns: number, gain: number) =>
    parameters.add(
      name,
      [rows, columns],
      seed === undefined
        ? new Float32Array(rows * columns)
        : orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain),
    );
  layer('pa.1', stateDim, width, 1);
  layer('pa.2', width, width, 1);
  const scorer = makeScorer(parameters, seed);
  const { name: last, width: outputs } = scorer.layer;
  layer(last, width, outputs, 0.01);
  const round = roundingOf(tf, precision);
  const weight = (name: string) => round(parameters.get(name) as unknown as Tensor2D);
  const hostRanks = scorer.rank && precision === 'f32' && kernelsRun();
  const host = hostRanks
    ? createHostForward([stateDim, width, width, outputs], () =>
        Promise.all(['pa.1', 'pa.2', last].map((name) => hostValues(tf, parameters.get(name)))),
      )
    : undefined;
  return {
    parameters,
    logits: (states, edges) => {
      const inputs =
        states instanceof Float32Array
          ? matMulConst(tf, tf.tensor2d(states, [edges.numStates, stateDim]), weight('pa.1'))
          : matMul(tf, states, weight('pa.1'));
      const first = round(tf.tanh(round(inputs)));
      const second = round(tf.tanh(round(matMul(tf, first, weight('pa.2')))));
      const logits = scorer.logits(round(matMul(tf, second, weight(last))), edges);
      if (!('device' in logits)) return round(logits);
      return precision === 'bf16' ? roundedEnd(logits) : logits;
    },
    rank: host && (async (states, edges) => scorer.rank!(await host.forward(states, edges.numStates), edges)),
    weightsChanged: () => {
      host?.weightsChanged();
      scorer.weightsChanged();
    },
  };
}

function roundedEnd({ device, end }: EndedOnHost): EndedOnHost {
  return {
    device,
    end: (read) => {
      const { values, back } = end(read);
      return { values: roundedToBfloat16(values), back };
    },
  };
}

const atOnce = 64;

/** Layers on the host, tanh between them: for a few states a backend spends longer on its calls than on the numbers. */
function createHostForward(widths: readonly number[], readWeights: () => Promise<Float32Array[]>) {
  let stack: DenseStack | undefined;
  let current: Promise<Float32Array[]> | undefined;
  let loaded: Float32Array[] | undefined;

  function open(all: Float32Array[]): DenseStack {
    const arena = new Arena();
    const layers = all.map((weights, i) => {
      return { weights, rows: widths[i]!, columns: widths[i + 1]!, tanh: i < all.length - 1 };
    });
    return new DenseStack(arena, openKernels(arena.memory), layers, atOnce);
  }

  return {
    /** float32 [numStates, stride], the outputs first in each row; a state's do not depend on the others. */
    async forward(states: Float32Array, numStates: number) {
      const all = await (current ??= readWeights());
      // From here on nothing is awaited: the memory is used by one call at a time.
      if (stack && loaded !== all) stack.load(all);
      stack ??= open(all);
      loaded = all;
      const [inputWidth, stride] = [widths[0]!, stack.width];
      const values = new Float32Array(numStates * stride);
      for (let first = 0; first < numStates; first += atOnce) {
        const count = Math.min(atOnce, numStates - first);
        const outputs = stack.forward(states.subarray(first * inputWidth, (first + count) * inputWidth), count);
        values.set(outputs.subarray(0, count * stride), first * stride);
      }
      return { values, stride };
    },
    weightsChanged() {
      current = undefined;
    },
  };
}
