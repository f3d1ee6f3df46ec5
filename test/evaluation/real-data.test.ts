import { join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { countsByName, entityCounts, goldShareByCount } from '../../evaluation/leaks/count-shares.js';
import { evaluationSettings } from '../../evaluation/settings.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { readTriples } from '../../src/kg/read-triples.js';
import { seenEntities } from '../../tasks/dialogues/row.js';
import { evaluatedDialogues } from '../fixtures/evaluated.js';

const root = env.KGWALK_TEST_DATA;
const onRealData = root === undefined ? describe.skip : describe;
if (root === undefined)
  process.stderr.write('skipped: real data; set KGWALK_TEST_DATA to a folder with data/opendialkg\n');

async function load() {
  const folder = join(root!, 'data', 'opendialkg');
  const builder = new GraphBuilder();
  await readTriples(join(folder, 'opendialkg_triples.txt'), {}, (head, relation, tail) =>
    builder.add(head, relation, tail),
  );
  const graph = builder.build('dialogue');
  const samples = async (split: string) =>
    walkSamples((await readDialogues(join(folder, `${split}.csv`))).dialogues, graph);
  return { graph, train: await samples('train'), valid: await samples('valid') };
}

onRealData('on OpenDialKG', () => {
  let data: Awaited<ReturnType<typeof load>>;
  beforeAll(async () => {
    data = await load();
  });

  test('the entity count of train marks answers by being zero, the counts that walkers read do not', () => {
    const { graph, train, valid } = data;
    const entity = goldShareByCount(valid, graph, entityCounts(train));
    expect(entity.monotone).toBe(false);
    expect(entity.shares[0]!.goldShare).toBeGreaterThan(2 * entity.shares[1]!.goldShare);
    for (const [name, { of, over }] of Object.entries(countsByName)) {
      const { monotone } = goldShareByCount(valid, graph, of(train), 3, over);
      expect([name, monotone]).toEqual([name, name !== 'entity']);
    }
  });

  test('popularity and memory score what is known of them', async () => {
    const { graph, train, valid } = data;
    const settings = evaluationSettings.parse({ resamples: 50 });
    const samples = valid.filter((_, i) => i % 10 === 0);
    const score = async (name: string) => {
      const agent = await dialogueAgents.create(name, { graph, train, ranking: settings } as never);
      const about = { dataset: 'opendialkg', split: 'valid', turns: 'all' };
      const options = { graph, settings, seenTargets: seenEntities(train), about };
      return (await evaluatedDialogues(agent, samples, options)).record.metrics;
    };
    const popularity = await score('popularity');
    expect(popularity['path@1']!.value).toBeGreaterThan(0.12);
    expect(popularity['path@1']!.value).toBeLessThan(0.3);
    expect(popularity['path@25']!.value).toBeGreaterThan(0.68);
    expect((await score('memory'))['path@1']!.value).toBeGreaterThan(0.12);
  });
});
