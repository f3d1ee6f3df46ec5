/** `kgwalk/evaluation`: run agents over samples, count with intervals, compare, save. */
export * from './compare.js';
export * from './coverage.js';
export * from './evaluate.js';
export * from './leak-check.js';
export * from './outcome.js';
export * from './predictions-file.js';
export * from './questions/index.js';
export * from './rows-file.js';
export * from './save-evaluation.js';
export * from './settings.js';
export * from './summary.js';
