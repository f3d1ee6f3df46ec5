/** `kgwalk/evaluation`: run agents over samples, count with intervals, keep, replay, compare. @module kgwalk/evaluation */
export * from './ask.js';
export * from './compare.js';
export * from './evaluate.js';
export * from './figures.js';
export * from './keep.js';
export * from './leaks/count-shares.js';
export { knownDialogues, knownQuestions, type KnownSamples, type KnownSplit } from './leaks/known-samples.js';
export {
  type LeakReport,
  leakReport,
  type LeakReportParts,
  type NotedAgent,
  type SeenUnseen,
  seenUnseen,
} from './leaks/leak-report.js';
export * from './replay.js';
export * from './score.js';
export { type EvaluationSettings, evaluationSettings } from '../trainers/run-settings.js';
export * from './throughput-meter.js';
