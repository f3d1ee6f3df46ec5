/** What a command on questions works on: which data set, split and sample, under which budget. */
import type { QuestionSample } from '../../datasets/question.js';
import type { HoldOut } from '../../datasets/questions/question-manifest.js';
import type { QuestionDataset } from '../../datasets/questions/question-dataset.js';
import type { Graph } from '../../src/kg/graph.js';
import type { NameIndex } from '../../src/kg/name-index.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { QuestionAbout, RunInfo } from '../../src/run/records.js';
import { datasetOf } from '../kind-of-work.js';

/** Options of `evaluate` and `compare` on questions, as commander gives them. */
export interface QuestionFlags {
  agent?: string;
  dataset?: string;
  split?: string;
  holdOut?: HoldOut;
  limit?: string;
  seed?: string;
  model?: string;
  budget?: string;
  budgetMode?: 'strict' | 'reference';
  choices?: 'written' | 'logprob';
  encoder?: string;
  checkpoint: string;
  set: string[];
  modelSet: string[];
  withholdHops?: boolean;
  /** Where evaluations are kept. */
  evaluations?: string;
  json?: boolean;
}

/** Calls a question may cost where nothing else is asked for: what FiSKE's paper grants every method. */
const defaultBudget = 30;

/** What all agents of a command share. */
export interface QuestionInputs extends QuestionGraph {
  samples: QuestionSample[];
  excluded: Record<string, number>;
  /** Without what differs between agents. */
  about: Omit<QuestionAbout, 'model' | 'simulated' | 'switches' | 'topicGiven'>;
  hopsGiven: boolean;
  hashes: { graph: string; dataset: string };
}

/** A graph to answer from, and what agents may learn from. */
export interface QuestionGraph {
  dataset: QuestionDataset;
  subsets: readonly string[];
  graph: Graph;
  names: NameIndex;
  /** The train part of all subsets of this graph: of one alone, the number of relations would be no secret. */
  train(): readonly QuestionSample[];
}

/**
 * Resolves flags and runs: a run keeps its data set, subsets and hold-out; flags may name other subsets of it.
 * @throws WorkbenchError `usage` for flags that say nothing that is there, `data` for an empty split
 */
export async function questionInputs(flags: QuestionFlags, runs: readonly RunInfo[]): Promise<QuestionInputs> {
  const { questionsHash } = await import('../../datasets/questions/question-manifest.js');
  const { drawQuestions } = await import('../../evaluation/questions/draw-questions.js');
  const limit = flags.limit === undefined ? undefined : wholeNumber(flags.limit, '--limit', 1);
  const seed = wholeNumber(flags.seed ?? '0', '--seed', 0);
  const budget = budgetOf(flags.budget);
  const data = dataOf(flags, runs);
  const opened = await openQuestionGraph(data.dataset, data.holdOut);
  const { dataset, subsets, graph } = opened;
  const select = { split: flags.split ?? 'valid', ...(data.holdOut && { holdOut: data.holdOut }) };
  const split = dataset.split(select);
  const all = dataset.questions(graph, { subsets, ...select });
  const { samples, excluded } = drawQuestions(all, limit);
  if (samples.length === 0) {
    throw new WorkbenchError('data', `expected questions, got none, at split ${split.name} of ${data.dataset}`, {
      hint: '`kgwalk datasets stats` shows what each split holds.',
    });
  }
  return {
    ...opened,
    samples,
    excluded,
    about: {
      dataset: dataset.manifest.name,
      ...(dataset.manifest.labels.length > 0 && { labels: dataset.manifest.labels }),
      graph: graph.name,
      subsets,
      split: split.name,
      holdOut: split.holdOut,
      ...(samples.length < all.length - (excluded['no gold answer'] ?? 0) && { limit: limit! }),
      seed,
      budget,
      budgetMode: flags.budgetMode ?? 'strict',
      ...(flags.choices === 'logprob' && { choices: flags.choices }),
      ...(flags.withholdHops && { hopsWithheld: true }),
    },
    hopsGiven: !flags.withholdHops,
    hashes: { graph: graph.hash, dataset: questionsHash(dataset.manifest) },
  };
}

/** @param name such as `metaqa/2-hop` */
export async function openQuestionGraph(name: string, holdOut?: HoldOut): Promise<QuestionGraph> {
  const { loadQuestionDataset, parseDatasetName } = await import('../../datasets/questions/question-dataset.js');
  const { NameIndex } = await import('../../src/kg/name-index.js');
  const { name: plain, subsets: wanted } = parseDatasetName(name);
  const dataset = loadQuestionDataset(plain);
  const subsets = wanted ?? dataset.subsets;
  const graph = await dataset.loadGraph(subsets);
  const ofSubset = dataset.manifest.subsets;
  const siblings = dataset.subsets.filter((subset) => ofSubset[subset]!.graph === ofSubset[subsets[0]!]!.graph);
  let train: readonly QuestionSample[] | undefined;
  return {
    dataset,
    subsets,
    graph,
    names: new NameIndex(graph, dataset.aliases(graph)),
    train: () =>
      (train ??= dataset.questions(graph, { subsets: siblings, split: 'train', ...(holdOut && { holdOut }) })),
  };
}

/** Data set, with its subsets behind a slash, and hold-out. */
function dataOf(flags: QuestionFlags, runs: readonly RunInfo[]): { dataset: string; holdOut?: HoldOut } {
  const [first, ...others] = runs.map(runData);
  if (!first) return { dataset: flags.dataset!, ...(flags.holdOut && { holdOut: flags.holdOut }) };
  for (const other of others) {
    if (other.name === first.name && other.holdOut === first.holdOut) continue;
    throw new WorkbenchError('usage', `expected runs of the same data, got ${first.id} and ${other.id}`, {
      hint: `One has ${first.name} held out by ${first.holdOut}, the other ${other.name} by ${other.holdOut}.`,
    });
  }
  if (flags.dataset !== undefined && flags.dataset.split('/')[0] !== first.name) {
    throw new WorkbenchError(
      'usage',
      `expected the data set of run ${first.id}, which is ${first.name}, got ${flags.dataset}`,
      {
        hint: 'A walker knows the relations of its own graph: leave --dataset out, or name other subsets of it.',
      },
    );
  }
  const holdOut = flags.holdOut ?? first.holdOut;
  if (holdOut !== first.holdOut) {
    throw new WorkbenchError(
      'usage',
      `expected the hold-out of run ${first.id}, which is ${first.holdOut}, got ${holdOut}`,
      {
        hint: 'What one hold-out tests, the other trained on.',
      },
    );
  }
  return { dataset: flags.dataset ?? first.dataset, holdOut };
}

function runData(run: RunInfo): { id: string; name: string; dataset: string; holdOut: HoldOut } {
  const { dataset: name, holdOut = 'question' } = run.config.data as { dataset: string; holdOut?: HoldOut };
  return { id: run.id, name, dataset: datasetOf(run)!, holdOut };
}

/** Calls a question may cost; null for none. @throws WorkbenchError `usage` */
export function budgetOf(text: string | undefined): number | null {
  if (text === undefined) return defaultBudget;
  if (text === 'none') return null;
  const calls = Number(text);
  if (Number.isInteger(calls) && calls >= 1) return calls;
  throw new WorkbenchError('usage', `expected a whole number of calls from 1, or none, got ${text}, at --budget`, {
    hint: 'One call is kept for the answer, so 1 leaves the answer alone.',
  });
}

/** @throws WorkbenchError `usage` for anything but a whole number from `least` */
export function wholeNumber(text: string, flag: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value;
  throw new WorkbenchError('usage', `expected a whole number from ${least}, got ${text}, at ${flag}`);
}
