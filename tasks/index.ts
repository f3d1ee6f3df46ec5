/** The tasks: a folder and a line each. */
import type { EnvTypes } from '../envs/registry.js';
import { WorkbenchError } from '../src/run/errors.js';
import { describeValue } from '../src/run/printable.js';
import type { EnvSettings } from '../agents/policy/source.js';
import { type EvaluationFlags, flagOf } from './flags.js';
import type { Task } from './task.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;
/** A task whose types are its own business. */
export type AnyTask = Task<Any, Any, Any, Any>;

/** Properties of a task that are known before it is loaded. */
interface TaskLine {
  /** Environments that are walked over its data. */
  envIds: readonly (keyof EnvTypes)[];
  /** A data set to name in hints. */
  example: string;
  /** Options that it reads beyond those that all tasks have. */
  flags: readonly (keyof EvaluationFlags)[];
  load(): Promise<AnyTask>;
}

const tasks = {
  dialogues: {
    envIds: ['kgwalk/OpenDialKG-v1'],
    example: 'opendialkg',
    flags: [
      ...(['graph', 'turns', 'data', 'twoHopBonus', 'count', 'predictions', 'threads', 'start', 'dialogue'] as const),
      ...(['encoder', 'model', 'modelSet', 'budget', 'budgetMode', 'choices'] as const),
    ],
    load: async () => (await import('./dialogues/index.js')).dialogues,
  },
  questions: {
    envIds: ['kgwalk/RelationWalk-v1'],
    example: 'metaqa/2-hop',
    flags: [
      ...([
        'budget',
        'budgetMode',
        'choices',
        'holdOut',
        'seed',
        'withholdHops',
        'giveHops',
        'trace',
        'graph',
        'questions',
      ] as const),
      ...(['encoder', 'model', 'modelSet'] as const),
    ],
    load: async () => (await import('./questions/index.js')).questions,
  },
  links: {
    envIds: ['kgwalk/LinkQuery-v1'],
    example: 'umls',
    flags: [
      ...(['direction', 'config', 'threads', 'encoder'] as const),
      ...(['model', 'modelSet', 'budget', 'budgetMode', 'choices'] as const),
    ],
    load: async () => (await import('./links/index.js')).links,
  },
  episodes: {
    envIds: [],
    example: 'kgwalk/CartPole-v1',
    flags: [],
    load: async () => (await import('./episodes/index.js')).episodes,
  },
} satisfies Record<string, TaskLine>;
/** Name of a task: what its data sets hold. */
export type TaskName = keyof typeof tasks;

/** Names of all tasks. */
export const taskNames = Object.keys(tasks) as TaskName[];

const lines: Readonly<Record<string, TaskLine>> = tasks;

/** A task; each is loaded when it is first asked for. @throws WorkbenchError `usage` for another name */
export async function loadTask(name: TaskName): Promise<AnyTask> {
  if (Object.hasOwn(lines, name)) return lines[name]!.load();
  throw new WorkbenchError('usage', `expected a task (${taskNames.join(', ')}), got ${describeValue(name)}`);
}

/** Hints of commands, by what they need of a task and not every task has. */
const hintsOf = {
  'something to ask': 'Episodes are played by kgwalk evaluate RUN.',
  'data of dialogues or links to pretrain vectors of':
    'Walkers over questions read no pretrained vectors: train them at once.',
  'links to predict': 'Missing triples are predicted by runs and agents of links alone.',
  'links with rules': 'Rules are mined on data sets of links alone.',
  'a data set of dialogues or links': 'Walkers over questions read no vectors of entities.',
};

/** Refusal of a command by a task that lacks what it needs. @throws WorkbenchError `usage` */
export function lacks(what: keyof typeof hintsOf, got: string): never {
  throw new WorkbenchError('usage', `expected ${what}, got ${got}`, { hint: hintsOf[what] });
}

/** @param purpose such as ` for agent frequency` */
export const noDataset = (task: string, purpose = ''): WorkbenchError =>
  new WorkbenchError('usage', `expected a data set of ${task}${purpose}, got none, at --dataset`, {
    hint: `Such as --dataset ${lines[task]!.example}; what is imported: \`kgwalk datasets list\`.`,
  });

/** The task over whose data an environment is walked; undefined for one that needs none, or is a user's own. */
export const ownerOf = (id: string): TaskName | undefined =>
  taskNames.find((name) => lines[name]!.envIds.some((own) => own === id));

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
export async function taskOfSettings({ env, policy }: { env: EnvSettings; policy?: unknown }): Promise<AnyTask> {
  const owner = ownerOf(env.id);
  if (owner) return loadTask(owner);
  const { showsVectors } = await import('../agents/policy/source.js');
  return loadTask(policy !== undefined || showsVectors(env) ? 'episodes' : 'dialogues');
}

/** The same of a run's `config.yaml`. What an earlier version trained without naming its environment walks dialogues. */
export function taskOfConfig({ env, policy }: Readonly<Record<string, unknown>>): Promise<AnyTask> {
  return taskOfSettings({ env: { id: 'kgwalk/OpenDialKG-v1', ...(env as object | undefined) }, policy });
}

/** True if a task reads an option that not every task has. */
export const readsFlag = (task: string, flag: keyof EvaluationFlags): boolean => !!lines[task]?.flags.includes(flag);

/** @throws WorkbenchError `usage` for an option that the task does not have and others have, naming these */
export function refuseOtherFlags(flags: EvaluationFlags, task: string): void {
  for (const [key, value] of Object.entries(flags) as [keyof EvaluationFlags, unknown][]) {
    const having: string[] = taskNames.filter((name) => readsFlag(name, key));
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    if (!isGiven || having.length === 0 || having.includes(task)) continue;
    const flag = flagOf(key);
    throw new WorkbenchError(
      'usage',
      `expected options of ${task}, got ${flag}, which is for ${having.join(' and ')}`,
      { hint: `The data set holds ${task}; leave ${flag} out.` },
    );
  }
}
