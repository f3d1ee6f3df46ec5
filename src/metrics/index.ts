/** `kgwalk/metrics`: ranks, hits, answer metrics, risk and coverage, calibration, bootstrap intervals. @module kgwalk/metrics */
export * from './answers.js';
export {
  type BootstrapOptions,
  bootstrapMeans,
  groupDifference,
  type PairedDifference,
  pairedDifferences,
} from './bootstrap.js';
export * from './ranks.js';
export * from './selective.js';
