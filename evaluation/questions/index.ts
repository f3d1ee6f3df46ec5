/** Evaluations of questions: ask, score, summarise, save, go on, replay, compare. */
export * from './compare-questions.js';
export * from './draw-questions.js';
export * from './evaluate-questions.js';
export * from './evaluation-folder.js';
export * from './replay-calls.js';
export * from './replay.js';
export * from './run-question-evaluation.js';
export * from './save-question-evaluation.js';
export * from './speedometer.js';
export * from './union-figures.js';
