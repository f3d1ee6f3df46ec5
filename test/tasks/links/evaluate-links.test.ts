import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { tableFromIPC } from 'apache-arrow';
import { uniformWalk } from '../../../agents/link-agents.js';
import { type LinkRanker, scorerRanker, walkRanker } from '../../../agents/link-ranker.js';
import type { LinkDataset } from '../../../datasets/links/link-dataset.js';
import { compareEvaluations } from '../../../evaluation/compare.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { Graph, inverseName } from '../../../src/kg/graph.js';
import { evaluationRecord } from '../../../src/run/evaluation.js';
import { readJsonLines } from '../../../src/run/json-lines.js';
import { Rng } from '../../../src/run/seeds.js';
import { foundEvaluation, keepEvaluation, readEvaluation, rowLine } from '../../../evaluation/keep.js';
import { linkQuestions, rankerAsker } from '../../../tasks/links/data.js';
import { answerDistances, tooFar } from '../../../tasks/links/distances.js';
import { linkArrow, linkRow } from '../../../tasks/links/row.js';
import { ruleRankings } from '../../../agents/rules/kept-rules.js';
import { ruleBaseline } from '../../../tasks/links/rules.js';
import { linkMeasure, linkScorer } from '../../../tasks/links/score.js';
import { evaluatedLinks } from '../../fixtures/evaluated.js';
import { followsChain } from '../../fixtures/scripted-link-actor.js';
import { tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { columnsOf, type Ids } from '../../fixtures/triple-columns.js';

const tiny = tinyLinkWorld();
const { graph } = tiny;
const labels = graph.entityNames.map((id) => tinyLinkNames[id] ?? id);
const plain = graph.numRelations / 2;
const world = {
  graph,
  labels,
  known: withInverses(tiny.known, plain),
  trainKnown: withInverses(knownAnswers([tiny.train]), plain),
};

const none = { heads: new Int32Array(0), relations: new Int32Array(0), tails: new Int32Array(0) };

describe('answerDistances', () => {
  /** By walking breadth first, the query's own edge cut out of a copy. */
  function plainDistance(g: Graph, [head, relation, answer]: readonly [number, number, number], most: number): number {
    const cut = (from: number, by: number, to: number) =>
      (from === head && by === relation && to === answer) ||
      (from === answer && by === g.inverseOf[relation] && to === head);
    let at = new Set([head]);
    for (let distance = 0; distance <= most; distance++) {
      if (at.has(answer)) return distance;
      const next = new Set(at);
      for (const from of at) {
        for (let edge = g.offsets[from]!; edge < g.offsets[from + 1]!; edge++) {
          if (!cut(from, g.relations[edge]!, g.tails[edge]!)) next.add(g.tails[edge]!);
        }
      }
      at = next;
    }
    return tooFar;
  }

  test.each([1, 2, 3, 4])('are those of a plain search without the own edge, up to %i', (most) => {
    const rng = Rng.named(5, 'test/distances');
    const draw = (n: number, count: number) => Int32Array.from({ length: count }, () => rng.integer(n));
    const [heads, relations, tails] = [draw(20, 22), draw(2, 22), draw(20, 22)];
    const sparse = new Graph(
      'sparse',
      Array.from({ length: 20 }, (_, i) => `e${i}`),
      ['a', 'b', '~a', '~b'],
      {
        heads: Int32Array.of(...heads, ...tails),
        relations: Int32Array.of(...relations, ...relations.map((r) => r + 2)),
        tails: Int32Array.of(...tails, ...heads),
      },
    );
    const asked = {
      heads: Int32Array.of(...heads, ...draw(20, 60)),
      relations: Int32Array.of(...relations, ...draw(4, 60)),
      tails: Int32Array.of(...tails, ...draw(20, 60)),
    };
    const found = answerDistances(sparse, asked, most);
    const wanted = Array.from(asked.heads, (head, i) =>
      plainDistance(sparse, [head, asked.relations[i]!, asked.tails[i]!], most),
    );
    expect([...found]).toEqual(wanted);
    expect(new Set(wanted).size).toBeGreaterThan(2);
  });
});

describe('an evaluation of link queries', () => {
  const right = walkRanker(followsChain(graph, 'born_in', 'lies_in'), graph, { beamWidth: 8, horizon: 2 });

  test('a walker that knows the rule is right on tails; figures of each direction and both', async () => {
    const { record, rows } = await evaluatedLinks(right, world, tiny.test);
    const { 'direction=tail': tail, 'direction=head': head } = record.slices;
    const both = record.metrics;
    expect(tail).toMatchObject({
      mrr: { value: 1, low: expect.closeTo(0.3424, 4), high: 1, n: 2 },
      'hits@1': { value: 1 },
      'sum-mrr': { value: 1 },
      reached: { value: 1 },
      'reachable@1': { value: 0 },
      'reachable@2': { value: 1 },
    });
    expect(head!.mrr!.value).toBeLessThan(1);
    expect(both.mrr!.value).toBeCloseTo((tail!.mrr!.value + head!.mrr!.value) / 2, 12);
    expect(both.mrr!.n).toBe(4);
    expect(record).toMatchObject({ n: 4, details: { unseen: { entities: 0, relations: 0 } }, cost: {} });
    expect(evaluationRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
    expect(rows.map(({ direction }) => direction)).toEqual(['tail', 'tail', 'head', 'head']);
  });

  test('keeps the chains that were used and queries worked out in names', async () => {
    const { record } = await evaluatedLinks(right, world, tiny.test, { directions: ['tail'] });
    expect(record.slices).toEqual({});
    expect(record.metrics.mrr!.n).toBe(2);
    expect(record.details.chains).toEqual([
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 2, precision: 1 },
    ]);
    expect(record.examples).toHaveLength(2);
    const example = record.examples.find(({ id }) => id === 'tail/0')!;
    expect(example).toMatchObject({
      asked: ['(Ivy Stone, citizen_of, ?)'],
      gold: ['Northland'],
      right: true,
      rank: 1,
    });
    expect(example.answers[0]).toMatchObject({
      text: 'Ivy Stone -[born_in]-> Glass Harbor -[lies_in]-> Northland',
      right: true,
      score: expect.not.stringContaining('known'),
    });
    expect(example.walks![0]).toEqual([
      ['Ivy Stone', 'born_in', 'Glass Harbor'],
      ['Glass Harbor', 'lies_in', 'Northland'],
    ]);
  });

  test('a question that train answers is shown by the first answer beyond it', async () => {
    // p0 is a citizen of c0 in train; asked for heads of c0, those known from train are passed over.
    const walker = walkRanker(followsChain(graph, '~citizen_of'), graph, { beamWidth: 8, horizon: 1 });
    const { record } = await evaluatedLinks(walker, world, tiny.test, { directions: ['head'] });
    expect(record.details.chains).toEqual([{ relation: '~citizen_of', chain: [], uses: 1, right: 0, precision: 0 }]);
  });

  test('walks at random: what they know is where one can get', async () => {
    const random = scorerRanker(uniformWalk(graph, 2), graph);
    const { record } = await evaluatedLinks(random, world, tiny.test);
    const tail = record.slices['direction=tail']!;
    expect(tail.mrr!.value).toBeGreaterThan(1 / 16);
    expect(tail.mrr!.value).toBeLessThan(1);
    expect(tail['sum-mrr']).toBeUndefined();
    expect(record.details.chains).toBeUndefined();
    const scores = new Float64Array(graph.numEntities);
    uniformWalk(graph, 3).scoreTails(4, 0, scores);
    expect(scores.reduce((sum, score) => sum + Math.exp(score), 0)).toBeCloseTo(1, 12);
  });

  test('queries with entities or relations that train lacks are counted', async () => {
    const offsets = graph.offsets.slice();
    const fewer = graph.withRows({
      offsets: offsets.fill(0),
      relations: graph.relations.slice(0, 0),
      tails: graph.tails.slice(0, 0),
    });
    const walker = walkRanker(followsChain(fewer), fewer, { beamWidth: 2, horizon: 2 });
    const { record } = await evaluatedLinks(walker, { ...world, graph: fewer }, tiny.test);
    expect(record.details.unseen).toEqual({ entities: 4, relations: 4 });
    // Only the head is reached; fourteen others tie with the answer.
    expect(record.slices['direction=tail']!.mrr!.value).toBeCloseTo(1 / 9, 12);
  });

  test('no triples are refused', async () => {
    await expect(evaluatedLinks(right, world, none)).rejects.toMatchObject({ code: 'data' });
  });
});

describe('rows', () => {
  test('are read as they were written, and stand in columns; another file is refused', async () => {
    const file = join(folderWith({}), 'answers.jsonl');
    for (const directions of [['tail'], ['tail', 'head']] as const) {
      const random = scorerRanker(uniformWalk(graph, 2), graph);
      const walker = walkRanker(followsChain(graph, 'born_in'), graph, { beamWidth: 4, horizon: 2 });
      for (const [ranker, more] of [
        [random, []],
        [walker, ['sum_rank', 'reached']],
      ] as const) {
        const { rows } = await evaluatedLinks(ranker, world, tiny.test, { directions });
        writeFileSync(file, rows.map(rowLine).join(''));
        expect(readJsonLines(file, linkRow)).toEqual(rows);
        const table = tableFromIPC(linkArrow(rows));
        const column = (name: string) => [...(table.getChild(name)!.toArray() as Iterable<number>)];
        expect(table.schema.fields.map(({ name }) => name)).toEqual([
          ...['asks_head', 'head', 'relation', 'answer', 'rank', 'distance'],
          ...more,
        ]);
        expect(column('asks_head')).toEqual(rows.map(({ direction }) => Number(direction === 'head')));
        for (const key of ['head', 'relation', 'answer', 'rank', 'distance'] as const) {
          expect(column(key)).toEqual(rows.map((row) => row[key]));
        }
        if (ranker !== walker) continue;
        expect(column('sum_rank')).toEqual(rows.map(({ sumRank }) => sumRank));
        expect(column('reached')).toEqual(rows.map(({ reached }) => Number(reached)));
      }
    }
    writeFileSync(file, 'other\n');
    expect(() => readJsonLines(file, linkRow)).toThrow(expect.objectContaining({ code: 'data' }));
  });
});

describe('the baseline of rules', () => {
  const split = { ...world, train: tiny.train, valid: tiny.valid };

  test('answers what follows from a rule, and shows the rule as its chain', async () => {
    const { ranker } = await ruleBaseline(split);
    const { record } = await evaluatedLinks(ranker, world, tiny.test, { directions: ['tail'] });
    expect(record.metrics['hits@1']!.value).toBe(1);
    expect(record.details.chains).toEqual([
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 2, precision: 1 },
    ]);
    expect(record.examples).toEqual([]);
  });

  test('takes rules together as valid says, or the first way where valid says nothing', async () => {
    expect((await ruleBaseline({ ...split, valid: none })).ranking).toBe('best');
    const { ranking, rules } = await ruleBaseline(split, { horizon: 2 });
    expect(ruleRankings).toContain(ranking);
    expect(Math.max(...rules.chains.flat().map(({ chain }) => chain.length))).toBe(2);
    // Longer walks than rules are followed to are no reason to refuse.
    const longest = (await ruleBaseline(split, { horizon: 5 })).rules;
    expect((await ruleBaseline(split, { horizon: 9 })).rules).toEqual(longest);
  });

  test('has chains as long as it takes to reach the answers of valid', async () => {
    // Six lines of five entities: relation 4 leads from the first to the last, which only four steps connect in the sixth.
    const lines = [0, 1, 2, 3, 4, 5].map((line) => 5 * line);
    const steps = lines.flatMap((first) => [0, 1, 2, 3].map((step): Ids => [first + step, step, first + step + 1]));
    const far = lines.map((first): Ids => [first, 4, first + 4]);
    const [train, valid] = [columnsOf([...steps, ...far.slice(0, 5)]), columnsOf(far.slice(5))];
    const both = [...steps, ...far.slice(0, 5)].flatMap(([h, r, t]): Ids[] => [
      [h, r, t],
      [t, r + 5, h],
    ]);
    const names = ['a', 'b', 'c', 'd', 'far'];
    const entities = Array.from({ length: 30 }, (_, i) => `e${i}`);
    const graph = new Graph('lines', entities, [...names, ...names.map(inverseName)], columnsOf(both));
    const known = withInverses(knownAnswers([train, valid]), 5);
    const trainKnown = withInverses(knownAnswers([train]), 5);
    const world4 = { graph, known, trainKnown, labels: entities, train, valid };
    const { rules } = await ruleBaseline(world4);
    expect(rules.chains[4]).toContainEqual(expect.objectContaining({ chain: [0, 1, 2, 3], reached: 5, right: 5 }));
    expect((await ruleBaseline(world4, { horizon: 3 })).rules.chains[4]).toEqual([]);
  });

  test('of some relations are those of all, and no others are mined', async () => {
    const all = (await ruleBaseline(split)).rules.chains;
    const some = (await ruleBaseline(split, { relations: new Set([3]) })).rules.chains;
    const plain = all.length / 2;
    expect(all.filter(({ length }) => length > 0).length).toBeGreaterThan(2);
    expect(some).toEqual(all.map((rules, relation) => (relation % plain === 3 ? rules : [])));
  });
});

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
