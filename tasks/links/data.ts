/** Which link queries a command asks: of which data, which triples, in which directions. */
import { setImmediate } from 'node:timers/promises';
import type { LinkRanker, RankedQuestion } from '../../agents/link-ranker.js';
import { type LinkDataset, linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { linkWalkSettings } from '../../envs/settings.js';
import type { AskedEvaluation } from '../../evaluation/keep.js';
import type { AgentRunner, AskOptions } from '../../evaluation/score.js';
import { sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { RunInfo } from '../../src/run/records.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { type DataFlags, type EvaluationFlags, splitOf, wholeNumber } from '../flags.js';
import { datasetOf, sameOfRuns } from '../named-runs.js';
import type { Data } from '../task.js';
import { answerDistances } from './distances.js';
import { type AskedDirection, queriesOf, questionsOf } from '../../agents/link-ranks.js';
import type { LinkSample } from './score.js';

/** Everything that is ranked, loaded. */
export interface LinkData extends Data<LinkSample> {
  dataset: LinkDataset;
  /** Steps of a walk: those of the last run, else the default; how far answers are looked for. */
  horizon: number;
}

/**
 * @param runs must have been trained on one data set, which they keep
 * @throws WorkbenchError `usage` for flags that contradict a run or each other, `data` for an empty split
 */
export async function linkData(flags: EvaluationFlags, runs: readonly RunInfo[]): Promise<LinkData> {
  const hint = 'The triples of train are the edges that are walked: asked for, they would be found at once.';
  const split = splitOf(flags.split ?? 'valid', ['valid', 'test'], hint);
  const limit = wholeNumber(flags.limit, '--limit', 1) ?? Infinity;
  const name = linkDatasetName(flags.dataset, runs);
  const dataset = await loadLinkDataset(name);
  const all = dataset[split];
  const count = all.heads.length;
  if (count === 0) {
    throw new WorkbenchError('data', `expected triples, got none, at split ${split} of ${name}`, {
      hint: 'Counts of each split: `kgwalk datasets stats`.',
    });
  }
  const directions = directionsOf(flags.direction, runs);
  const { horizon: usual } = linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
  const horizon = (flags.kept?.about.reach as number | undefined) ?? usual;
  return {
    ...linkQuestions(dataset, split, sampledTriples(all, limit, 'evaluate/limit'), { directions, horizon }),
    ...{ resamples: 2000, examples: 12 },
  };
}

/** The queries of some triples. @param horizon how far answers are looked for */
export function linkQuestions(
  dataset: LinkDataset,
  split: 'valid' | 'test',
  triples: TripleColumns,
  { directions, horizon }: { directions: readonly AskedDirection[]; horizon: number },
): Omit<LinkData, 'resamples' | 'examples'> {
  const limit = triples.heads.length;
  return {
    ...{ dataset, horizon },
    samples: directions.flatMap((direction) => samplesOf(dataset, triples, direction, horizon)),
    excluded: {},
    about: {
      dataset: dataset.manifest.name,
      graph: dataset.graph.name,
      split,
      ...(limit < dataset[split].heads.length && { limit }),
      directions: [...directions],
      reach: horizon,
    },
    hashes: { graph: dataset.graph.hash, dataset: linksHash(dataset.manifest) },
  };
}

function samplesOf({ graph }: LinkDataset, triples: TripleColumns, direction: AskedDirection, horizon: number) {
  const queries = queriesOf(graph, triples, direction);
  const distances = answerDistances(graph, queries, horizon);
  return Array.from(distances, (distance, i): LinkSample => ({
    task: { id: `${direction}/${i}`, head: queries.heads[i]!, relation: queries.relations[i]! },
    ...{ direction, answer: queries.tails[i]!, distance },
  }));
}

/** Ranks each question (head, relation) once for all triples that share it. */
export function rankerAsker(
  ranker: LinkRanker,
  { graph }: LinkDataset,
  note?: string,
  useCalls?: (openCalls: AskOptions['openCalls']) => void,
): AgentRunner<LinkSample['task'], RankedQuestion> {
  return {
    name: ranker.name,
    note,
    prompted: useCalls !== undefined,
    async ask(tasks, take, { openCalls, onPrepared, signal }) {
      useCalls?.(openCalls);
      onPrepared?.();
      const heads = Int32Array.from(tasks, ({ head }) => head);
      const relations = Int32Array.from(tasks, ({ relation }) => relation);
      const questions = questionsOf({ heads, relations, tails: heads }, graph.numRelations);
      for (let begin = 0; begin < questions.length; begin += ranker.batchSize) {
        throwIfStopped(signal);
        const batch = questions.slice(begin, begin + ranker.batchSize);
        await ranker.rank(batch, (i, answer) => {
          for (const index of batch[i]!.queries) take(index, { answer });
        });
        await setImmediate(); // lets Ctrl-C through
      }
    },
  };
}

/** The options that ask the queries of a kept evaluation. */
export function linkFlagsOf({ about }: AskedEvaluation): Partial<EvaluationFlags> {
  const { dataset, directions, beamWidth, budget, budgetMode, choices } = about;
  const [first, second] = directions as AskedDirection[];
  return {
    ...{ dataset, direction: second ? 'both' : first! },
    ...(beamWidth !== undefined && { beamWidth: String(beamWidth) }),
    ...(budget !== undefined && { budget: String(budget ?? 'none'), budgetMode }),
    choices: choices === 'likelihood' ? choices : undefined,
  };
}

/**
 * The one that was named, else the data set of the runs.
 * @throws WorkbenchError `usage` for none, and for runs of another one that know entities by their vectors
 */
export function linkDatasetName(named: string | undefined, runs: readonly RunInfo[]): string {
  const own = sameOfRuns(runs, (run) => datasetOf(run)!);
  const moves = runs.every(({ config }) => config.exactWalker !== undefined);
  if (own !== undefined && named !== undefined && named !== own && !moves) {
    throw new WorkbenchError('usage', `expected the data set of run ${runs[0]!.id}, which is ${own}, got ${named}`, {
      hint: 'Vectors of its entities are of no use elsewhere: leave --dataset out. Exact walkers alone go to other data sets.',
    });
  }
  const name = named ?? own;
  if (name !== undefined) return name;
  throw new WorkbenchError('usage', 'expected a data set of links, got none, at --dataset', {
    hint: 'What is imported: `kgwalk datasets list`.',
  });
}

/** Both, unless all runs were trained on tails alone. */
function directionsOf(direction: DataFlags['direction'], runs: readonly RunInfo[]): AskedDirection[] {
  if (direction !== undefined) return direction === 'both' ? ['tail', 'head'] : [direction];
  const tailsAlone = runs.map(({ config }) => !linkWalkSettings.parse(config.linkWalk ?? {}).bothDirections);
  return runs.length > 0 && tailsAlone.every(Boolean) ? ['tail'] : ['tail', 'head'];
}
