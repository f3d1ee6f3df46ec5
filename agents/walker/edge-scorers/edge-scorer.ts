/** The interface of what turns the plain head's last layer into logits of edges. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { ParameterSet } from '../../../src/tensor/parameters.js';
import type { StateBatch } from '../state-batch.js';

/** Edges, and the state that each is scored for. */
export type Edges = Pick<StateBatch, 'numStates' | 'stateOf' | 'actions' | 'relations' | 'tails'>;

/** Reads the last layer's outputs for edges. */
export interface EdgeScorer {
  /** The last layer: its name among the parameters, and its columns. */
  readonly layer: { name: string; width: number };
  /**
   * @param outputs [S, width]
   * @returns [N], differentiable
   */
  logits(outputs: tfTypes.Tensor2D, edges: Edges): tfTypes.Tensor1D;
  /**
   * The same on the host; absent where a backend alone computes.
   * @param outputs float32 [S, stride], the outputs first in each row
   * @returns float32 [N]
   */
  rank?(outputs: { values: Float32Array; stride: number }, edges: Edges): Promise<Float32Array>;
  /** Tells `rank` that weights changed. */
  weightsChanged(): void;
}

/**
 * Makes a scorer for a network.
 * @param parameters the network's: weights of the scorer's own are added
 * @param seed what they start from; zeros without it, for weights to be imported
 */
export type MakeEdgeScorer = (parameters: ParameterSet, seed?: number) => EdgeScorer;
