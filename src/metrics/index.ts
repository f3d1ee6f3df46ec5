/** `kgwalk/metrics`: ranks, hits, answer metrics, risk and coverage, calibration, bootstrap intervals. @module kgwalk/metrics */
export * from './answers.js';
export * from './ark-ranks.js';
export * from './bootstrap.js';
export * from './path-hits.js';
export * from './ranks.js';
export * from './selective.js';
