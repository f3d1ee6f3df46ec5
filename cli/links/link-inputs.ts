/** What `evaluate` and `compare` on links share: which data, which triples, asked in which directions. */
import type { LinkDataset } from '../../datasets/links/link-dataset.js';
import type { AskedDirection } from '../../evaluation/links/link-queries.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { RunInfo } from '../../src/run/records.js';
import { datasetOf } from '../kind-of-work.js';

/** The options of commands on links. */
export interface LinkFlags {
  dataset?: string;
  split?: string;
  limit?: string;
  checkpoint: string;
  beamWidth?: string;
  backend?: string;
  threads?: string;
  direction?: 'tail' | 'head' | 'both';
  config?: string;
  evaluations?: string;
  json?: boolean;
}

/** Everything that is ranked, loaded. */
export interface LinkInputs {
  dataset: LinkDataset;
  split: 'valid' | 'test';
  triples: TripleColumns;
  /** Set where the triples are a sample of the split. */
  limit?: number;
  directions: AskedDirection[];
  /** Names what was asked and how, in file names: `test`, `valid-limit500`, `test-beam32`. */
  label: string;
}

/**
 * @param runs must have been trained on one data set, which they keep
 * @throws WorkbenchError `usage` for flags that contradict a run or each other, `data` for an empty split
 */
export async function linkInputs(flags: LinkFlags, runs: readonly RunInfo[]): Promise<LinkInputs> {
  const { loadLinkDataset } = await import('../../datasets/links/link-dataset.js');
  const { sampledTriples } = await import('../../src/kg/graph.js');
  const split = splitOf(flags.split);
  const limit = flags.limit === undefined ? undefined : wholeNumber(flags.limit, '--limit');
  const name = linkDatasetName(flags.dataset, runs);
  const dataset = await loadLinkDataset(name);
  const all = dataset[split];
  const count = all.heads.length;
  if (count === 0) {
    throw new WorkbenchError('data', `expected triples, got none, at split ${split} of ${name}`, {
      hint: 'Counts of each split: `kgwalk datasets stats`.',
    });
  }
  const limited = limit !== undefined && limit < count;
  const directions = await directionsOf(flags.direction, runs);
  const suffixes = [
    limited && `-limit${limit}`,
    flags.beamWidth !== undefined && `-beam${flags.beamWidth}`,
    directions.length === 1 && `-${directions[0]}`,
  ];
  return {
    dataset,
    split,
    triples: limited ? sampledTriples(all, limit, 'evaluate/limit') : all,
    ...(limited && { limit }),
    directions,
    label: split + suffixes.filter(Boolean).join(''),
  };
}

/**
 * The data set of the runs, else the one that was named.
 * @throws WorkbenchError `usage` for none, and for runs of another one
 */
export function linkDatasetName(named: string | undefined, runs: readonly RunInfo[]): string {
  const [first, ...others] = runs;
  if (!first) {
    if (named !== undefined) return named;
    throw new WorkbenchError('usage', 'expected a data set of links, got none, at --dataset', {
      hint: 'What is imported: `kgwalk datasets list`.',
    });
  }
  const own = datasetOf(first)!;
  if (named !== undefined && named !== own) {
    throw new WorkbenchError('usage', `expected the data set of run ${first.id}, which is ${own}, got ${named}`, {
      hint: 'A run keeps its data set: leave --dataset out.',
    });
  }
  const other = others.find((run) => datasetOf(run) !== own);
  if (!other) return own;
  throw new WorkbenchError('usage', `expected runs of the same data, got ${first.id} and ${other.id}`, {
    hint: `One has ${own}, the other ${datasetOf(other)}.`,
  });
}

/** @throws WorkbenchError `usage` for anything but a whole number from 1 */
export function wholeNumber(text: string, flag: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new WorkbenchError('usage', `expected a whole number from 1, got ${JSON.stringify(text)}, at ${flag}`);
}

function splitOf(split = 'valid'): 'valid' | 'test' {
  if (split === 'valid' || split === 'test') return split;
  throw new WorkbenchError('usage', `expected valid or test, got ${split}, at --split`, {
    hint: 'The triples of train are the edges that are walked: asked for, they would be found at once.',
  });
}

/** Both, unless all runs were trained on tails alone. */
async function directionsOf(direction: LinkFlags['direction'], runs: readonly RunInfo[]): Promise<AskedDirection[]> {
  if (direction !== undefined) return direction === 'both' ? ['tail', 'head'] : [direction];
  const { linkWalkSettings } = await import('../../envs/settings.js');
  const tailsAlone = runs.map(({ config }) => !linkWalkSettings.parse(config.linkWalk ?? {}).bothDirections);
  return runs.length > 0 && tailsAlone.every(Boolean) ? ['tail'] : ['tail', 'head'];
}

/** The same triples for every agent, in the order of the split. */
