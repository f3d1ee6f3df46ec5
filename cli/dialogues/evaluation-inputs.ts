/** What `evaluate` and `compare` share: which graph, which samples, which settings. */
import { basename, extname } from 'node:path';
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { DataSettings } from '../../datasets/settings.js';
import type { SplitName, WalkSample } from '../../datasets/walk-sample.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { EvaluateOptions } from '../../evaluation/evaluate.js';
import type { EvaluationSettings } from '../../evaluation/settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { RunInfo } from '../../src/run/records.js';

/** Options that say what is evaluated on, and how wide. */
export interface InputFlags {
  dataset?: string;
  graph?: string;
  turns?: string;
  split?: string;
  data?: string;
  limit?: string;
  beamWidth?: string;
  twoHopBonus?: string;
  count?: 'strict' | 'ark';
}

/** Everything that agents on dialogues are evaluated with, loaded. */
export interface EvaluationInputs {
  dataset: DialogueDataset;
  data: DataSettings;
  graph: Graph;
  /** The edges that an agent may walk, where its run says: see `OpenedAgent`. */
  walks?: WalkGraph;
  train: WalkSample[];
  samples: WalkSample[];
  seenTargets: ReadonlySet<number>;
  settings: EvaluationSettings;
  /** Of the run's environment; 2 where there is no run. */
  horizon: number;
  /** `ark`: LLM-ARK's countings are asked for beside the strict ones. */
  count: 'strict' | 'ark';
  about: EvaluateOptions['about'];
  /** Names the samples and what was changed in file names: `valid`, `test-limit200`, `data-mine`, `valid-bonus0.6`. */
  label: string;
}

/**
 * Resolves flags and runs. A run keeps its data set, graph, turns and evaluation settings; flags decide where there is none.
 * @param runs all must have been trained on the same data
 * @throws WorkbenchError `usage` for flags that contradict a run or each other, `data` for an empty split
 */
export async function evaluationInputs(flags: InputFlags, runs: readonly RunInfo[]): Promise<EvaluationInputs> {
  const { loadDialogueDataset } = await import('../../datasets/dialogues/dialogue-dataset.js');
  const { splitSamples } = await import('../../datasets/walk-sample.js');
  const { envSettings } = await import('../../envs/settings.js');
  const { seenEntities } = await import('../../evaluation/outcome.js');
  const { sampled } = await import('../../src/run/seeds.js');
  const data = await dataOf(flags, runs);
  const settings = await settingsOf(flags, runs);
  const { horizon } = envSettings.parse(runs[0]?.config.env ?? {});
  const { count = 'strict' } = flags;
  if (count === 'ark') {
    const { checkArkCount } = await import('../../evaluation/ark-count.js');
    checkArkCount({ horizon, beamWidth: settings.beamWidth });
  }
  const limit = countOf(flags.limit, '--limit');
  const dataset = loadDialogueDataset(data.dataset);
  const split = flags.data === undefined ? splitOf(flags.split) : undefined;
  const graph = await dataset.loadGraph(data.graph);
  const train = splitSamples(dataset, graph, data, 'train');
  const about: EvaluateOptions['about'] = {
    dataset: data.dataset,
    split: split ?? basename(flags.data!),
    turns: data.turns,
  };
  let samples: WalkSample[];
  if (split) samples = split === 'train' ? train : splitSamples(dataset, graph, data, split);
  else {
    const { samplesOfFile } = await import('../../datasets/opendialkg/read-dialogues.js');
    const { sha256File } = await import('../../src/run/files.js');
    samples = (await samplesOfFile(flags.data!, graph, data)).samples;
    about.hashes = { data: await sha256File(flags.data!) };
  }
  if (samples.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected samples, got none, at ${flags.data ?? `split ${split} of ${data.dataset}`}`,
      {
        hint: 'A sample is a path that somebody chose; see `kgwalk datasets stats`.',
      },
    );
  }
  const limited = limit !== undefined && limit < samples.length;
  if (limited) samples = sampled(samples, limit, 'evaluate/limit');
  const name = split ?? `data-${basename(flags.data!, extname(flags.data!)).replace(/[^\w.-]+/g, '-')}`;
  // What changes the figures is in the name, so that nothing replaces a plain evaluation unnoticed.
  const suffixes = [
    limited && `-limit${limit}`,
    flags.beamWidth !== undefined && `-beam${settings.beamWidth}`,
    flags.twoHopBonus !== undefined && `-bonus${settings.twoHopBonus}`,
  ];
  const label = name + suffixes.filter(Boolean).join('');
  const seenTargets = seenEntities(train);
  return { dataset, data, graph, train, samples, seenTargets, settings, horizon, count, about, label };
}

async function dataOf(flags: InputFlags, runs: readonly RunInfo[]): Promise<DataSettings> {
  const { dataSettings } = await import('../../datasets/settings.js');
  const { loadConfig } = await import('../../src/run/config.js');
  const asked = (['dataset', 'graph', 'turns'] as const).filter((key) => flags[key] !== undefined);
  const [first, ...others] = runs;
  if (!first)
    return loadConfig(dataSettings, { overrides: asked.map((key) => `${key}=${JSON.stringify(flags[key])}`) });
  const data = dataSettings.parse(first.config.data ?? {});
  for (const key of asked) {
    if (flags[key] === data[key]) continue;
    throw new WorkbenchError(
      'usage',
      `expected the ${key} of run ${first.id}, which is ${data[key]}, got ${flags[key]}`,
      {
        hint: `A run keeps its ${key}: leave --${key} out, or train a run on the other one.`,
      },
    );
  }
  for (const { id, config } of others) {
    const other = dataSettings.parse(config.data ?? {});
    if (JSON.stringify(other) === JSON.stringify(data)) continue;
    throw new WorkbenchError('usage', `expected runs of the same data, got ${first.id} and ${id}`, {
      hint: `One has ${Object.values(data).join(', ')}, the other ${Object.values(other).join(', ')}.`,
    });
  }
  return data;
}

async function settingsOf(flags: InputFlags, runs: readonly RunInfo[]): Promise<EvaluationSettings> {
  const { evaluationSettings } = await import('../../evaluation/settings.js');
  const { loadConfig } = await import('../../src/run/config.js');
  const overrides = (['beamWidth', 'twoHopBonus'] as const).flatMap((key) =>
    flags[key] === undefined ? [] : [`${key}=${flags[key]}`],
  );
  const text = JSON.stringify(runs[0]?.config.evaluation ?? {});
  return loadConfig(evaluationSettings, { text, overrides, source: 'evaluation settings' });
}

function splitOf(split = 'valid'): SplitName {
  if (split === 'train' || split === 'valid' || split === 'test') return split;
  throw new WorkbenchError('usage', `expected train, valid or test, got ${split}, at --split`);
}

/** @throws WorkbenchError `usage` for anything but a whole number from 1 */
function countOf(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new WorkbenchError('usage', `expected a whole number from 1, got ${text}, at ${flag}`);
}
