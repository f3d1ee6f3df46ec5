/** `kgwalk/evaluation`: run agents over samples, count with intervals, compare, save. */
export { arkCountWarning } from './ark-count.js';
export * from './compare.js';
export * from './coverage.js';
export * from './evaluate.js';
export * from './leaks/count-shares.js';
export * from './leaks/leak-report.js';
export { knownDialogues, knownQuestions, type KnownSamples, type KnownSplit } from './leaks/known-samples.js';
export { seenUnseen, type SeenUnseen } from './leaks/seen-unseen.js';
export { rankWalks, type WalkRanks } from './links/rank-links.js';
export { ruleBaseline, type RuleBaseline } from './links/rule-ranker.js';
export { verbalisePath } from './links/verbalise-path.js';
export * from './outcome.js';
export * from './predictions-file.js';
export * from './questions/index.js';
export * from './rows-file.js';
export * from './save-evaluation.js';
export * from './settings.js';
export * from './summary.js';
