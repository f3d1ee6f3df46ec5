/** `kgwalk/tasks`: whole evaluations and training runs of any task, as the commands make them. @module kgwalk/tasks */

export { type EvaluatedTask, evaluateNamed, type EvaluateNamedOptions, type NamedEvaluation } from './evaluate.js';
export { type EvaluationFlags } from './flags.js';
export { type AnyTask, loadTask, type TaskName, taskNames } from './index.js';
export { ruleBaseline } from './links/rules.js';
export { type LinkModel, loadLinkModel, type LoadLinkOptions } from './links/model.js';
export { verbalisePath } from './links/row.js';
export { resolve } from './named.js';
export { findRun } from '../src/run/run-folder.js';
export { loadPlugin, type PluginHost } from './plugins.js';
export {
  type Data,
  type Named,
  type OpenedAgent,
  type OpenOptions,
  type Resolved,
  type Task,
  type Work,
} from './task.js';
export { forkSettings, train } from './train.js';
