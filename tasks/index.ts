/** The tasks: a folder and a line each. */
import type { Task } from './task.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;
/** A task whose types are its own business. */
export type AnyTask = Task<Any, Any, Any, Any>;

const tasks = {
  dialogues: async (): Promise<AnyTask> => (await import('./dialogues/index.js')).dialogues,
  questions: async (): Promise<AnyTask> => (await import('./questions/index.js')).questions,
  links: async (): Promise<AnyTask> => (await import('./links/index.js')).links,
  episodes: async (): Promise<AnyTask> => (await import('./episodes/index.js')).episodes,
};
/** Name of a task: what its data sets hold. */
export type TaskName = keyof typeof tasks;

/** Names of all tasks. */
export const taskNames = Object.keys(tasks) as TaskName[];

/** A task; each is loaded when it is first asked for. */
export const loadTask = (name: TaskName): Promise<AnyTask> => tasks[name]();

/** All tasks, loaded one after the other. */
export async function allTasks(): Promise<AnyTask[]> {
  const loaded: AnyTask[] = [];
  for (const name of taskNames) loaded.push(await loadTask(name));
  return loaded;
}

/**
 * The task of settings: that of their environment. One of a user's own, registered by a plugin or a program, is of episodes where it
 * can be made at once and shows vectors, else of dialogues, which say what is missing.
 */
export async function taskOfSettings({ env, policy }: SettingsOfTask): Promise<AnyTask> {
  for (const name of taskNames) {
    const task = await loadTask(name);
    if (task.learning.envIds.includes(env.id)) return task;
  }
  const { showsVectors } = await import('./episodes/source.js');
  return loadTask(policy !== undefined || showsVectors(env) ? 'episodes' : 'dialogues');
}

/** What of settings says which task they are of; others of `config.yaml` may stand beside. */
interface SettingsOfTask {
  env: { id: string; options?: Record<string, unknown> | undefined };
  policy?: unknown;
}

/** The same of a run's `config.yaml`. What an earlier version trained without naming its environment walks dialogues. */
export function taskOfConfig({ env, policy }: Readonly<Record<string, unknown>>): Promise<AnyTask> {
  return taskOfSettings({ env: { id: 'kgwalk/OpenDialKG-v1', ...(env as object | undefined) }, policy });
}
