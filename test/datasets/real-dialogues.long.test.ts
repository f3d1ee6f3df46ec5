import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { type DialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { samplesOfFile } from '../../datasets/opendialkg/read-dialogues.js';
import { dialogueStatistics } from '../../datasets/dialogues/dialogue-statistics.js';
import { type SplitName, splitNames, type WalkSample, walkSamples } from '../../datasets/walk-sample.js';
import { walkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { countsByName, entityCounts, goldShareByCount } from '../../evaluation/leaks/count-shares.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { seenEntities } from '../../tasks/dialogues/row.js';
import { evaluatedDialogues } from '../fixtures/evaluated.js';
import { folderWith } from '../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write('skipped: OpenDialKG itself (set KGWALK_TEST_DATA to the folder that holds data/opendialkg)\n');

(shared ? describe : describe.skip)('OpenDialKG itself', () => {
  const from = join(shared ?? '', 'data', 'opendialkg');
  let dataset: DialogueDataset;
  let graph: Graph;
  let samples: Record<SplitName, WalkSample[]>;

  beforeAll(async () => {
    const home = folderWith({});
    await importOpenDialKg({ from, home });
    dataset = loadDialogueDataset('opendialkg', { home });
    graph = await dataset.loadGraph();
    const of = (split: SplitName) => walkSamples(dataset.loadDialogues(split), graph);
    samples = { train: of('train'), valid: of('valid'), test: of('test') };
  });

  test('has the known counts, and every dropped item is accounted for', () => {
    const { splits, leftOut, graphs } = dataset.manifest;
    expect([splits.train, splits.valid, splits.test].map(({ dialogues }) => dialogues)).toEqual([9097, 1027, 1043]);
    expect([splits.train, splits.valid, splits.test].map(({ paths }) => paths)).toEqual([20452, 2127, 2085]);
    const dropped = { 'blank field': 0, 'not contiguous': 0, 'empty path': 0, 'malformed path': 0 };
    expect(leftOut).toEqual({
      'train.csv': { paths: { ...dropped, 'blank field': 15 }, otherActions: 0 },
      'valid.csv': { paths: dropped, otherActions: 382 },
      'test.csv': { paths: { ...dropped, 'blank field': 2 }, otherActions: 383 },
    });
    expect(graphs.dialogue).toMatchObject({ entities: 10033, relations: 570, triples: 173128, blankLines: 0 });
    expect(graphs.dialogue!.note).toMatch(/entity-level counts leak/);
    expect(graphs.wide).toMatchObject({ triples: 546134, blankLines: 38 });
    expect(graphs.wide!.note).not.toMatch(/restricted/);
  });

  test('gives the known samples, misses included', () => {
    const counts = splitNames.map((split) => {
      const dialogues = dataset.loadDialogues(split);
      return {
        assistant: walkSamples(dialogues, graph, { turns: 'assistant' }).length,
        notInGraph: samples[split].filter(({ gold }) => !gold.inGraph).length,
        noEdges: samples[split].filter(({ task }) => graph.degree(task.start) === 0).length,
        nothingAfter: dialogues.flatMap(({ messages, paths }) =>
          paths.filter(({ position }) => position === messages.length),
        ).length,
      };
    });
    expect(counts).toMatchObject([
      { assistant: 13290, notInGraph: 73, noEdges: 28 },
      { assistant: 1373, notInGraph: 2, noEdges: 0, nothingAfter: 9 },
      { assistant: 1379, notInGraph: 9, noEdges: 5, nothingAfter: 9 },
    ]);
  });

  test('reads a split from its CSV exactly as imported', async () => {
    const read = await samplesOfFile(join(from, 'test.csv'), graph);
    expect(JSON.stringify(read.samples) === JSON.stringify(samples.test)).toBe(true);
  });

  test('has the known difficulty on both graphs', async () => {
    const { splits } = await dialogueStatistics(dataset);
    expect(splits.test.startDegree.mean).toBeCloseTo(42.9, 1);
    expect(splits.test.targetsSeenInTrain).toBeCloseTo(1704 / 2085, 6);
    expect(splits.valid.byHops).toEqual({ 1: 1528, 2: 599 });
    const wide = await dialogueStatistics(dataset, 'wide');
    expect(wide.splits.valid.startDegree).toMatchObject({ mean: expect.closeTo(71.9, 1), median: 19 });
    expect(wide.splits.test.startDegree).toMatchObject({ mean: expect.closeTo(68.8, 1), median: 22 });
  });

  test.each(['dialogue', 'wide'])(
    'edge policies leave the golds of graph %s that docs/how-to/import-data.md says',
    async (name) => {
      const walked = name === 'dialogue' ? graph : await dataset.loadGraph(name);
      const splits = splitNames.map((split) => walkSamples(dataset.loadDialogues(split), walked));
      const cells = (['full', 'topk-degree', 'ark'] as const).map((edgePolicy) => {
        const walks = walkGraph(walked, { edgePolicy, maxOut: 50 }, dataset).graph;
        const shares = splits.map((split) => split.filter(({ gold }) => walks.holds(gold.path)).length / split.length);
        return { walks, cell: shares.map((share) => (100 * share).toFixed(1)).join(' / ') };
      });
      const [, short, ark] = cells.map(({ walks }) => walks.numEdges);
      expect(ark).toBe(short);
      const row = [
        `\`${name}\``,
        ...cells.map(({ cell }) => cell),
        `${((100 * short!) / walked.numEdges).toFixed(1)} %`,
      ];
      const table = readFileSync(join(import.meta.dirname, '../../docs/how-to/import-data.md'), 'utf8').replace(
        / +/g,
        ' ',
      );
      expect(table).toContain(`| ${row.join(' | ')} |`);
    },
  );

  test('B-ARK-6: of LLM-ARK’s lists of 50 these edges stand there for a dialogue’s sake alone', () => {
    const walks = walkGraph(graph, { edgePolicy: 'ark', maxOut: 50 }, dataset);
    expect(walks.selection).toMatchObject({ entitiesCut: 234, brought: { train: 986, valid: 124, test: 113 } });
  });

  test('the entity count of train marks answers by being zero, the counts that walkers read do not', () => {
    const { train, valid } = samples;
    const entity = goldShareByCount(valid, graph, entityCounts(train));
    expect(entity.monotone).toBe(false);
    expect(entity.shares[0]!.goldShare).toBeGreaterThan(2 * entity.shares[1]!.goldShare);
    for (const [name, { of, over }] of Object.entries(countsByName)) {
      const { monotone } = goldShareByCount(valid, graph, of(train), 3, over);
      expect([name, monotone]).toEqual([name, name !== 'entity']);
    }
  });

  test('popularity and memory score what is known of them', async () => {
    const { train, valid } = samples;
    const settings = evaluationSettings.parse({ resamples: 50 });
    const some = valid.filter((_, i) => i % 10 === 0);
    const score = async (name: string) => {
      const agent = await dialogueAgents.create(name, { graph, train, ranking: settings } as never);
      const about = { dataset: 'opendialkg', split: 'valid', turns: 'all' };
      const options = { graph, settings, seenTargets: seenEntities(train), about };
      return (await evaluatedDialogues(agent, some, options)).record.metrics;
    };
    const popularity = await score('popularity');
    expect(popularity['path@1']!.value).toBeGreaterThan(0.12);
    expect(popularity['path@1']!.value).toBeLessThan(0.3);
    expect(popularity['path@25']!.value).toBeGreaterThan(0.68);
    expect((await score('memory'))['path@1']!.value).toBeGreaterThan(0.12);
  });
});
