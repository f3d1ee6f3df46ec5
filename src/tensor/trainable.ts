/** What trainers need of a network's weights, whether they are tensors of a backend or lie on the host. */
import { AdamW, type AdamWOptions } from './adamw.js';
import type { HostLoss, Outputs } from './gradients.js';
import { HostAdamW } from './host/host-adamw.js';
import { HostParameters } from './host/host-parameters.js';
import type { HostTensor, ParameterSet, StoredTensors } from './parameters.js';

/** The weights of one network. Outputs of another one are not its own: `read` and its optimizer fail on them. */
export interface TrainedParameters {
  readonly names: string[];
  /** What computes: a rung of the ladder of backends, or `host`. */
  readonly backend: string;
  /** float32: a copy of what `compute` gives. */
  read(compute: () => Outputs): Promise<Float32Array>;
  /** Copies by name. */
  export(): Promise<Record<string, HostTensor>>;
  /** @throws WorkbenchError `data` when a name or shape does not fit */
  import(tensors: StoredTensors): void;
  dispose(): void;
}

/** What changes the weights of one network. */
export interface Optimizer {
  /**
   * One step down the gradient of a sum of losses.
   * @returns the gradient's global norm before clipping
   * @throws Diverged for numbers that are not finite; nothing has changed then
   */
  minimize(losses: readonly HostLoss[], learningRate: number): Promise<number>;
  /** Its state for a checkpoint. @param prefix goes before every name, so that optimizers can share a file */
  exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, HostTensor> }>;
  /** Restores what `exportState` gave under the same prefix. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void;
  dispose(): void;
}

/** The optimizer that fits where the weights lie. */
export function adamWOf(parameters: TrainedParameters, options: AdamWOptions = {}): Optimizer {
  return parameters instanceof HostParameters
    ? new HostAdamW(parameters, options)
    : new AdamW(parameters as ParameterSet, options);
}
