/** Whether a command is about dialogues, questions or links: a run's data set says, else the one named, else the agent. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dialogueAgents } from '../agents/dialogue-agents.js';
import { linkAgents } from '../agents/link-agents.js';
import type { DatasetKind } from '../datasets/imported-dataset.js';
import { WorkbenchError } from '../src/run/errors.js';
import { runsFolder } from '../src/run/locations.js';
import type { RunInfo } from '../src/run/records.js';
import { openRun, runFiles } from '../src/run/run-folder.js';

/** What a command names: an agent or a run. */
export interface Named {
  name: string;
  /** Absent: an agent's name goes before a run's. */
  isRun?: boolean;
}

/**
 * @param evaluations where evaluations are kept. Default `runs/evaluations`
 * @throws WorkbenchError `data` for a data set that was not imported, `usage` where nothing says which data is meant
 */
export async function kindOfWork(
  named: readonly Named[],
  dataset: string | undefined,
  evaluations?: string,
): Promise<DatasetKind> {
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { parseDatasetName } = await import('../datasets/questions/question-dataset.js');
  const { isFinished } = await import('../evaluation/questions/evaluation-folder.js');
  const { isLinkEvaluation } = await import('../evaluation/links/save-link-evaluation.js');
  const kept = named.find(({ name, isRun }) => isRun === undefined && isFinished(name, evaluations));
  if (kept) return isLinkEvaluation(kept.name, evaluations) ? 'links' : 'questions';
  for (const { name, isRun } of named) {
    const run = isRun === false || dialogueAgents.has(name) ? undefined : findRun(name);
    const data = run && datasetOf(run.run);
    if (data !== undefined) return datasetKind(parseDatasetName(data).name);
  }
  if (dataset !== undefined) return datasetKind(parseDatasetName(dataset).name);
  const ranks = named.find(({ name }) => linkAgents.has(name) && !dialogueAgents.has(name));
  if (ranks) throw noDataset('links', ranks.name, 'umls');
  const { questionAgents } = await import('../agents/question-agents.js');
  const asks = named.find(({ name }) => questionAgents.has(name) && !dialogueAgents.has(name));
  if (!asks) return 'dialogues';
  throw noDataset('questions', asks.name, 'metaqa/2-hop');
}

function noDataset(kind: DatasetKind, agent: string, example: string): WorkbenchError {
  return new WorkbenchError('usage', `expected a data set of ${kind} for agent ${agent}, got none, at --dataset`, {
    hint: `Such as --dataset ${example}; what is imported: \`kgwalk datasets list\`.`,
  });
}

/** A run by name or folder, with the checkpoint behind an `@`; undefined where there is none. */
export function findRun(name: string): { run: RunInfo; checkpoint?: string } | undefined {
  const isRun = (text: string) =>
    [text, join(runsFolder(), text)].some((folder) => existsSync(runFiles(folder).config));
  if (isRun(name)) return { run: openRun(name) };
  const [, plain, checkpoint] = /^(.+)@([^@/\\]+)$/.exec(name) ?? [];
  if (plain !== undefined && isRun(plain)) return { run: openRun(plain), checkpoint: checkpoint! };
  return undefined;
}

/** Data set that a run was trained on, with its subsets where it is not all of them: `metaqa/2-hop`. */
export function datasetOf({ config }: RunInfo): string | undefined {
  const { dataset, subsets = 'all' } = (config.data ?? {}) as { dataset?: string; subsets?: 'all' | string[] };
  return dataset === undefined || subsets === 'all' ? dataset : `${dataset}/${subsets.join(',')}`;
}
