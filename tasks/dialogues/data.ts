/** Which samples of dialogues a command evaluates on: of which data set, graph and split, by which settings. */
import { basename } from 'node:path';
import { type DialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { samplesOfFile } from '../../datasets/opendialkg/read-dialogues.js';
import { dataSettings, type DataSettings } from '../../datasets/settings.js';
import { splitNames, type WalkSample, splitSamples } from '../../datasets/walk-sample.js';
import { envSettings } from '../../envs/settings.js';
import type { AskedEvaluation } from '../../evaluation/keep.js';
import { evaluationSettings, type EvaluationSettings } from '../../trainers/run-settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { loadConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import type { RunInfo } from '../../src/run/records.js';
import { sampled } from '../../src/run/seeds.js';
import { type DataFlags, type EvaluationFlags, splitOf, wholeNumber } from '../flags.js';
import { sameOfRuns } from '../named-runs.js';
import type { Data } from '../task.js';
import { checkArkCount, seenEntities } from './row.js';

/** Everything that agents on dialogues are evaluated with, loaded. */
export interface DialogueEvaluationData extends Data<WalkSample> {
  dataset: DialogueDataset;
  graph: Graph;
  train: WalkSample[];
  seenTargets: ReadonlySet<number>;
  settings: EvaluationSettings;
  /** Horizon of the run's environment; 2 without a run. */
  horizon: number;
  /** Computes LLM-ARK's counts next to the strict ones. */
  withArk: boolean;
}

/**
 * Resolves flags and runs. A run keeps its data set, graph, turns and evaluation settings; flags decide where there is none.
 * @param runs all must have been trained on the same data
 * @throws WorkbenchError `usage` for flags that contradict a run or each other, `data` for an empty split
 */
export async function dialogueData(flags: EvaluationFlags, runs: readonly RunInfo[]): Promise<DialogueEvaluationData> {
  const data = dataOf(flags, runs);
  const settings = settingsOf(flags, runs);
  const [run] = runs;
  const env = loadConfig(envSettings, { text: JSON.stringify(run?.config.env ?? {}), source: `env of ${run?.id}` });
  const horizon = (flags.kept?.about.reach as number | undefined) ?? env.horizon;
  const { count = 'strict' } = flags;
  if (count === 'ark') checkArkCount({ horizon, beamWidth: settings.beamWidth });
  const limit = wholeNumber(flags.limit, '--limit', 1) ?? Infinity;
  const dataset = loadDialogueDataset(data.dataset);
  const split = flags.data === undefined ? splitOf(flags.split ?? 'valid', splitNames) : undefined;
  const graph = await dataset.loadGraph(data.graph);
  const train = splitSamples(dataset, graph, data, 'train');
  const all =
    split === undefined
      ? (await samplesOfFile(flags.data!, graph, data)).samples
      : split === 'train'
        ? train
        : splitSamples(dataset, graph, data, split);
  if (all.length === 0) {
    const at = flags.data ?? `split ${split} of ${data.dataset}`;
    throw new WorkbenchError('data', `expected samples, got none, at ${at}`, {
      hint: 'A sample is a path chosen by an annotator; see `kgwalk datasets stats`.',
    });
  }
  const samples = sampled(all, limit, 'evaluate/limit');
  return {
    ...{ dataset, graph, train, samples, settings, horizon, withArk: count === 'ark' },
    excluded: {},
    resamples: settings.resamples,
    examples: settings.examples,
    seenTargets: seenEntities(train),
    about: {
      dataset: data.dataset,
      graph: graph.name,
      split: split ?? basename(flags.data!),
      turns: data.turns,
      ...drawnBy(data),
      ...(samples.length < all.length && { limit }),
      ...{ beamWidth: settings.beamWidth, ks: settings.ks, twoHopBonus: settings.twoHopBonus, count },
      reach: horizon,
    },
    hashes: { graph: graph.hash, ...(split === undefined && { data: await sha256File(flags.data!) }) },
  };
}

/** Settings of data that decide what is asked and what counts as train, of those that have no option; absent where all is taken. */
const drawSettings = ['oracle', 'fold', 'maxDialogues', 'trainSamples', 'validSamples'] as const;

const drawnBy = (data: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(drawSettings.flatMap((key) => ((data[key] ?? null) === null ? [] : [[key, data[key]]])));

/** The options that ask the samples of a kept evaluation. */
export function dialogueFlagsOf({ about, checkpoint, hashes }: AskedEvaluation): Partial<EvaluationFlags> {
  if (hashes.data !== undefined) {
    throw new WorkbenchError('usage', 'expected an evaluation on a split, got one on a file, which is not kept');
  }
  const { dataset, graph, turns, count, choices } = about as Record<string, string>;
  return {
    ...(checkpoint === undefined && { dataset, graph, turns }),
    count: count as 'strict',
    ...(about.budget !== undefined && { budget: String(about.budget ?? 'none'), budgetMode: about.budgetMode }),
    choices: choices === 'likelihood' ? choices : undefined,
  };
}

function dataOf(flags: DataFlags, runs: readonly RunInfo[]): DataSettings {
  const asked = (['dataset', 'graph', 'turns'] as const).filter((key) => flags[key] !== undefined);
  const own = sameOfRuns(runs, ({ config }) => dataSettings.parse(config.data ?? {}));
  if (!own) {
    const overrides = asked.map((key) => `${key}=${JSON.stringify(flags[key])}`);
    return loadConfig(dataSettings, {
      text: JSON.stringify(drawnBy(flags.kept?.about ?? {})),
      source: 'what was asked',
      overrides,
    });
  }
  for (const key of asked) {
    if (flags[key] === own[key]) continue;
    const { id } = runs[0]!;
    throw new WorkbenchError('usage', `expected the ${key} of run ${id}, which is ${own[key]}, got ${flags[key]}`, {
      hint: `A run keeps its ${key}: leave --${key} out, or train a run on the other one.`,
    });
  }
  return own;
}

function settingsOf(flags: EvaluationFlags, runs: readonly RunInfo[]): EvaluationSettings {
  const overrides = (['beamWidth', 'twoHopBonus'] as const).flatMap((key) =>
    flags[key] === undefined ? [] : [`${key}=${flags[key]}`],
  );
  const { kept } = flags;
  const asked = kept && {
    ...Object.fromEntries(['beamWidth', 'ks', 'twoHopBonus'].map((key) => [key, kept.about[key]])),
    ...{ resamples: kept.resamples, examples: kept.examples },
  };
  const text = JSON.stringify({ ...(runs[0]?.config.evaluation as object | undefined), ...asked });
  return loadConfig(evaluationSettings, { text, overrides, source: 'evaluation settings' });
}
