import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type LinkRanker, scorerRanker, uniformWalk, walkRanker } from '../../../agents/link-agents.js';
import { compareEvaluations } from '../../../evaluation/compare.js';
import { foundEvaluation, keepEvaluation, readEvaluation } from '../../../evaluation/keep.js';
import type { LinkDataset } from '../../../datasets/links/link-dataset.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { linkQuestions, rankerAsker } from '../../../tasks/links/data.js';
import { linkMeasure, linkScorer } from '../../../tasks/links/score.js';
import { evaluatedLinks } from '../../fixtures/evaluated.js';
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
  return { name, ...(await evaluatedLinks(ranker, world, triples)) };
}
const walker = (...chain: string[]) => walkRanker(followsChain(graph, ...chain), graph, { beamWidth: 8, horizon: 2 });
const random = () => scorerRanker(uniformWalk(graph, 2), graph);

const byPooling = linkMeasure.views!;
const tested = ['mrr', 'hits@1', 'hits@3', 'hits@10'];

describe('a comparison on links', () => {
  test('differences of each direction are those of the figures', async () => {
    const [a, b] = [await evaluated('walker', walker('born_in', 'lies_in')), await evaluated('random', random())];
    const [comparison, ...rest] = compareEvaluations(linkMeasure, [a, b]);
    expect(rest).toEqual([]);
    const { agent, against, differences, slices } = comparison!;
    expect([agent, against]).toEqual(['walker', 'random']);
    expect(Object.keys(slices!)).toEqual(['direction=head', 'direction=tail']);
    const all = { both: differences, ...slices };
    for (const [slice, found] of Object.entries(all)) {
      const [own, others] = [a, b].map(({ record }) => (slice === 'both' ? record.metrics : record.slices[slice]!));
      expect(Object.keys(found)).toEqual(tested);
      for (const key of tested) {
        expect(found[key]!.value).toBeCloseTo(own![key]!.value - others![key]!.value, 12);
        expect(found[key]!.n).toBe(own!.mrr!.n);
      }
    }
    const [reversed] = compareEvaluations(linkMeasure, [a, b], {}, 0);
    expect(reversed!.differences.mrr!.value).toBeCloseTo(-differences.mrr!.value, 12);
    expect(reversed!.slices!['direction=tail']!.mrr!.value).toBeCloseTo(-slices!['direction=tail']!.mrr!.value, 12);
  });

  test('a walker stands twice: by its best walks, and by their sum', async () => {
    const one = await evaluated('w', walker('lives_in'));
    const [max, sum] = byPooling(one);
    expect(max).toBe(one);
    expect(sum!.name).toBe('w, summed');
    const tailOf = ({ record }: typeof one) => record.slices['direction=tail']!;
    expect(sum!.record.metrics.mrr).toEqual(one.record.metrics['sum-mrr']);
    expect(tailOf(sum!).mrr).toEqual(tailOf(one)['sum-mrr']);
    expect(tailOf(sum!).mrr).not.toEqual(tailOf(one).mrr);
    const [difference] = compareEvaluations(linkMeasure, [sum!, max!]);
    const wanted = tailOf(sum!).mrr!.value - tailOf(max!).mrr!.value;
    expect(difference!.slices!['direction=tail']!.mrr!.value).toBeCloseTo(wanted, 12);
    expect(byPooling(await evaluated('random', random()))).toHaveLength(1);
  });

  test('refuses other queries and other data', async () => {
    const one = await evaluated('one', random());
    const other = await evaluated('other', random(), tiny.test);
    const compare = (...named: (typeof one)[]) => compareEvaluations(linkMeasure, named);
    expect(() => compare(other, one)).toThrow(/expected the questions of one, got others, at other/);
    const elsewhere = { ...one, record: { ...one.record, hashes: { ...one.record.hashes, dataset: 'e' } } };
    expect(() => compare(elsewhere, one)).toThrow(/got others/);
    // As many triples of valid: indices alone do not separate them from those of test.
    const valid = { ...one, record: { ...one.record, split: 'valid' } };
    expect(() => compare(valid, one)).toThrow(/got others/);
  });
});

describe('kept evaluations', () => {
  test('are read as they were saved; a name that is none is refused', async () => {
    const root = folderWith({});
    const folder = join(root, 'random-tiny');
    const dataset = { ...world, test: tiny.test, manifest: { name: 'tiny', files: {} } } as unknown as LinkDataset;
    const data = linkQuestions(dataset, 'test', tiny.test, { directions: ['tail', 'head'], horizon: 2 });
    const asked = {
      ...({ schemaVersion: 2, kind: 'evaluation', task: 'links', agent: 'random', resamples: 50 } as const),
      ...{ about: data.about, hashes: { ...data.hashes } },
    };
    const ranker = rankerAsker(walker('born_in'), dataset);
    const { record, rows } = await keepEvaluation(ranker, data.samples, linkScorer(world, 2), { asked, folder });
    expect(foundEvaluation(folder, root)).toBe(folder);
    expect(foundEvaluation('random-tiny', root)).toBe(folder);
    expect(readEvaluation(folder, linkMeasure)).toEqual({ folder, record, rows });
    expect(foundEvaluation('nothing', root)).toBeUndefined();
    expect(() => readEvaluation('nothing', linkMeasure, root)).toThrow(expect.objectContaining({ code: 'data' }));
  });
});
