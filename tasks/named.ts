/** Resolves the names of a command: agents, runs and kept evaluations, and their task. */
import { agentOf } from '../agents/registry.js';
import { datasetKind, importedNames } from '../datasets/imported-dataset.js';
import { parseDatasetName } from '../datasets/questions/question-dataset.js';
import { envIds } from '../envs/registry.js';
import { foundEvaluation, readAsked } from '../evaluation/keep.js';
import { WorkbenchError } from '../src/run/errors.js';
import { presetNames } from '../src/run/locations.js';
import { changedPluginsOf } from '../src/run/plugins.js';
import { nearestName } from '../src/run/printable.js';
import { nearestRun } from '../src/run/run-folder.js';
import type { AgentFlags, DataFlags, ResultFlags } from './flags.js';
import { allTasks, type AnyTask, loadTask, noDataset, taskOfConfig, taskOfSettings, type TaskName } from './index.js';
import { datasetOf, findTrained } from './named-runs.js';
import { namedRun } from '../src/run/run-folder.js';
import { membersOf, type Named, type Resolved, type Task } from './task.js';

/** Words of `compare` that stand for several agents of a task, each with who belongs to it. */
export const agentGroups: Readonly<Record<string, (asksModel: boolean) => boolean>> = {
  all: () => true,
  prompted: (asksModel) => asksModel,
  baselines: (asksModel) => !asksModel,
};

/**
 * The task of a command, which has all agents among its names.
 * @throws WorkbenchError `data` for a data set that was not imported, `usage` where nothing says which data is meant, and for an
 *   agent of another task
 */
export async function taskOf(named: readonly Named[], flags: DataFlags & ResultFlags): Promise<AnyTask> {
  const task = await taskMeant(named, flags);
  for (const { name, isRun } of named) {
    if (isRun === true || task.agents.has(name) || /[+,]/.test(name) || namedRun(name)) continue;
    const owners = (await allTasks()).filter(({ agents }) => agents.has(name)).map((one) => one.name);
    if (owners.length === 0) continue;
    const got = `${agentOf(name)}, which is for ${owners.join(' and ')}`;
    throw new WorkbenchError('usage', `expected an agent for ${task.name}, got ${got}`, {
      hint: `${flags.dataset ?? 'The data'} holds ${task.name}, for ${task.agents.names().join(', ')}.`,
    });
  }
  return task;
}

/**
 * The task of a command: of the kept evaluations and runs among its names, else of the data set, else of the first agent that a
 * single task has; dialogues where several have it, unless it asks a model.
 */
async function taskMeant(named: readonly Named[], { dataset, evaluations }: DataFlags & ResultFlags): Promise<AnyTask> {
  for (const { name, isRun } of named) {
    const kept = isRun === undefined ? foundEvaluation(name, evaluations) : undefined;
    if (kept !== undefined) return loadTask(readAsked(kept).task as TaskName);
  }
  const having = async ({ name, isRun }: Named) =>
    isRun === true ? [] : (await allTasks()).filter(({ agents }) => agents.has(name));
  for (const one of named) {
    // Tasks are loaded for their agents' names only where a run might have such a name, too: the agent goes before it.
    if (!/[+,]/.test(one.name) && !namedRun(one.name)) continue;
    const run = (await having(one)).length > 0 ? undefined : findTrained(one.name, '')?.run;
    if (run?.config.policy !== undefined) return taskOfConfig(run.config);
    const data = run && datasetOf(run);
    if (data !== undefined) return loadTask(datasetKind(parseDatasetName(data).name));
  }
  if (dataset !== undefined && envIds().includes(dataset)) return taskOfSettings({ env: { id: dataset } });
  if (dataset !== undefined) return loadTask(datasetKind(parseDatasetName(dataset).name));
  const known: { name: string; of: AnyTask[] }[] = [];
  for (const one of named) known.push({ name: one.name, of: await having(one) });
  // Agents of questions answer dialogues as well: which of them is meant has to be said.
  const isOfDialogues = ({ name, of }: (typeof known)[number]) =>
    of.some((task) => task.name === 'dialogues' && (of.length === 1 || !task.agents.asksModel(name)));
  const only = known.find((one) => one.of.length > 0 && !isOfDialogues(one));
  if (!only) return loadTask('dialogues');
  throw noDataset(only.of.find(({ name }) => name !== 'dialogues')!.name, ` for agent ${only.name}`);
}

/**
 * Looks names up and reads switches: `fiske`, `fiske:stateful=false,endFlag=false`, a run, `RUN@clone`.
 * @throws WorkbenchError `usage` for a name that is neither, `config` for a switch that the agent lacks
 */
export function resolve(
  task: Pick<Task, 'name' | 'agents'>,
  { name, isRun, choices }: Named,
  { checkpoint, set }: Pick<AgentFlags, 'checkpoint' | 'set'>,
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
    hint: `${isList ? 'Agents are parted by spaces. ' : (otherKind(name) ?? (near === undefined ? '' : `Did you mean "${near}"? `))}Agents on ${task.name}: ${known.join(', ')}. Runs: \`kgwalk runs list\`; RUN@clone names a checkpoint, RUN+RUN several as one, RUN,RUN several that must agree.`,
  });
}

/** Hint for the name of a data set or a preset in place of an agent. */
function otherKind(name: string): string | undefined {
  if (importedNames().includes(parseDatasetName(name).name)) return `A data set is given by --dataset ${name}. `;
  return presetNames().includes(name) ? `A preset is trained first: \`kgwalk train ${name}\`. ` : undefined;
}
