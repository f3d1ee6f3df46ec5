import { beforeAll, describe, expect, test } from '@jest/globals';
import { importLinks } from '../../datasets/links/import-links.js';
import { loadLinkDataset, type LinkDataset } from '../../datasets/links/link-dataset.js';
import { linkLeaks } from '../../tasks/links/leaks.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import { tinyLinkFiles } from '../fixtures/tiny-links.js';
import { folderWith } from '../fixtures/tiny-release.js';

let clean: LinkDataset;
/** One triple of test stands in train, too, and train knows the pair of another the other way round. */
let overlapping: LinkDataset;

async function imported(files: Record<string, string>): Promise<LinkDataset> {
  const home = folderWith({});
  await importLinks({ from: folderWith(files), name: 'tiny', home, allowOverlap: true });
  return loadLinkDataset('tiny', { home });
}

beforeAll(async () => {
  clean = await imported(tinyLinkFiles);
  const [first, second] = tinyLinkFiles['test.txt']!.split('\n') as [string, string];
  const [head, relation, tail] = second.split('\t') as [string, string, string];
  const train = `${tinyLinkFiles['train.txt']}${first}\n${[tail, relation, head].join('\t')}\n`;
  overlapping = await imported({ ...tinyLinkFiles, 'train.txt': train });
});

const recordOf = (
  { graph }: LinkDataset,
  split = 'train',
  kind: 'training' | 'choice' | 'normaliser' = 'training',
): ProvenanceRecord => ({
  schemaVersion: 1,
  sets: {},
  artifacts: [
    { kind: 'edge list', name: 'graph train', facts: { hash: graph.hash } },
    { kind: 'embedding', name: 'TransE', facts: { graph: graph.hash, train: 30, 'held out': 2 } },
    { kind, name: 'it', facts: { graph: graph.hash, split } },
  ],
});

const check = (record: ProvenanceRecord, split: 'valid' | 'test', dataset = clean) =>
  linkLeaks(dataset, split, {
    agents: [{ of: 'run', own: true, record }],
    expected: ['edge list', 'training: cloning'],
  });
const verdicts = (...args: Parameters<typeof check>) => check(...args).artifacts.map(({ verdict }) => verdict);

describe('what a run over links knows of a split', () => {
  test('a clean one contains nothing of test, and choices made on valid are reported', () => {
    const report = check(recordOf(clean), 'test');
    expect(report).toMatchObject({ triples: 2, edges: 0, found: [], notNoted: ['training: cloning'] });
    expect(report.artifacts.map(({ madeFrom, verdict }) => [madeFrom, verdict])).toEqual([
      ['edges of train', 'none found'],
      ['edges of train; valid chose the epoch', 'none found'],
      ['train', 'none found'],
    ]);
    expect(verdicts(recordOf(clean), 'valid')).toEqual(['none found', 'allowed', 'none found']);
    for (const kind of ['choice', 'normaliser'] as const) {
      expect(verdicts(recordOf(clean, 'valid', kind), 'valid')[2]).toBe('allowed');
      expect(verdicts(recordOf(clean, 'test', kind), 'test')[2]).toBe('found');
    }
  });

  test('training on the split is found', () => {
    expect(check(recordOf(clean, 'valid'), 'valid').found).toEqual(['training "it": made from valid']);
    expect(check(recordOf(clean, 'test'), 'test').found).toEqual(['training "it": made from test']);
  });

  test('triples of the split among the edges are found; inverse pairs are reported', () => {
    const report = check(recordOf(overlapping), 'test', overlapping);
    expect(report).toMatchObject({ edges: 1, reversed: 1, symmetric: 1 });
    expect(report.found).toEqual(['graph train: 1 of 2 triples of test are edges of train']);
  });

  test('what belongs to another graph is not known', () => {
    expect(verdicts(recordOf(overlapping), 'test')).toEqual(['not known', 'not known', 'not known']);
  });
});
