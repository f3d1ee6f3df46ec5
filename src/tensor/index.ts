/**
 * Public API of tensors, for custom policies: `import { mlp } from 'kgwalk/tensor'`. Importing it loads
 * no tensor library: `openBackend` does.
 * @module kgwalk/tensor
 */
export { adamWOf as adamW } from './adamw.js';
export {
  backendNames,
  type BackendName,
  type ComputerName,
  openBackend,
  type NetworkSize,
  type Tf,
} from './backend.js';
export { argmaxSegment, exponentials, sampleSegment, segmentEntropy, segmentLogSoftmax } from './categorical.js';
export { Diverged } from './diverged.js';
export { type HostOutputs, HostParameters } from './host/host-parameters.js';
export { mlp, type Mlp, type MlpOptions } from './host/mlp.js';
export { type HostTensor, orthogonalValues, ParameterSet, type StoredTensors } from './parameters.js';
export type { AdamWOptions, Gather, Optimizer, Outputs, RecordPart, TrainedParameters } from './trainable.js';
