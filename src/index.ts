/**
 * What all parts of the library share: errors, randomness and progress. Everything else has an entry of its own.
 * @module kgwalk
 */
export { WorkbenchError, exitCodes, type ErrorCode, type ErrorDetails } from './run/errors.js';
export { silentProgress, terminalProgress, type Progress, type ProgressReporter } from './run/progress.js';
export { Rng, subSeed } from './run/seeds.js';
