import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { scorerRanker, uniformWalk, walkRanker } from '../../../agents/link-agents.js';
import { answerDistances, tooFar } from '../../../evaluation/links/answer-distances.js';
import { evaluateLinkRanker, type EvaluateLinksOptions } from '../../../evaluation/links/evaluate-links.js';
import { readLinkRows, writeLinkRows } from '../../../evaluation/links/link-rows.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { Graph } from '../../../src/kg/graph.js';
import { linkEvaluationRecord } from '../../../src/run/link-schemas.js';
import { Rng } from '../../../src/run/seeds.js';
import { followsChain } from '../../fixtures/scripted-link-actor.js';
import { tinyLinkNames, tinyLinkWorld } from '../../fixtures/tiny-links.js';

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
const options: EvaluateLinksOptions = {
  about: { agent: 'walker', dataset: 'tiny', split: 'test', hashes: { graph: graph.hash, dataset: 'd' } },
  directions: ['tail', 'head'],
  horizon: 2,
};

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

describe('evaluateLinkRanker', () => {
  const right = walkRanker(followsChain(graph, 'born_in', 'lies_in'), graph, { beamWidth: 8, horizon: 2 });

  test('a walker that knows the rule is right on tails; figures of each direction and both', async () => {
    const { record, rows, speed } = await evaluateLinkRanker(right, world, tiny.test, options);
    const { tail, head, both } = record.directions;
    expect(tail).toMatchObject({
      mrr: { value: 1, low: 1, high: 1, n: 2 },
      'hits@1': { value: 1 },
      'sum-mrr': { value: 1 },
      reached: { value: 1 },
      'reachable@1': { value: 0 },
      'reachable@2': { value: 1 },
    });
    expect(head!.mrr!.value).toBeLessThan(1);
    expect(both!.mrr!.value).toBeCloseTo((tail!.mrr!.value + head!.mrr!.value) / 2, 12);
    expect(both!.mrr!.n).toBe(4);
    expect(record).toMatchObject({ n: 2, unseen: { entities: 0, relations: 0 }, cost: {} });
    expect(linkEvaluationRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
    expect([...rows.asksHead]).toEqual([0, 0, 1, 1]);
    expect(speed.queriesPerSecond).toBeGreaterThan(0);
  });

  test('keeps the chains that were used and queries worked out in names', async () => {
    const { record } = await evaluateLinkRanker(right, world, tiny.test, { ...options, directions: ['tail'] });
    expect(record.directions.both).toBeUndefined();
    expect(record.chains).toEqual([
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 2, precision: 1 },
    ]);
    expect(record.examples).toHaveLength(2);
    expect(record.examples![0]).toMatchObject({
      head: 'Ivy Stone',
      relation: 'citizen_of',
      answer: 'Northland',
      rank: 1,
    });
    expect(record.examples![0]!.answers[0]).toMatchObject({
      entity: 'Northland',
      right: true,
      known: false,
      path: [
        ['Ivy Stone', 'born_in', 'Glass Harbor'],
        ['Glass Harbor', 'lies_in', 'Northland'],
      ],
    });
  });

  test('a question that train answers is told by the first answer beyond it', async () => {
    // p0 is a citizen of c0 in train; asked for heads of c0, those known from train are passed over.
    const walker = walkRanker(followsChain(graph, '~citizen_of'), graph, { beamWidth: 8, horizon: 1 });
    const { record } = await evaluateLinkRanker(walker, world, tiny.test, { ...options, directions: ['head'] });
    expect(record.chains).toEqual([{ relation: '~citizen_of', chain: [], uses: 1, right: 0, precision: 0 }]);
  });

  test('walks at random: what they know is where one can get', async () => {
    const random = scorerRanker(uniformWalk(graph, 2), graph);
    const { record } = await evaluateLinkRanker(random, world, tiny.test, options);
    expect(record.directions.tail!.mrr!.value).toBeGreaterThan(1 / 16);
    expect(record.directions.tail!.mrr!.value).toBeLessThan(1);
    expect(record.directions.tail!['sum-mrr']).toBeUndefined();
    expect(record.chains).toBeUndefined();
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
    const { record } = await evaluateLinkRanker(walker, { ...world, graph: fewer }, tiny.test, options);
    expect(record.unseen).toEqual({ entities: 4, relations: 4 });
    // Only the head is reached; fourteen others tie with the answer.
    expect(record.directions.tail!.mrr!.value).toBeCloseTo(1 / 9, 12);
  });

  test('no triples are refused', async () => {
    const none = { heads: new Int32Array(0), relations: new Int32Array(0), tails: new Int32Array(0) };
    await expect(evaluateLinkRanker(right, world, none, options)).rejects.toMatchObject({ code: 'data' });
  });
});

describe('rows', () => {
  test('are read as they were written; another file is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kgwalk-rows-'));
    const file = join(folder, 'rows.arrow');
    for (const directions of [['tail'], ['tail', 'head']] as const) {
      const random = scorerRanker(uniformWalk(graph, 2), graph);
      const { rows } = await evaluateLinkRanker(random, world, tiny.test, { ...options, directions });
      await writeLinkRows(file, rows);
      expect(await readLinkRows(file)).toEqual(rows);
    }
    writeFileSync(file, 'other');
    await expect(readLinkRows(file)).rejects.toMatchObject({ code: 'data' });
  });
});
