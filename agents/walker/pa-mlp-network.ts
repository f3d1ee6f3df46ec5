/**
 * The plain head's network over states and edges that stand ready: g = W3·tanh(W2·tanh(W1·s)),
 * logit(r, t) = g · [R[r] ; E[t]], with frozen edge vectors.
 * @source LLM-ARK (Huang 2024), section 3.3; no biases, orthogonal starts with gain 1 and 0.01
 */
import type * as tfTypes from '@tensorflow/tfjs';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { frozenDots } from '../../src/tensor/frozen-dots.js';
import { kernelsRun } from '../../src/simd/kernels.js';
import { hostValues, matMul, matMulConst } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import { addRowDots } from '../../src/tensor/row-dots.js';
import type { FrozenTables } from './frozen-tables.js';
import { createHostForward } from './host-forward.js';
import type { StateBatch } from './state-batch.js';

type Tensor2D = tfTypes.Tensor2D;

/** Edges, and the state that each is scored for. */
type Edges = Pick<StateBatch, 'numStates' | 'stateOf' | 'relations' | 'tails'>;

/** Scores edges of states; owns its parameters. */
export interface PaMlpNetwork {
  readonly parameters: ParameterSet;
  /**
   * @param states float32 [S, stateDim]
   * @returns float32 [N] logits of the edges; differentiable, owned by the caller
   */
  logits(states: Float32Array, edges: Edges): tfTypes.Tensor1D;
  /** The same on the host, in a little other digits; absent where there are no SIMD kernels. */
  rank?(states: Float32Array, edges: Edges): Promise<Float32Array>;
  /** Tells `rank` that weights changed. */
  weightsChanged(): void;
}

/**
 * @param tables with a row for every relation that edges have; read in place
 * @param width units of each hidden layer
 * @param seed of an orthogonal start, which takes a second or so; zeros without it, for weights to be imported
 */
export function createPaMlpNetwork(
  tf: Tf,
  { stateDim, width, tables }: { stateDim: number; width: number; tables: FrozenTables },
  seed?: number,
): PaMlpNetwork {
  const { entities, entityDim, relations, relationDim } = tables;
  const parameters = new ParameterSet(tf);
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
  layer('pa.out', width, relationDim + entityDim, 0.01);
  const dots = frozenDots(tf, [
    { values: relations, width: relationDim },
    { values: entities, width: entityDim },
  ]);
  const weight = (name: string) => parameters.get(name) as unknown as Tensor2D;
  const host = kernelsRun()
    ? createHostForward([stateDim, width, width, relationDim + entityDim], () =>
        Promise.all(['pa.1', 'pa.2', 'pa.out'].map((name) => hostValues(tf, weight(name)))),
      )
    : undefined;
  return {
    parameters,
    logits: (states, { numStates, stateOf, relations: edgeRelations, tails }) => {
      const input = tf.tensor2d(states, [numStates, stateDim]);
      const first = tf.tanh(matMulConst(tf, input, weight('pa.1'))) as Tensor2D;
      const second = tf.tanh(matMul(tf, first, weight('pa.2'))) as Tensor2D;
      return dots(matMul(tf, second, weight('pa.out')), { left: stateOf, right: [edgeRelations, tails] });
    },
    ...(host && {
      rank: async (states, { numStates, stateOf, relations: edgeRelations, tails }) => {
        const { values, stride } = await host.forward(states, numStates);
        const logits = new Float32Array(stateOf.length);
        const add = (column: number, table: Float32Array, columns: number, right: Int32Array) => {
          const rows = { values: table, stride: columns, column: 0 };
          addRowDots(logits, { values, stride, column }, rows, { width: columns, left: stateOf, right });
        };
        add(0, relations, relationDim, edgeRelations);
        add(relationDim, entities, entityDim, tails);
        return logits;
      },
    }),
    weightsChanged: () => host?.weightsChanged(),
  };
}
