/** Interface of trainers to a network's weights, as tensors of a backend or on the host. */
import type { HostOutputs } from './host/host-parameters.js';
import type { TensorOutputs } from './ops.js';
import type { HostTensor, StoredTensors } from './parameters.js';

/** The weights of one network. Outputs of another one are not its own: `read` and its optimizer fail on them. */
export interface TrainedParameters {
  readonly names: string[];
  /** Backend of the weights, or `host`. */
  readonly backend: string;
  /** float32: a copy of what `compute` gives. */
  read(compute: () => Outputs): Promise<Float32Array>;
  export(): Promise<Record<string, HostTensor>>;
  /** @throws WorkbenchError `data` when a name or shape does not fit */
  import(tensors: StoredTensors): void;
  dispose(): void;
}

/** Outputs of a network with the backward pass, which adds to the gradient of a step. Called at most once. */
interface Recorded {
  /** float32, row-major; not to be changed. */
  values: Float32Array;
  /** @param grad by every output */
  back(grad: Float32Array): void;
}

/** Goes forward through one part of a step's loss. What is recorded takes memory until it goes back or the step ends. */
export type RecordPart = (outputs: () => Outputs) => Promise<Recorded>;

/** Records the parts of a step's loss and goes back through each. */
export type Gather = (record: RecordPart) => Promise<void>;

/** Optimizer of one network. */
export interface Optimizer {
  /**
   * One step down the gradient that `gather` adds up, once it is through: for losses on the outputs of several networks,
   * whose steps are then taken inside each other.
   * @returns the gradient's global norm before clipping
   * @throws Diverged for numbers that are not finite, and what `gather` throws; nothing has changed then
   */
  step(gather: Gather, learningRate: number): Promise<number>;
  /** Its state for a checkpoint. @param prefix goes before every name, so that optimizers can share a file */
  exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, HostTensor> }>;
  /** Restores what `exportState` gave under the same prefix. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void;
  dispose(): void;
}

/** Outputs of a network: a tensor, which the caller (or its tidy) owns and the host may have to end, or values on the host with the backward pass. */
export type Outputs = TensorOutputs | HostOutputs;

/** Decays, clip and what keeps divisions finite; each has a default. */
export interface AdamWOptions {
  /** Decay of the first moment, default 0.9. */
  beta1?: number;
  /** Decay of the second moment, default 0.999. */
  beta2?: number;
  /** Added to the root of the second moment, default 1e-8. */
  epsilon?: number;
  /** Decoupled weight decay per unit of learning rate, default 0. */
  weightDecay?: number;
  /** Largest global L2 norm of a step's gradients; larger ones are scaled down. Default: no limit. */
  maxGradNorm?: number;
}
