/**
 * `kgwalk/metrics`: ranks, path and target hits, answers of questions, bootstrap intervals. Pure functions.
 * @module kgwalk/metrics
 */
export * from './answers.js';
export * from './ark-ranks.js';
export * from './bootstrap.js';
export * from './path-hits.js';
export * from './ranks.js';
