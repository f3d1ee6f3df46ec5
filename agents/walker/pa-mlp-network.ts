/**
 * The plain head's network over states and edges that stand ready: g = W3·tanh(W2·tanh(W1·s)), of which an edge scorer
 * makes logits: logit(r, t) = g · [R[r] ; E[t]], or one a place.
 * @source LLM-ARK (Huang 2024), section 3.3; no biases, orthogonal starts with gain 1 and 0.01
 */
import type * as tfTypes from '@tensorflow/tfjs';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { kernelsRun } from '../../src/simd/kernels.js';
import { hostValues, matMul, matMulConst } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type { Edges, MakeEdgeScorer } from './edge-scorers/edge-scorer.js';
import { createHostForward } from './host-forward.js';
import { roundingOf } from './precision.js';
import type { WalkerSettings } from './settings.js';

type Tensor2D = tfTypes.Tensor2D;

/** Scores edges of states; owns its parameters. */
export interface PaMlpNetwork {
  readonly parameters: ParameterSet;
  /**
   * @param states float32 [S, stateDim]; a tensor is differentiated
   * @returns float32 [N] logits of the edges; differentiable, owned by the caller
   */
  logits(states: Float32Array | Tensor2D, edges: Edges): tfTypes.Tensor1D;
  /** The same on the host, in a little other digits; absent where there are no SIMD kernels, and with bf16. */
  rank?(states: Float32Array, edges: Edges): Promise<Float32Array>;
  /** Tells `rank` that weights changed. */
  weightsChanged(): void;
}

/** What a network is built of. */
export interface PaMlpNetworkOptions extends Partial<Pick<WalkerSettings, 'precision'>> {
  /** Numbers of a state; with precision bf16 rounded already, as `state-rows` makes them. */
  stateDim: number;
  /** Units of each hidden layer. */
  width: number;
  /** Makes logits of the last layer, whose width it says. */
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
      return round(scorer.logits(round(matMul(tf, second, weight(last))), edges));
    },
    ...(host && {
      rank: async (states, edges) => scorer.rank!(await host.forward(states, edges.numStates), edges),
    }),
    weightsChanged: () => {
      host?.weightsChanged();
      scorer.weightsChanged();
    },
  };
}
