import { describe, expect, test } from '@jest/globals';
import { type LinkRanker, scorerRanker, uniformWalk, walkRanker } from '../../../agents/link-agents.js';
import { byPooling, compareLinkEvaluations } from '../../../evaluation/links/compare-links.js';
import { evaluateLinkRanker } from '../../../evaluation/links/evaluate-links.js';
import {
  isLinkEvaluation,
  readLinkEvaluation,
  saveLinkEvaluation,
} from '../../../evaluation/links/save-link-evaluation.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { followsChain } from '../../fixtures/scripted-link-actor.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const tiny = tinyLinkWorld();
const { graph } = tiny;
const plain = graph.numRelations / 2;
const world = {
  graph,
  labels: graph.entityNames,
  known: withInverses(tiny.known, plain),
  trainKnown: withInverses(knownAnswers([tiny.train]), plain),
};

async function evaluated(name: string, ranker: LinkRanker, triples = tiny.train) {
  const about = { agent: ranker.name, dataset: 'tiny', split: 'x', hashes: { graph: graph.hash, dataset: 'd' } };
  return { name, ...(await evaluateLinkRanker(ranker, world, triples, { about, directions: ['tail', 'head'] })) };
}
const walker = (...chain: string[]) => walkRanker(followsChain(graph, ...chain), graph, { beamWidth: 8, horizon: 2 });
const random = () => scorerRanker(uniformWalk(graph, 2), graph);

describe('compareLinkEvaluations', () => {
  test('differences of each direction are those of the figures', async () => {
    const [a, b] = [await evaluated('walker', walker('born_in', 'lies_in')), await evaluated('random', random())];
    const comparisons = compareLinkEvaluations([a, b]);
    expect(comparisons.map(({ direction }) => direction)).toEqual(['tail', 'head', 'both']);
    for (const { direction, agent, against, differences } of comparisons) {
      expect([agent, against]).toEqual(['walker', 'random']);
      for (const key of ['mrr', 'hits@1', 'hits@3', 'hits@10']) {
        const wanted = a.record.directions[direction]![key]!.value - b.record.directions[direction]![key]!.value;
        expect(differences[key]!.value).toBeCloseTo(wanted, 12);
        expect(differences[key]!.n).toBe(a.record.directions[direction]!.mrr!.n);
      }
    }
    const [reversed] = compareLinkEvaluations([a, b], {}, 0);
    expect(reversed!.differences.mrr!.value).toBeCloseTo(-comparisons[0]!.differences.mrr!.value, 12);
  });

  test('a walker stands twice: by its best walks, and by their sum', async () => {
    const one = await evaluated('w', walker('lives_in'));
    const [max, sum] = byPooling(one);
    expect(max).toBe(one);
    expect(sum!.name).toBe('w, summed');
    expect(sum!.record.directions.tail!.mrr).toEqual(one.record.directions.tail!['sum-mrr']);
    expect(sum!.record.directions.tail!.mrr).not.toEqual(one.record.directions.tail!.mrr);
    const [difference] = compareLinkEvaluations([sum!, max!]);
    const wanted = sum!.record.directions.tail!.mrr!.value - max!.record.directions.tail!.mrr!.value;
    expect(difference!.differences.mrr!.value).toBeCloseTo(wanted, 12);
    expect(byPooling(await evaluated('random', random()))).toHaveLength(1);
  });

  test('refuses other queries and other data', async () => {
    const one = await evaluated('one', random());
    const other = await evaluated('other', random(), tiny.test);
    expect(() => compareLinkEvaluations([other, one])).toThrow(/expected the queries of one, got others, at other/);
    const elsewhere = { ...one, record: { ...one.record, hashes: { ...one.record.hashes, dataset: 'e' } } };
    expect(() => compareLinkEvaluations([elsewhere, one])).toThrow(/got others/);
  });
});

describe('kept evaluations', () => {
  test('are read as they were saved; a name that is none is refused', async () => {
    const root = folderWith({});
    const { record, rows } = await evaluated('random', random());
    const folder = await saveLinkEvaluation({ record, rows }, root);
    expect(isLinkEvaluation(folder, root)).toBe(true);
    expect(await readLinkEvaluation(folder)).toEqual({ record, rows });
    expect(isLinkEvaluation('nothing', root)).toBe(false);
    await expect(readLinkEvaluation('nothing', root)).rejects.toMatchObject({ code: 'data' });
  });
});
