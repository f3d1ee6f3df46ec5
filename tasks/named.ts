/** What the names of a command stand for: agents, runs and kept evaluations, and the task that they belong to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentOf } from '../agents/registry.js';
import { datasetKind } from '../datasets/imported-dataset.js';
import { parseDatasetName } from '../datasets/questions/question-dataset.js';
import { envIds } from '../envs/registry.js';
import { foundEvaluation, readAsked } from '../evaluation/keep.js';
import { WorkbenchError } from '../src/run/errors.js';
import { runsFolder } from '../src/run/locations.js';
import { changedPluginsOf } from '../src/run/plugins.js';
import { nearestName } from '../src/run/printable.js';
import type { RunInfo } from '../src/run/records.js';
import { nearestRun, openRun, runFiles } from '../src/run/run-folder.js';
import type { EvaluationFlags } from './flags.js';
import { allTasks, type AnyTask, loadTask, taskOfConfig, taskOfSettings, type TaskName } from './index.js';
import { membersOf, type Named, type Resolved, type Task, type Trained } from './task.js';

/** Words of `compare` that stand for several agents of a task, each with who belongs to it. */
export const agentGroups: Readonly<Record<string, (asksModel: boolean) => boolean>> = {
  all: () => true,
  prompted: (asksModel) => asksModel,
  baselines: (asksModel) => !asksModel,
};

/**
 * The task of a command: of the kept evaluations and runs among its names, else of the data set, else of the first agent that a
 * single task has; dialogues where several have it.
 * @throws WorkbenchError `data` for a data set that was not imported, `usage` where nothing says which data is meant
 */
export async function taskOf(
  named: readonly Named[],
  { dataset, evaluations }: Pick<EvaluationFlags, 'dataset' | 'evaluations'>,
): Promise<AnyTask> {
  for (const { name, isRun } of named) {
    const kept = isRun === undefined ? foundEvaluation(name, evaluations) : undefined;
    if (kept !== undefined) return loadTask(readAsked(kept).task as TaskName);
  }
  const having = async ({ name, isRun }: Named) =>
    isRun === true ? [] : (await allTasks()).filter(({ agents }) => agents.has(name));
  for (const one of named) {
    // Tasks are loaded for their agents' names only where a run might have such a name, too: the agent goes before it.
    if (!one.name.includes('+') && !namedRun(one.name)) continue;
    const run = (await having(one)).length > 0 ? undefined : findTrained(one.name, '')?.run;
    if (run?.config.policy !== undefined) return taskOfConfig(run.config);
    const data = run && datasetOf(run);
    if (data !== undefined) return loadTask(datasetKind(parseDatasetName(data).name));
  }
  if (dataset !== undefined && envIds().includes(dataset)) return taskOfSettings({ env: { id: dataset } });
  if (dataset !== undefined) return loadTask(datasetKind(parseDatasetName(dataset).name));
  const known: { name: string; of: AnyTask[] }[] = [];
  for (const one of named) known.push({ name: one.name, of: await having(one) });
  const only = known.find(({ of }) => of.length > 0 && !of.some(({ name }) => name === 'dialogues'));
  if (!only) return loadTask('dialogues');
  const [task] = only.of;
  throw new WorkbenchError(
    'usage',
    `expected a data set of ${task!.name} for agent ${only.name}, got none, at --dataset`,
    { hint: `Such as --dataset ${task!.exampleDataset}; what is imported: \`kgwalk datasets list\`.` },
  );
}

/**
 * Looks names up and reads switches: `fiske`, `fiske:stateful=false,endFlag=false`, a run, `RUN@clone`.
 * @throws WorkbenchError `usage` for a name that is neither, `config` for a switch that the agent lacks
 */
export function resolve(
  task: Pick<Task, 'agents'> & { readonly name: string },
  { name, isRun, choices }: Named,
  { checkpoint, set }: Pick<EvaluationFlags, 'checkpoint' | 'set'>,
): Resolved {
  if (isRun !== true && task.agents.has(name)) {
    return { name, ...(choices && { choices }), ...task.agents.parse(name, set) };
  }
  const trained = isRun === false ? undefined : findTrained(name, checkpoint);
  if (trained) {
    // Refused before anything is loaded where plugins are missing; who evaluates says which changed.
    for (const { run } of membersOf(trained)) changedPluginsOf(run);
    return { name, switches: {}, trained };
  }
  const known = task.agents.names();
  const group = agentOf(name);
  if (isRun === false && Object.hasOwn(agentGroups, group)) {
    throw new WorkbenchError('usage', `expected an agent, got ${JSON.stringify(name)}, which stands for several`, {
      hint: `Groups belong to \`kgwalk compare\`. Agents on ${task.name}: ${known.join(', ')}.`,
    });
  }
  const groups = isRun === undefined ? Object.keys(agentGroups) : [];
  const near = nearestName(group, [...known, ...groups]) ?? (isRun === false ? undefined : nearestRun(name));
  const parts = name.split(',');
  const isList = parts.length > 1 && parts.some((part) => task.agents.has(part));
  const expected = isRun === false ? 'an agent' : 'an agent or a run';
  throw new WorkbenchError('usage', `expected ${expected}, got ${JSON.stringify(name)}`, {
    hint: `${isList ? 'Agents are parted by spaces. ' : near === undefined ? '' : `Did you mean "${near}"? `}Agents on ${task.name}: ${known.join(', ')}. Runs: \`kgwalk runs list\`; RUN@clone names a checkpoint, RUN+RUN several as one.`,
  });
}

/**
 * A run by name or folder, with the checkpoint behind an `@`, or several that answer as one: `first+second@clone+third`.
 * @param checkpoint of those that name none
 * @returns undefined where there is no such run
 * @throws WorkbenchError `usage` for several that do not walk the same, `data` where only some of them are there
 */
export function findTrained(name: string, checkpoint: string): Trained | undefined {
  const one = findRun(name);
  if (one) return { checkpoint, ...one };
  const names = namesOf(name);
  const found = names.map(findRun);
  if (names.length < 2 || !found.some((run) => run)) return undefined;
  const members = found.map((run, i) => ({ checkpoint, ...(run ?? { run: openRun(names[i]!) }) }));
  refuseUnlike(members.map(({ run }) => run));
  const [first, ...others] = members as [Trained, ...Trained[]];
  return { ...first, others };
}

/** Names of runs with pluses between; where a folder's own name holds one, the longest that is a run. */
function namesOf(name: string): string[] {
  const words = name.split('+');
  const names: string[] = [];
  for (let begin = 0, end = 0; begin < words.length; begin = end) {
    const upTo = (behind: number) => words.slice(begin, behind).join('+');
    end = words.length;
    while (end > begin + 1 && !findRun(upTo(end))) end--;
    names.push(upTo(end));
  }
  return names;
}

/** What runs must have in common to answer as one, in words. */
function walkedBy({ config }: RunInfo): Record<string, unknown> {
  const { data, env, relationWalk, linkWalk, policy } = config as Record<string, Record<string, unknown> | undefined>;
  const id = (env?.id ?? 'kgwalk/OpenDialKG-v1') as string;
  if (policy !== undefined) return { environment: id, 'options of it': env?.options };
  const horizon = { 'kgwalk/RelationWalk-v1': relationWalk?.horizon, 'kgwalk/LinkQuery-v1': linkWalk?.horizon }[id];
  return {
    'data set': data?.dataset,
    environment: id,
    graph: data?.graph,
    subsets: data?.subsets,
    turns: data?.turns,
    'hold-out': data?.holdOut,
    oracle: data?.oracle,
    horizon: horizon ?? env?.horizon,
    'way to walk': (config as { exactWalker?: unknown }).exactWalker === undefined ? 'by samples' : 'exactly',
    edges: [env?.edgePolicy, env?.maxOut, env?.equalAtStep1],
  };
}

function refuseUnlike([first, ...others]: readonly RunInfo[]): void {
  const own = walkedBy(first!);
  for (const run of others) {
    const other = walkedBy(run);
    const key = Object.keys({ ...own, ...other }).find(
      (name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]),
    );
    if (key === undefined) continue;
    const word = (of: Record<string, unknown>) => (of[key] === undefined ? 'none' : JSON.stringify(of[key]));
    throw new WorkbenchError(
      'usage',
      `expected runs of one ${key} to answer as one, got ${first!.id} (${word(own)}) and ${run.id} (${word(other)})`,
      {
        hint: 'Runs that are averaged differ in seed and network alone. Parted by a space `kgwalk compare` takes them as several.',
      },
    );
  }
}

/** A run by name or folder, with the checkpoint behind an `@`; undefined where there is none. */
export function findRun(name: string): { run: RunInfo; checkpoint?: string } | undefined {
  const found = namedRun(name);
  return found && { ...found, run: openRun(found.run) };
}

/** Name or folder of a run that is there, unopened. */
function namedRun(name: string): { run: string; checkpoint?: string } | undefined {
  const isRun = (text: string) =>
    [text, join(runsFolder(), text)].some((folder) => existsSync(runFiles(folder).config));
  if (isRun(name)) return { run: name };
  const [, plain, checkpoint] = /^(.+)@([^@/\\]+)$/.exec(name) ?? [];
  if (plain !== undefined && isRun(plain)) return { run: plain, checkpoint: checkpoint! };
  return undefined;
}

/** Runs that switches of an agent name, such as `of=RUN+bilinear` and `prefilter=walker:RUN`. */
export const runsNamedBy = (switches: Readonly<Record<string, unknown>>): RunInfo[] =>
  Object.values(switches)
    .flatMap((value) => (typeof value === 'string' ? value.replace(/^walker:/, '').split('+') : []))
    .flatMap((name) => (name === '' ? [] : (findRun(name)?.run ?? [])));

/** Data set that a run was trained on, with its subsets where it is not all of them: `metaqa/2-hop`; of a policy, its environment. */
export function datasetOf({ config }: RunInfo): string | undefined {
  if (config.policy !== undefined) return (config.env as { id: string }).id;
  const { dataset, subsets = 'all' } = (config.data ?? {}) as { dataset?: string; subsets?: 'all' | string[] };
  return dataset === undefined || subsets === 'all' ? dataset : `${dataset}/${subsets.join(',')}`;
}

/**
 * What a section of settings says in all runs alike; undefined where there is no run.
 * @throws WorkbenchError `usage` for runs that differ in it
 */
export function sameOfRuns<T>(runs: readonly RunInfo[], read: (run: RunInfo) => T): T | undefined {
  const [first, ...others] = runs;
  if (!first) return undefined;
  const own = read(first);
  for (const run of others) {
    const other = read(run);
    if (JSON.stringify(other) === JSON.stringify(own)) continue;
    const words = (value: T) => (typeof value === 'object' ? Object.values(value as object).join(', ') : String(value));
    throw new WorkbenchError('usage', `expected runs of the same data, got ${first.id} and ${run.id}`, {
      hint: `One has ${words(own)}, the other ${words(other)}.`,
    });
  }
  return own;
}
