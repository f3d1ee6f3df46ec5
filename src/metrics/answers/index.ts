/** Matching answers with golds, and the figures of one question. */
export * from './matching.js';
export * from './question-metrics.js';
