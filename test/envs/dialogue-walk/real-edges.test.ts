import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import { loadDialogueDataset, type DialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { walkGraph } from '../../../envs/dialogue-walk/walk-graph.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write('skipped: edges of OpenDialKG (set KGWALK_TEST_DATA to the folder that holds data/opendialkg)\n');

(shared ? describe : describe.skip)('edge policies on OpenDialKG', () => {
  let dataset: DialogueDataset;

  beforeAll(async () => {
    const home = folderWith({});
    await importOpenDialKg({ from: join(shared!, 'data', 'opendialkg'), home });
    dataset = loadDialogueDataset('opendialkg', { home });
  });

  test.each(['dialogue', 'wide'])('leave the golds of graph %s that docs/data.md says', async (name) => {
    const graph = await dataset.loadGraph(name);
    const splits = (['train', 'valid', 'test'] as const).map((split) =>
      walkSamples(dataset.loadDialogues(split), graph),
    );
    const cells = (['full', 'topk-degree', 'ark'] as const).map((edgePolicy) => {
      const walks = walkGraph(graph, { edgePolicy, maxOut: 50 }, dataset).graph;
      const shares = splits.map(
        (samples) => samples.filter(({ gold }) => walks.holds(gold.path)).length / samples.length,
      );
      return { walks, cell: shares.map((share) => (100 * share).toFixed(1)).join(' / ') };
    });
    const [, short, ark] = cells.map(({ walks }) => walks.numEdges);
    expect(ark).toBe(short);
    const row = [`\`${name}\``, ...cells.map(({ cell }) => cell), `${((100 * short!) / graph.numEdges).toFixed(1)} %`];
    const table = readFileSync(join(import.meta.dirname, '../../../docs/data.md'), 'utf8').replace(/ +/g, ' ');
    expect(table).toContain(`| ${row.join(' | ')} |`);
  });

  test('B-ARK-6: of LLM-ARK’s lists of 50 these edges stand there for a dialogue’s sake alone', async () => {
    const walks = walkGraph(await dataset.loadGraph(), { edgePolicy: 'ark', maxOut: 50 }, dataset);
    expect(walks.selection).toMatchObject({ entitiesCut: 234, brought: { train: 986, valid: 124, test: 113 } });
  });
});
