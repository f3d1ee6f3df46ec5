/** `kgwalk/metrics`: ranks, hits, answer metrics, risk and coverage, calibration, bootstrap intervals. @module kgwalk/metrics */
export * from './aggregate.js';
export * from './answers.js';
export {
  type BootstrapOptions,
  bootstrapMeans,
  differenceOverSeeds,
  groupDifference,
  meanOverSeeds,
  type PairedDifference,
  pairedDifferences,
} from './bootstrap.js';
export { studentInterval, wilson } from './intervals.js';
export * from './ranks.js';
export * from './selective.js';
