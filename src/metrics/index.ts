/** `kgwalk/metrics`: ranks, path and target hits, bootstrap intervals. Pure functions. */
export * from './bootstrap.js';
export * from './path-hits.js';
export * from './ranks.js';
export * from './spread.js';
