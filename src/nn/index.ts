/**
 * Public API of networks, for custom policies: `import { mlp } from 'kgwalk/nn'`. Importing it loads no tensor library:
 * `openExecutor` does where one is asked for.
 * @module kgwalk/nn
 */
export { AdamW, type AdamWOptions } from './adamw.js';
export { argmaxSegment, exponentials, sampleSegment, segmentEntropy, segmentLogSoftmax } from './categorical.js';
export { Diverged } from './diverged.js';
export type { Activation, Executor } from './executor.js';
export { mlp, type Mlp, type MlpOptions } from './mlp.js';
export { executorNames, type ExecutorName, type NetworkSize, openExecutor } from './open-executor.js';
export { type HostTensor, type InitialValues, orthogonalValues, Parameters, type StoredTensors } from './parameters.js';
export { type HostOutputs, type HostTaped, SimdParameters, SimdTape } from './simd/tape.js';
export { type Outputs, Tape, type Taped } from './tape.js';
