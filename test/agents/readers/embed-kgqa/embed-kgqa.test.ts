import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { freshBilinear, graphQueries } from '../../../../agents/embeddings/bilinear/step.js';
import { embedKgqa } from '../../../../agents/readers/embed-kgqa/embed-kgqa.js';
import { SimdExecutor } from '../../../../src/nn/simd/executor.js';
import { QuestionSide } from '../../../../agents/readers/embed-kgqa/question-side.js';
import { type AskedBatch, QuestionStep } from '../../../../agents/readers/embed-kgqa/question-step.js';
import { answerRanking, wantedRelations } from '../../../../agents/readers/embed-kgqa/ranking.js';
import { ShortestRelations } from '../../../../agents/readers/embed-kgqa/shortest-relations.js';
import type { ReaderFacts } from '../../../../agents/readers/facts.js';
import type { Reader } from '../../../../agents/readers/reader.js';
import { readerSettings } from '../../../../agents/readers/settings.js';
import { frontierTrie } from '../../../../envs/relation-walk/frontier-trie.js';
import { composeQuery } from '../../../../src/embedding/bilinear.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { Graph } from '../../../../src/kg/graph.js';
import { ShortestPaths } from '../../../../src/kg/paths-between.js';
import { Rng } from '../../../../src/run/seeds.js';
import { differenceAt } from '../../../fixtures/gradient-check.js';
import { checkProperty } from '../../../fixtures/property.js';
import { filmGraph, filmQuestions } from '../../../fixtures/toy-questions.js';

const graph = filmGraph();
const samples = filmQuestions(graph);
const [train, others] = [samples.filter((_, i) => i % 2 === 0), samples.filter((_, i) => i % 2 === 1)];

const factsOf = (more: object = {}): ReaderFacts => ({
  graph,
  settings: readerSettings.parse({
    ...{ kind: 'embed-kgqa', matching: 2, questionWidth: 24, negatives: 8 },
    table: { dim: 16, epochs: 30, batchSize: 8, negatives: 8 },
    fit: { learningRate: 0.005, maxGradNorm: 5 },
    ...more,
  }),
  ...{ horizon: 3, maxTokens: 32, frontiers: frontierTrie(graph), encoder: hashedEncoder(32, true), seed: 5 },
  folder: 'none',
});

async function opened(facts = factsOf()): Promise<Reader> {
  return embedKgqa.create(facts, await embedKgqa.basis(facts, train));
}

async function steps(reader: Reader, from: number, to: number, batch = train): Promise<number[]> {
  const losses: number[] = [];
  for (let step = from; step < to; step++) {
    losses.push((await reader.step(batch, { step, learningRate: 0.005 })).loss);
  }
  return losses;
}

const ask = (reader: Reader, at: number, of = train) => reader.answer(of[at]!.task, { trace() {} });

describe('EmbedKGQA', () => {
  test('overfits a few questions, and answers them', async () => {
    const reader = await opened();
    const losses = await steps(reader, 0, 150);
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
    for (const [i, { gold }] of train.entries()) {
      const { entities, confidence, stop } = await ask(reader, i);
      expect(gold.answers.map(({ entity }) => entity)).toContain(entities[0]);
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(1);
      expect(stop).toBe('ranked');
    }
  });

  test('is moved by train alone: asking changes no byte, and the table before the first question is of the graph', async () => {
    const reader = await opened();
    await steps(reader, 0, 2);
    const before = await reader.state();
    await reader.prepare?.(others.map(({ task }) => task));
    for (const i of others.keys()) await ask(reader, i, others);
    expect(await reader.state()).toEqual(before);
    const facts = factsOf();
    const [one, other] = [await embedKgqa.basis(facts, train), await embedKgqa.basis(facts, others.slice(1))];
    expect(one.tensors['table/entities']).toEqual(other.tensors['table/entities']);
    expect(one.tensors.mean).not.toEqual(other.tensors.mean);
  });

  test('freezes the table with trainedOn=0', async () => {
    const table = { dim: 16, epochs: 2, batchSize: 8, negatives: 8, trainedOn: 0 };
    const reader = await opened(factsOf({ table }));
    const before = (await reader.state()).tensors['table/entities'];
    await steps(reader, 0, 3);
    expect((await reader.state()).tensors['table/entities']).toEqual(before);
  });

  test('leaves out questions without a topic or an answer in the graph, and says how many it asked', async () => {
    const reader = await opened();
    const [first, second] = train;
    const strange = { ...second!, task: { ...second!.task, topics: [] } };
    const { figures } = await reader.step([first!, strange], { step: 0, learningRate: 0.005 });
    expect(figures!['train/asked']).toBe(0.5);
    const { stop, entities } = await reader.answer(strange.task, { trace() {} });
    expect({ stop, entities }).toEqual({ stop: 'no topic', entities: [] });
  });

  test('without matching it has nothing of it', async () => {
    const reader = await opened(factsOf({ matching: 0 }));
    expect(Object.keys((await reader.state()).tensors).some((name) => name.includes('match'))).toBe(false);
  });
});

const numEntities = 9;
const shape = { inputs: 5, width: 6, dim: 8, matched: 3 };

/** Three questions over a small table of numbers large enough for differences in float32. */
function world(negatives: number) {
  const room = new SimdExecutor();
  const weights = room.arena.hold(
    freshBilinear({ model: 'complex', dim: shape.dim }, { numEntities, numRelations: 4, seed: 2 }),
  );
  weights.table.entities.forEach((value, i) => (weights.table.entities[i] = 10 * value));
  const network = new QuestionSide(shape, 3, Infinity, room);
  const rng = Rng.named(4, 'questions');
  const batch: AskedBatch = {
    vectors: Float32Array.from({ length: 3 * shape.inputs }, () => rng.normal()),
    topics: [0, 5, 0],
    answers: [[1, 2], [3], [8, 0, 4]],
    relations: [Float32Array.of(1, 0, 0.5), Float32Array.of(0, 0, 1), Float32Array.of(0.25, 1, 0)],
  };
  return { weights, network, batch, step: new QuestionStep(weights, network, negatives) };
}

/** The loss as it is defined, against all entities, in float64. */
function lossOf({
  weights: { table },
  network,
  batch,
}: Pick<ReturnType<typeof world>, 'weights' | 'network' | 'batch'>) {
  const values = network.outputs(batch.vectors).values;
  let ranking = 0;
  let matching = 0;
  batch.topics.forEach((topic, i) => {
    const query = new Float64Array(shape.dim);
    composeQuery({ ...table, relations: values }, topic, i, query, 0);
    const scores = Array.from({ length: numEntities }, (_, entity) =>
      query.reduce((sum, value, k) => sum + value * table.entities[entity * shape.dim + k]!, 0),
    );
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    const answers = batch.answers[i]!;
    for (const answer of answers) ranking += (total - scores[answer]!) / answers.length / 3;
    batch.relations[i]!.forEach((wanted, r) => {
      const likely = 1 / (1 + Math.exp(-values[3 * shape.dim + i * shape.matched + r]!));
      matching -= (wanted * Math.log(likely) + (1 - wanted) * Math.log(1 - likely)) / 3;
    });
  });
  return { ranking, matching };
}

describe('a step on questions', () => {
  test('has the loss as defined and its gradient, of network and table', async () => {
    // So many draws name every entity.
    const { weights, network, batch, step } = world(2000);
    const wanted = lossOf({ weights, network, batch });
    const before = weights.table.entities.slice();
    const total = () => {
      const { ranking, matching } = lossOf({ weights, network, batch });
      return ranking + matching;
    };
    const grads = network.parameters.values.map((_, i) => differenceAt(network.parameters.values, i, total, 1 / 128));
    const rows = before.map((_, i) => differenceAt(weights.table.entities, i, total, 1 / 128));
    const figures = await step.train(batch, { network: 0, table: 0.01 }, Rng.named(0, 'draws'));
    expect(figures.ranking).toBeCloseTo(wanted.ranking, 5);
    expect(figures.matching).toBeCloseTo(wanted.matching, 5);
    expect(figures.gradNorm).toBeCloseTo(Math.hypot(...network.parameters.grads), 5);
    network.parameters.grads.forEach((grad, i) => expect(grad).toBeCloseTo(grads[i]!, 3));
    // Adagrad's first squares are those of the gradient: it is read there, with the sign of the move.
    before.forEach((value, i) => {
      const gradient = Math.sqrt(weights.entitySquares[i]!) * Math.sign(value - weights.table.entities[i]!);
      expect(gradient).toBeCloseTo(rows[i]!, 3);
    });
  });

  test('moves rows of answers, topics and drawn entities alone', async () => {
    const { weights, batch, step } = world(1);
    const before = weights.table.entities.slice();
    const rng = Rng.named(7, 'draws');
    const drawn = Rng.named(7, 'draws').integer(numEntities);
    await step.train(batch, { network: 0.001, table: 0.1 }, rng);
    const named = new Set([...batch.answers.flat(), ...batch.topics, drawn]);
    expect(named.size).toBeLessThan(numEntities);
    for (let entity = 0; entity < numEntities; entity++) {
      const row = (values: Float32Array) => [...values.subarray(entity * shape.dim, (entity + 1) * shape.dim)];
      const same = row(before).join() === row(weights.table.entities).join();
      expect({ entity, same }).toEqual({ entity, same: !named.has(entity) });
    }
  });

  test('moves nothing where the loss is not finite', async () => {
    const { weights, network, batch, step } = world(3);
    network.parameters.value('question.out')[0] = Infinity;
    const before = [weights.table.entities.slice(), network.parameters.values.slice()];
    await expect(step.train(batch, { network: 0.1, table: 0.1 }, Rng.named(1, 'draws'))).rejects.toThrow(/finite/);
    expect([weights.table.entities, network.parameters.values]).toEqual(before);
  });
});

describe('a ranking of answers', () => {
  /** 0 –a→ 1 –b→ 2, 0 –b→ 3 –a→ 2; 4 stands apart. */
  const graph = new Graph('five', ['t', 'x', 'y', 'z', 'far'], ['a', 'b', 'c'], {
    heads: Int32Array.of(0, 1, 0, 3, 4),
    relations: Int32Array.of(0, 1, 1, 0, 2),
    tails: Int32Array.of(1, 2, 3, 2, 4),
  });
  const dim = 8;
  const { arena, kernels } = new SimdExecutor();
  const { table } = arena.hold(freshBilinear({ model: 'complex', dim }, { numEntities: 5, numRelations: 3, seed: 6 }));
  const vector = Float32Array.from({ length: dim }, (_, k) => 30 * Math.cos(k));
  const scores = (() => {
    const query = new Float64Array(dim);
    composeQuery({ ...table, relations: vector }, 0, 0, query, 0);
    return Array.from({ length: 5 }, (_, entity) =>
      query.reduce((sum, value, k) => sum + value * table.entities[entity * dim + k]!, 0),
    );
  })();
  const byScore = (entities: number[], more = (_entity: number) => 0) =>
    [...entities].sort((p, q) => scores[q]! + more(q) - scores[p]! - more(p));
  const ranked = (
    settings: { candidates?: 'all' | 'reach'; matching?: number; keep?: number },
    relations = new Float32Array(0),
    hops = 3,
  ) =>
    answerRanking(
      table,
      graph,
      { candidates: 'all', matching: 0, keep: 1e-9, ...settings },
      hops,
      arena,
      kernels,
    )(vector, relations, 0, [0]);

  test('all entities but those that are excluded are ranked by ComplEx', () => {
    expect(ranked({}).entities).toEqual(byScore([1, 2, 3, 4]));
    expect(ranked({}).confidence).toBeCloseTo(1, 6);
  });

  test('candidates=reach leaves out what the hops do not reach', () => {
    expect(ranked({ candidates: 'reach' }).entities).toEqual(byScore([1, 2, 3]));
    expect(ranked({ candidates: 'reach' }, undefined, 1).entities).toEqual(byScore([1, 3]));
  });

  test('matching adds for each relation that is wanted on the best shortest path', () => {
    const logits = Float32Array.of(0.1, 2, -1);
    const matches = [0, 1, 2, 1, 0];
    const { entities, wanted } = ranked({ matching: 5 }, logits);
    expect(wanted).toEqual([1, 0]);
    expect(entities).toEqual(byScore([1, 2, 3, 4], (entity) => 5 * matches[entity]!));
    expect(entities[0]).toBe(2);
  });

  test('entities likely enough relative to the first are answers, too', () => {
    const odds = scores.map((score, entity) => (entity === 0 ? 0 : Math.exp(score)));
    const [first, second] = byScore([1, 2, 3, 4]);
    const ratio = odds[second!]! / odds[first!]!;
    expect(ranked({ keep: 1 }).entities).toEqual([first]);
    expect(ranked({ keep: Math.min(1, ratio * 1.01) }).entities).toEqual([first]);
    expect(ranked({ keep: ratio * 0.99 }).entities.slice(0, 2)).toEqual([first, second]);
    expect(ranked({ keep: 1 }).confidence).toBeCloseTo(odds[first!]! / odds.reduce((sum, one) => sum + one, 0), 5);
  });

  test('five relations are matched at most, the likeliest', () => {
    expect(wantedRelations(Float32Array.of(1, 2, 3, -1, 4, 5, 6, 0))).toEqual([6, 5, 4, 2, 1]);
  });

  test('queries of a graph are its edges by head and relation', () => {
    const { givens, relations, offsets, answers } = graphQueries(graph);
    const listed = Array.from(givens, (given, q) => [
      given,
      relations[q],
      [...answers.subarray(offsets[q], offsets[q + 1])],
    ]);
    expect(listed).toEqual([
      [0, 0, [1]],
      [0, 1, [3]],
      [1, 1, [2]],
      [3, 0, [2]],
      [4, 2, [4]],
    ]);
  });
});

describe('shortest chains of relations', () => {
  const numEntities = 7;

  /** Graphs of some edges among few entities; more relations than one word of 32 bits has. */
  const graphs = fc
    .array(fc.tuple(fc.nat(numEntities - 1), fc.nat(39), fc.nat(numEntities - 1)), { minLength: 4, maxLength: 30 })
    .map((triples) => {
      const column = (place: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[place]);
      return new Graph(
        'drawn',
        Array.from({ length: numEntities }, (_, i) => `e${i}`),
        Array.from({ length: 40 }, (_, i) => `r${i}`),
        { heads: column(0), relations: column(1), tails: column(2) },
      );
    });

  /** The sets of relations of all shortest paths, by listing the paths. */
  const setsBetween = (graph: Graph, head: number, tail: number, horizon: number) =>
    new ShortestPaths(graph)
      .between(head, tail, { horizon, most: 10_000 })
      .map((path) => new Set(path.filter((_, index) => index % 2 === 0)));

  describe('relations on shortest paths', () => {
    test('are counted as listing all paths counts them, the best path of an entity', () => {
      const wanted = fc.uniqueArray(fc.nat(39), { maxLength: 5 });
      checkProperty(
        fc.property(
          graphs,
          fc.nat(numEntities - 1),
          fc.integer({ min: 1, max: 3 }),
          wanted,
          (graph, topic, hops, some) => {
            const around = new ShortestRelations(graph);
            // What an earlier search left must not show.
            around.reached((topic + 1) % numEntities, 3, [1, 2]);
            const { entities, matches } = around.reached(topic, hops, some);
            const found = new Map([...entities].map((entity, i) => [entity, matches[i]]));
            for (let entity = 0; entity < numEntities; entity++) {
              const sets = entity === topic ? [] : setsBetween(graph, topic, entity, hops);
              const most = Math.max(...sets.map((set) => some.filter((relation) => set.has(relation)).length));
              expect(found.get(entity)).toBe(sets.length === 0 ? undefined : most);
            }
          },
        ),
      );
    });

    test('are shared out over the targets that are reached', () => {
      const targets = fc.uniqueArray(fc.nat(numEntities - 1), { minLength: 1, maxLength: 4 });
      checkProperty(
        fc.property(graphs, fc.nat(numEntities - 1), targets, (graph, topic, wanted) => {
          const around = new ShortestRelations(graph);
          around.onPaths((topic + 1) % numEntities, 3, [topic]);
          const shares = around.onPaths(topic, 3, wanted);
          const reached = wanted
            .filter((target) => target !== topic)
            .map((target) => setsBetween(graph, topic, target, 3))
            .filter((sets) => sets.length > 0);
          for (let relation = 0; relation < 40; relation++) {
            const holders = reached.filter((sets) => sets.some((set) => set.has(relation)));
            expect(shares[relation]).toBeCloseTo(holders.length / Math.max(1, reached.length), 6);
          }
        }),
      );
    });
  });
});
