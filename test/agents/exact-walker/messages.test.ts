/** Weights computed from relation names: against plain loops, and for relations unseen in training. */
import { describe, expect, test } from '@jest/globals';
import { MessageNetwork } from '../../../agents/exact-walker/messages/message-network.js';
import { type MessageSizes, ofRelations } from '../../../agents/exact-walker/messages/message-weights.js';
import {
  type NameVectors,
  NamedWeights,
  type RelationNames,
  keptNames,
  nameComponents,
  nameTensors,
} from '../../../agents/exact-walker/messages/relation-names.js';
import { viewsOf } from '../../../agents/exact-walker/messages/views.js';
import { exactWalkerKind } from '../../../agents/exact-walker/agent.js';
import { exactWalkerSettings } from '../../../agents/exact-walker/settings.js';
import { Graph, type TripleColumns, inverseName } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { learnsAndGoesOn, randomWorld } from '../../fixtures/exact-trainer.js';
import { inTurn, isLong, often } from '../../fixtures/long-tests.js';

const numEntities = 12;
const dim = 5;

/** Twenty-four triples by relation name; ids follow the order of names. */
function worldOf(relations: readonly string[]): { graph: Graph; queries: TripleColumns } {
  const rng = new Rng(6);
  const kinds = ['near', 'above', 'inside'];
  const rows = Array.from({ length: 24 }, () => [rng.integer(numEntities), rng.integer(3), rng.integer(numEntities)]);
  const both = rows.flatMap(([head, kind, tail]) => {
    const relation = relations.indexOf(kinds[kind!]!);
    return [
      [head!, relation, tail!],
      [tail!, relation + relations.length, head!],
    ];
  });
  const column = (i: number) => Int32Array.from(both, (row) => row[i]!);
  const queries = { heads: column(0), relations: column(1), tails: column(2) };
  const names = Array.from({ length: numEntities }, (_, i) => `e${i}`);
  return { graph: new Graph('small', names, [...relations, ...relations.map(inverseName)], queries), queries };
}

/** One vector per name, independent of the other names. */
const vectorsOf = (relations: readonly string[]): NameVectors => ({
  dim,
  rows: Float32Array.from(
    relations.flatMap((name) => {
      const rng = Rng.named(1, name);
      return Array.from({ length: dim }, () => rng.normal());
    }),
  ),
});

const sizesOf = (hops: number, maximum = true, channels = 16): MessageSizes => ({
  ...{ hops, channels, maximum, relations: 'own' },
});

const relations = ['near', 'above', 'inside', 'never'];
const seen = Int32Array.of(0, 1, 2);

test('are components and a one times two matrices, and gradients go back the same way', async () => {
  const { graph } = worldOf(relations);
  const names = await nameComponents(vectorsOf(relations), seen, 64);
  const network = new MessageNetwork(graph, sizesOf(3), 3).parameters;
  const { parameters, ...named } = weightsOf(network, graph, names);
  const kept = names.rows.length / relations.length;
  expect(kept).toBe(dim);
  const inputs = relations.map((_, i) => {
    const row = new Float64Array(kept + 1);
    row.set(names.rows.subarray(i * kept, (i + 1) * kept));
    row[kept] = 1;
    return row;
  });
  let compared = 0;
  for (const name of parameters.names) {
    const [trained, made] = [parameters.value(name), network.value(name)];
    if (!ofRelations(name)) {
      expect(made).toEqual(trained);
      continue;
    }
    const width = made.length / (2 * relations.length);
    for (let relation = 0; relation < 2 * relations.length; relation++) {
      const direction = Number(relation >= relations.length);
      for (const k of [0, width >> 1, width - 1]) {
        let sum = 0;
        inputs[relation % relations.length]!.forEach((one, j) => {
          sum += one * trained[(direction * (kept + 1) + j) * width + k]!;
        });
        expect(made[relation * width + k]).toBeCloseTo(sum, 4);
        compared++;
      }
    }
  }
  expect(compared).toBeGreaterThan(150);
  // Network weights are linear in the trained ones: a directional derivative equals the gradient's dot product with the direction.
  const rng = new Rng(2);
  network.grads.forEach((_, i) => (network.grads[i] = rng.normal()));
  named.gather();
  const before = network.values.slice();
  let wanted = 0;
  parameters.values.forEach((value, i) => {
    const move = rng.normal();
    parameters.values[i] = value + move;
    wanted += move * parameters.grads[i]!;
  });
  named.spread();
  const moved = network.values.reduce((sum, value, i) => sum + (value - before[i]!) * network.grads[i]!, 0);
  expect(Math.abs(wanted)).toBeGreaterThan(10);
  expect(moved / wanted).toBeCloseTo(1, 3);
});

function weightsOf(network: MessageNetwork['parameters'], graph: Graph, names: RelationNames) {
  const named = new NamedWeights(network, graph.numRelations, sizesOf(3), names, 3);
  return { parameters: named.parameters, gather: () => named.gather(), spread: () => named.spread() };
}

test('learn, resume from their state with equal results, and rank a graph with other relations', async () => {
  const { graph, queries } = worldOf(relations);
  const settings = exactWalkerSettings.parse({
    kind: 'messages',
    messages: { relations: 'names', steps: 40, batchSize: 8, warmupSteps: 4, learningRate: 0.01 },
  });
  const names = await nameComponents(vectorsOf(relations), seen, 64);
  const kind = exactWalkerKind('messages');
  const made = (own = names, on = graph) => kind.create({ graph: on, settings, hops: 3, seed: 2, names: own });
  const course = { queries, pairs: false, threads: 1 };
  const walker = await learnsAndGoesOn((tensors) => made(tensors && keptNames(tensors)), course, 0.9);
  const { tensors } = await walker.state();

  const scoresOf = async (one: typeof walker, relation: number) => {
    let scores = new Float64Array(0);
    await one.ranker('w').rank([{ head: 4, relation }], (_, ranked) => (scores = ranked.scores[0]!.slice()));
    return scores;
  };
  // The same triples with one more relation and other ids.
  const others = ['inside', 'new', 'near', 'never', 'above'];
  const other = worldOf(others).graph;
  const moved = made(keptNames(tensors, vectorsOf(others)), other);
  moved.restore(tensors);
  for (const [name, inverse] of relations.flatMap(
    (one) =>
      [
        [one, 0],
        [one, 1],
      ] as const,
  )) {
    const [own, there] = [relations, others].map((all) => all.indexOf(name) + inverse * all.length);
    const [wanted, got] = [await scoresOf(walker, own!), await scoresOf(moved, there!)];
    got.forEach((score, entity) => expect(score).toBeCloseTo(wanted[entity]!, 4));
  }
  const fresh = await scoresOf(moved, others.indexOf('new'));
  expect(fresh.every(Number.isFinite)).toBe(true);
  expect(fresh).not.toEqual(await scoresOf(moved, others.indexOf('never')));
});

test('from how relations meet learn on views or generated graphs too, and resume from their state with equal results', async () => {
  const { graph, queries } = randomWorld(5, 14, ['a', 'b', 'c', 'd', 'e', 'f'], 40, ['0 0 1', '1 1 2']);
  const kind = exactWalkerKind('messages');
  const none = { heads: new Int32Array(), relations: new Int32Array(), tails: new Int32Array() };
  for (const [added, asked] of [
    [{ views: 3 }, queries],
    [{ views: 0, generated: 2 }, none],
  ] as const) {
    const settings = exactWalkerSettings.parse({
      kind: 'messages',
      messages: { relations: 'graph', ...added, steps: 40, batchSize: 8, warmupSteps: 4, learningRate: 0.01 },
    });
    const made = () => kind.create({ graph, settings, hops: 3, seed: 2 });
    await learnsAndGoesOn(made, { queries: asked, pairs: true, threads: 1 }, 0.98);
  }
  const views = viewsOf({ graph, queries, pairs: true }, 3, 2);
  expect(views.map(({ pairs }) => pairs)).toEqual([true, false, true]);
  for (const { graph: own, queries: asked } of views) {
    expect(own.numRelations).toBeLessThanOrEqual(graph.numRelations);
    expect(own.inverseOf).not.toContain(-1);
    expect(asked.heads.length).toBe(own.numEdges);
    expect([...asked.relations].every((relation) => relation < own.numRelations)).toBe(true);
  }
});

test('are refused where vectors are of another width, or names of other relations', async () => {
  const { graph } = worldOf(relations);
  const tensors = nameTensors(await nameComponents(vectorsOf(relations), seen, 64));
  expect(() => keptNames(tensors, { rows: new Float32Array(8), dim: 2 })).toThrow(
    'expected text vectors of 5 numbers, got 2',
  );
  expect(() => keptNames({})).toThrow('expected float32 names.rows, got none');
  const few = keptNames(tensors, vectorsOf(['near']));
  expect(() => weightsOf(new MessageNetwork(graph, sizesOf(3), 3).parameters, graph, few)).toThrow(
    'expected 4 names, got 1',
  );
});

// Message passing against plain loops over a small graph, and its gradients against finite differences.
describe('messages', () => {
  const numEntities = 15;

  const { graph, queries } = randomWorld(4, numEntities, ['a', 'b'], 24, ['0 0 1', '1 1 0', '0 1 1']);
  const frequency = (entity: number) => entity % 3;
  const entities = Int32Array.of(1, 0, 4, 7, 9, 13);

  type Pair = { tail: number; relation: number; inverse: number; pairs: boolean } | undefined;

  /** Scores by the equations, edge by edge. */
  function plainScores(
    network: MessageNetwork,
    { hops, channels: d, maximum }: MessageSizes,
    head: number,
    relation: number,
    pair: Pair,
  ): number[] {
    const value = (name: string) => network.parameters.value(name);
    const slog = (x: number) => Math.sign(x) * Math.log1p(Math.abs(x));
    const z = value('asked').subarray(relation * 32, (relation + 1) * 32);
    const start = value('start').subarray(relation * d, (relation + 1) * d);
    const hides = (from: number, own: number, to: number) => {
      if (!pair) return false;
      if (from === head && to === pair.tail) return pair.pairs || own === pair.relation;
      return from === pair.tail && to === head && (pair.pairs || own === pair.inverse);
    };
    const weight = (hop: number, own: number, k: number) => {
      let sum = value(`B.${hop}`)[own * d + k]!;
      for (let j = 0; j < 32; j++) sum += value(`A.${hop}`)[(own * d + k) * 32 + j]! * z[j]!;
      return sum;
    };
    const countAt = (from: number, own: number) => {
      let count = 0;
      for (let e = graph.offsets[from]!; e < graph.offsets[from + 1]!; e++) count += Number(graph.relations[e] === own);
      return count;
    };
    let x = Array.from({ length: numEntities }, (_, v) =>
      Array.from({ length: d }, (_, k) => (v === head ? start[k]! : 0)),
    );
    const reached = new Set([head]);
    let sums: number[][] = [];
    let most: number[][] = [];
    for (let hop = 0; hop < hops; hop++) {
      sums = Array.from({ length: numEntities }, (_, v) =>
        Array.from({ length: d }, (_, k) => (v === head ? start[k]! : 0)),
      );
      most = Array.from({ length: numEntities }, () => Array.from({ length: maximum ? d : 0 }, () => 0));
      const next = new Set(reached);
      for (let u = 0; u < numEntities; u++) {
        for (let e = graph.offsets[u]!; e < graph.offsets[u + 1]!; e++) {
          const [own, v] = [graph.relations[e]!, graph.tails[e]!];
          if (hides(u, own, v)) continue;
          if (reached.has(u)) next.add(v);
          // The last hop gathers: the relation is that of the reverse edge.
          const kind = hop === hops - 1 ? graph.inverseOf[own]! : own;
          for (let k = 0; k < d; k++) {
            const message = x[u]![k]! * weight(hop, kind, k);
            sums[v]![k]! += message * (k % 16 < 8 ? 1 : 1 / countAt(u, own));
            if (maximum) most[v]![k] = Math.max(most[v]![k]!, message);
          }
        }
      }
      if (hop === hops - 1) break;
      const [W, bias] = [value(`W.${hop}`), value(`bias.${hop}`)];
      x = x.map((before, v) =>
        Array.from({ length: d }, (_, k) => {
          if (!next.has(v)) return 0;
          const inputs = [...[...sums[v]!, ...most[v]!].map(slog), ...before];
          return Math.max(
            0,
            inputs.reduce((sum, one, j) => sum + one * W[j * d + k]!, bias[k]!),
          );
        }),
      );
      for (const one of next) reached.add(one);
    }
    return Array.from(entities, (v) => {
      const phi = [0.3 * Math.log1p(frequency(v)), Number(frequency(v) > 0), 0.2 * Math.log1p(graph.degree(v))];
      const inputs = [...[...sums[v]!, ...most[v]!].map(slog), ...x[v]!, ...phi];
      let score = phi.reduce((sum, one, k) => sum + one * value('direct')[relation * 3 + k]!, 0);
      for (let k = 0; k < d; k++) {
        let unit = 0;
        inputs.forEach((one, j) => (unit += one * value('V')[j * d + k]!));
        for (let j = 0; j < 32; j++) unit += z[j]! * value('V.asked')[j * d + k]!;
        score += value('u')[k]! * Math.max(0, unit);
      }
      return score;
    });
  }

  const hidden: Pair[] = [
    undefined,
    { tail: 1, relation: 0, inverse: 2, pairs: false },
    { tail: 1, relation: 0, inverse: 2, pairs: true },
  ];

  /** Nonzero biases. */
  function networkOf(sizes: MessageSizes): MessageNetwork {
    const network = new MessageNetwork(graph, sizes, 3);
    for (let hop = 0; hop < sizes.hops - 1; hop++) network.parameters.value(`bias.${hop}`).fill(0.1 / (hop + 1));
    return network;
  }

  const cases = [1, 2, 3, 4].flatMap((hops) =>
    inTurn(hidden, hops).map((pair) => ({ sizes: sizesOf(hops, hops !== 2, hops === 3 ? 32 : 16), pair })),
  );

  test.each(cases)(
    'scores of $sizes are those of the equations, with $pair hidden, and again after another query',
    (one) => {
      const { sizes, pair } = one;
      const network = networkOf(sizes);
      const out = new Float64Array(entities.length);
      const scored = (head: number, relation: number) => {
        network.score(head, relation, pair, entities, frequency, out);
        network.back(entities, new Float64Array(entities.length).fill(0.3));
        return [...out];
      };
      const wanted = plainScores(network, sizes, 0, 0, pair).map((one) => expect.closeTo(one, 4) as unknown);
      expect(new Set(plainScores(network, sizes, 0, 0, pair)).size).toBe(entities.length);
      expect(scored(0, 0)).toEqual(wanted);
      expect(scored(5, 3)).toEqual(
        plainScores(network, sizes, 5, 3, pair).map((one) => expect.closeTo(one, 4) as unknown),
      );
      expect(scored(0, 0)).toEqual(wanted);
    },
  );

  const deep = (isLong ? [2, 3, 4] : [3]).flatMap((hops) => [
    sizesOf(hops),
    sizesOf(hops, false),
    sizesOf(hops, true, 32),
  ]);

  test.each(isLong ? deep : deep.slice(0, 2))('the gradient of %j is the gradient of the scores', (sizes) => {
    const network = networkOf(sizes);
    const { parameters } = network;
    const pair = hidden[2];
    const weights = Float64Array.of(0.5, -1, 0.3, 0.7, -0.2, 0.4);
    const out = new Float64Array(entities.length);
    network.score(0, 0, pair, entities, frequency, out);
    network.back(entities, Float64Array.from(weights));
    network.flush();
    const valueNow = () => plainScores(network, sizes, 0, 0, pair).reduce((sum, one, i) => sum + one * weights[i]!, 0);
    let compared = 0;
    for (const name of parameters.names) {
      const [values, grads] = [parameters.value(name), Float32Array.from(parameters.grad(name))];
      // The largest of each tensor, and two others: all would take ten thousand forward passes.
      const indices = [...grads.keys()].sort((a, b) => Math.abs(grads[b]!) - Math.abs(grads[a]!)).slice(0, often(2, 3));
      for (const index of isLong ? [...indices, 0, grads.length >> 1] : indices) {
        const before = values[index]!;
        const at = (by: number) => {
          values[index] = before + by;
          return valueNow();
        };
        const difference = (at(1e-3) - at(-1e-3)) / (Math.fround(before + 1e-3) - Math.fround(before - 1e-3));
        values[index] = before;
        expect([name, index, grads[index]]).toEqual([name, index, expect.closeTo(difference, 2)]);
        compared += Number(Math.abs(difference) > 0.01);
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  test('training lowers the loss, and resumes from its state with equal results', async () => {
    const settings = exactWalkerSettings.parse({
      kind: 'messages',
      messages: { steps: 40, batchSize: 8, warmupSteps: 4, learningRate: 0.03 },
    });
    const made = () => exactWalkerKind('messages').create({ graph, settings, hops: 3, seed: 2 });
    await learnsAndGoesOn(made, { queries, pairs: false, threads: 1 }, 0.8);
  });

  describe('from how relations meet', () => {
    const sizes: MessageSizes = { ...sizesOf(3), relations: 'graph' };
    const weights = Float64Array.of(0.5, -1, 0.3, 0.7, -0.2, 0.4);
    const scoresOf = (network: MessageNetwork, head: number, relation: number) => {
      const out = new Float64Array(entities.length);
      network.parameters.version++;
      network.score(head, relation, hidden[1], entities, frequency, out);
      return out;
    };

    test('two queries of a relation and one of another have the gradient of their scores', () => {
      const network = new MessageNetwork(graph, sizes, 3);
      const asked = [
        [0, 0],
        [5, 0],
        [5, 3],
      ] as const;
      const { parameters } = network;
      for (const name of parameters.names.filter((one) => one.includes('bias.'))) parameters.value(name).fill(0.05);
      const sum = () =>
        asked.reduce(
          (all, [head, relation]) =>
            all + scoresOf(network, head, relation).reduce((own, score, i) => own + score * weights[i]!, 0),
          0,
        );
      parameters.version++;
      for (const [head, relation] of asked) {
        network.score(head, relation, hidden[1], entities, frequency, new Float64Array(entities.length));
        network.back(entities, Float64Array.from(weights));
      }
      network.flush();
      let compared = 0;
      for (const name of parameters.names) {
        const [values, grads] = [parameters.value(name), Float32Array.from(parameters.grad(name))];
        const [largest] = [...grads.keys()].sort((a, b) => Math.abs(grads[b]!) - Math.abs(grads[a]!));
        const before = values[largest!]!;
        const at = (by: number) => {
          values[largest!] = before + by;
          return sum();
        };
        const difference = (at(5e-4) - at(-5e-4)) / 1e-3;
        values[largest!] = before;
        expect([name, grads[largest!]! / difference]).toEqual([name, expect.closeTo(1, 1)]);
        compared++;
      }
      expect(compared).toBe(22);
    });

    test('scores do not depend on the names and numbers of relations', () => {
      const { numRelations, relationNames, offsets, relations: kinds, tails } = graph;
      const plain = numRelations / 2;
      // The two relations change places.
      const moved = (relation: number) => (relation < plain ? 1 - relation : plain + 1 - (relation - plain));
      const heads = new Int32Array(graph.numEdges);
      for (let head = 0; head < numEntities; head++) heads.fill(head, offsets[head], offsets[head + 1]);
      const columns = { heads, relations: Int32Array.from(kinds, moved), tails };
      const renamed = relationNames.map((name) => name.replace('a', 'c'));
      const other = new Graph('moved', graph.entityNames, renamed, columns);
      const network = new MessageNetwork(graph, sizes, 3);
      const there = new MessageNetwork(other, sizes, network.parameters);
      for (const [head, relation] of [
        [0, 0],
        [5, 3],
      ] as const) {
        const out = new Float64Array(entities.length);
        network.score(head, relation, undefined, entities, frequency, out);
        const moves = new Float64Array(entities.length);
        there.score(head, moved(relation), undefined, entities, frequency, moves);
        moves.forEach((score, i) => expect(score).toBeCloseTo(out[i]!, 4));
      }
      expect(network.parameters.names.some(ofRelations)).toBe(false);
    });
  });
});
