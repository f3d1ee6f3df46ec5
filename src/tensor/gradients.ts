/**
 * Gradients of losses, those among them that are differentiated in closed form on the host: their slope is found from
 * outputs that are read back in between, with one forward pass on every backend.
 */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from './backend.js';
import type { HostOutputs } from './host/host-parameters.js';
import { hostValues } from './ops.js';

/** What a network gave: a tensor, which the caller (or its tidy) owns, or values on the host with the way back. */
export type Outputs = tfTypes.Tensor | HostOutputs;

/** A loss that the host computes from the outputs of a network. */
export interface HostLoss {
  /** The differentiable part, called once; every parameter takes part in it. */
  outputs(): Outputs;
  /**
   * Slope of the loss by every output, of the same length. Called once.
   * @param outputs row-major; not to be changed
   * @throws Diverged for a loss that is not finite
   */
  slope(outputs: Float32Array): Float32Array;
}

/** A loss on the host, or one that builds its scalar from tensors alone. Every parameter takes part. */
export type Loss = HostLoss | (() => tfTypes.Scalar);

/** @returns one gradient a variable, in their order; the caller's to dispose */
export async function gradientsOf(tf: Tf, loss: Loss, variables: tfTypes.Variable[]): Promise<tfTypes.Tensor[]> {
  if (typeof loss === 'function') return tf.tidy(() => tf.engine().gradients(loss, variables).grads);
  const recording = recorded(tf, () => loss.outputs(), variables);
  try {
    return recording.gradients(loss.slope(await hostValues(tf, recording.outputs)));
  } finally {
    recording.dispose();
  }
}

/** A forward pass from which nothing went back yet. */
export interface Recording {
  /** What it gave; the recording's own. */
  readonly outputs: tfTypes.Tensor;
  /** @param slope by every output @returns one gradient a variable, in their order; the caller's to dispose. Called at most once */
  gradients(slope: Float32Array): tfTypes.Tensor[];
  /** Frees what the way back needs; may be called again. */
  dispose(): void;
}

/**
 * tfjs goes forward and back in one synchronous call. Its tape is taken away at the end of the forward pass, so that nothing
 * goes back yet, and handed in again once the slope is known: reading a tensor is asynchronous on some backends.
 * @param forward every variable takes part in it
 */
export function recorded(tf: Tf, forward: () => Outputs, variables: tfTypes.Variable[]): Recording {
  const engine = tf.engine();
  let tape: typeof engine.state.activeTape = [];
  const run = () => {
    const made = forward() as tfTypes.Tensor;
    tape = engine.state.activeTape.splice(0);
    return made;
  };
  const outputs = tf.tidy(() => engine.gradients(run, variables, undefined, true).value);
  const again = () => {
    engine.state.activeTape.push(...tape);
    return outputs;
  };
  return {
    outputs,
    gradients: (slope) => tf.tidy(() => engine.gradients(again, variables, tf.tensor(slope, outputs.shape)).grads),
    dispose: () => {
      // What the engine has disposed of already stays disposed of.
      for (const { saved } of tape) saved?.forEach((tensor) => tensor.dispose());
      outputs.dispose();
    },
  };
}
