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
  const { outputs, tape } = recorded(tf, () => loss.outputs() as tfTypes.Tensor, variables);
  try {
    const slope = loss.slope(await hostValues(tf, outputs));
    return tf.tidy(() => {
      const forward = () => {
        tf.engine().state.activeTape.push(...tape);
        return outputs;
      };
      return tf.engine().gradients(forward, variables, tf.tensor(slope, outputs.shape)).grads;
    });
  } finally {
    // What the engine has disposed of already stays disposed of.
    for (const { saved } of tape) saved?.forEach((tensor) => tensor.dispose());
    outputs.dispose();
  }
}

/**
 * tfjs goes forward and back in one synchronous call. Its tape is taken away at the end of the forward pass, so that nothing
 * goes back yet, and handed in again once the slope is known: reading a tensor is asynchronous on some backends.
 */
function recorded(tf: Tf, forward: () => tfTypes.Tensor, variables: tfTypes.Variable[]) {
  const engine = tf.engine();
  let tape: typeof engine.state.activeTape = [];
  const run = () => {
    const outputs = forward();
    tape = engine.state.activeTape.splice(0);
    return outputs;
  };
  return { outputs: tf.tidy(() => engine.gradients(run, variables, undefined, true).value), tape };
}
