/** Which questions a command asks: of which data set and split, under which budget. */
import { trainsModel } from '../../agents/relation-walker/settings.js';
import { basename } from 'node:path';
import { readCustomQuestions } from '../../datasets/custom/read-questions.js';
import type { QuestionSample } from '../../datasets/question.js';
import {
  loadQuestionDataset,
  parseDatasetName,
  type QuestionDataset,
} from '../../datasets/questions/question-dataset.js';
import { type HoldOut, questionsHash } from '../../datasets/questions/question-manifest.js';
import { sampleOf } from '../../datasets/questions/stored-question.js';
import type { AskedEvaluation } from '../../evaluation/keep.js';
import type { Graph } from '../../src/kg/graph.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { openRemoteGraph } from '../../src/kg/sparql/remote-graph.js';
import { isSparqlSource } from '../../src/kg/sparql/source.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import type { AboutEvaluation } from '../../src/run/evaluation.js';
import type { RunInfo } from '../../src/run/records.js';
import { sampled } from '../../src/run/seeds.js';
import { budgetOf, type DataFlags, type EvaluationFlags, wholeNumber } from '../flags.js';
import { datasetOf, sameOfRuns } from '../named-runs.js';
import type { Data } from '../task.js';

/** Bootstrap resamples behind every interval, and questions worked out for reports. */
const counted = { resamples: 2000, examples: 8 };

/** A graph to answer from, and what agents may learn from. */
export interface QuestionGraph {
  dataset: QuestionDataset;
  subsets: readonly string[];
  graph: Graph;
  names: NameIndex;
  /** The train part of all subsets of this graph: of one alone, the number of relations would be no secret. */
  train(): readonly QuestionSample[];
}

/** The questions that all agents of a command are asked. */
export interface QuestionData extends QuestionGraph, Data<QuestionSample> {
  about: AboutEvaluation & { budget: number | null };
  seed: number;
  /** Pass the number of relations to agents if the data set has it. */
  hopsGiven: boolean;
}

/**
 * Resolves flags and runs: a run keeps its data set, subsets and hold-out; flags may name other subsets of it, and another data set for
 * runs of any graph.
 * @throws WorkbenchError `usage` for flags that say nothing that is there, `data` for an empty split
 */
export async function questionData(flags: EvaluationFlags, runs: readonly RunInfo[]): Promise<QuestionData> {
  const limit = wholeNumber(flags.limit, '--limit', 1) ?? Infinity;
  const seed = wholeNumber(flags.seed ?? '0', '--seed', 0);
  const budget = budgetOf(flags.budget);
  const data = dataOf(flags, runs);
  const opened = await openQuestionGraph(data.dataset, data.holdOut, flags.graph);
  const { dataset, subsets, graph } = opened;
  const select = { split: flags.split ?? 'valid', ...(data.holdOut && { holdOut: data.holdOut }) };
  const { questions: file } = flags;
  const split = file === undefined ? dataset.split(select) : { name: basename(file), holdOut: undefined };
  const all =
    file === undefined ? dataset.questions(graph.local, { subsets, ...select }) : questionsOfFile(file, opened);
  const scored = all.filter(({ task, gold }) => task.form === 'truth' || gold.answers.length > 0);
  // The same for every agent, in the order of the data set.
  const samples = sampled(scored, limit, 'evaluate/questions');
  if (samples.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected questions, got none, at ${file ?? `split ${split.name} of ${data.dataset}`}`,
      {
        hint: '`kgwalk datasets stats` shows what each split holds.',
      },
    );
  }
  const { name, labels: ofDataset } = dataset.manifest;
  // Made questions are those of the data set, not those of a file.
  const labels = ofDataset.filter((label) => file === undefined || label !== 'generated');
  const withheld = flags.withholdHops === true || (flags.alike === true && runs.some(isUntold) && isTold(samples));
  return {
    ...opened,
    ...counted,
    samples,
    excluded: scored.length === all.length ? {} : { 'no gold answer': all.length - scored.length },
    about: {
      dataset: name,
      ...(labels.length > 0 && { labels: [...labels] }),
      graph: graph.name,
      subsets,
      split: split.name,
      holdOut: split.holdOut,
      ...(samples.length < scored.length && { limit }),
      seed,
      budget,
      budgetMode: flags.budgetMode ?? 'strict',
      ...(flags.choices !== undefined && flags.choices !== 'written' && { choices: flags.choices }),
      ...(withheld && { hopsWithheld: true }),
    },
    seed,
    hopsGiven: !withheld,
    hashes: {
      ...{ graph: graph.hash, dataset: questionsHash(dataset.manifest) },
      ...(file !== undefined && { questions: await sha256File(file) }),
    },
  };
}

/** The questions of a file in the format of custom ones, of all its splits. @throws WorkbenchError `data` that lists every broken line */
function questionsOfFile(file: string, { dataset, subsets, graph: { local: graph } }: QuestionGraph): QuestionSample[] {
  const aliases = new Map([...dataset.aliases(graph)].map(([entity, names]) => [graph.entityName(entity)!, names]));
  const files = readCustomQuestions(file, { graph, aliases, resolve: (name) => name });
  return Object.values(files).flatMap(({ questions }) =>
    questions.map((question) => sampleOf(question, subsets[0]!, graph, dataset.manifest.topicsReturn)),
  );
}

/** True for a run that is given no number of hops, and cannot be. */
const isUntold = ({ config }: RunInfo): boolean =>
  ![config.relationWalk, config.reader].some((of) => (of as { hops?: string } | undefined)?.hops === 'given');

const isTold = (samples: readonly QuestionSample[]) => samples.some(({ task }) => task.hops !== undefined);

/** The options that ask the questions of a kept evaluation. */
export function questionFlagsOf({ about, hashes }: AskedEvaluation): Partial<EvaluationFlags> {
  if (hashes.questions !== undefined) {
    throw new WorkbenchError('usage', 'expected an evaluation on a split, got one on a file, which is not kept');
  }
  const { dataset, graph, subsets, budgetMode, choices, beamWidth } = about;
  return {
    dataset: `${dataset}/${(subsets as string[]).join(',')}`,
    graph: isSparqlSource(graph) ? graph : undefined,
    holdOut: about.holdOut as HoldOut,
    seed: String(about.seed),
    budget: String(about.budget ?? 'none'),
    budgetMode,
    choices: choices === 'likelihood' ? choices : undefined,
    withholdHops: about.hopsWithheld === true || undefined,
    beamWidth: beamWidth === undefined ? undefined : String(beamWidth),
  };
}

/**
 * @param name such as `metaqa/2-hop`
 * @param remote `sparql:URL` of the graph that agents walk instead; questions keep the ids of the data set's own
 */
export async function openQuestionGraph(name: string, holdOut?: HoldOut, remote?: string): Promise<QuestionGraph> {
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
    graph: remote === undefined ? graph : await openRemoteGraph(remote, graph),
    names: new NameIndex(graph, dataset.aliases(graph)),
    train: () =>
      (train ??= dataset.questions(graph, { subsets: siblings, split: 'train', ...(holdOut && { holdOut }) })),
  };
}

/** Data set, with its subsets behind a slash, and hold-out. */
function dataOf(flags: DataFlags, runs: readonly RunInfo[]): { dataset: string; holdOut?: HoldOut } {
  const own = sameOfRuns(runs, ({ config }) => {
    const { dataset, holdOut = 'question' } = config.data as { dataset: string; holdOut?: HoldOut };
    return { dataset, holdOut };
  });
  if (!own) return { dataset: flags.dataset!, ...(flags.holdOut && { holdOut: flags.holdOut }) };
  const { id } = runs[0]!;
  const keeps = (what: string, has: string, got: string, hint: string) =>
    new WorkbenchError('usage', `expected the ${what} of run ${id}, which is ${has}, got ${got}`, { hint });
  if (flags.dataset !== undefined && flags.dataset.split('/')[0] !== own.dataset) {
    if (runs.every(({ config }) => trainsModel(config)))
      return { dataset: flags.dataset, ...(flags.holdOut && { holdOut: flags.holdOut }) };
    const hint = 'A walker uses the relations of its graph: leave --dataset out, or name other subsets of it.';
    throw keeps('data set', own.dataset, flags.dataset, hint);
  }
  if (flags.holdOut !== undefined && flags.holdOut !== own.holdOut) {
    throw keeps('hold-out', own.holdOut, flags.holdOut, 'What one hold-out tests, the other trained on.');
  }
  return { dataset: flags.dataset ?? datasetOf(runs[0]!)!, holdOut: own.holdOut };
}
