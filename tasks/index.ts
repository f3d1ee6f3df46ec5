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

/** The task of an environment, as settings name it; of a user's own, registered by a plugin, dialogues. */
export async function taskOfEnv(id: string): Promise<AnyTask> {
  for (const name of taskNames) {
    const task = await loadTask(name);
    if (task.learning.envIds.includes(id)) return task;
  }
  return loadTask('dialogues');
}
