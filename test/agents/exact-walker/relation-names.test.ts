/** Weights computed from relation names: against plain loops, and for relations unseen in training. */
import { expect, test } from '@jest/globals';
import { MessageNetwork } from '../../../agents/exact-walker/messages/message-network.js';
import { ofRelations } from '../../../agents/exact-walker/messages/message-weights.js';
import {
  keptNames,
  nameComponents,
  NamedWeights,
  nameTensors,
  type NameVectors,
  type RelationNames,
} from '../../../agents/exact-walker/messages/relation-names.js';
import { exactWalkerKind } from '../../../agents/exact-walker/registry.js';
import { exactWalkerSettings } from '../../../agents/exact-walker/settings.js';
import { Graph, inverseName, type TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { learnsAndGoesOn } from '../../fixtures/exact-learner.js';

const { tf } = await openBackend('cpu');

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

const relations = ['near', 'above', 'inside', 'never'];
const seen = Int32Array.of(0, 1, 2);

test('are components and a one times two matrices, and gradients go back the same way', async () => {
  const { graph } = worldOf(relations);
  const names = await nameComponents(tf, vectorsOf(relations), seen, 64);
  const network = new MessageNetwork(graph, 3, 3).parameters;
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
  const named = new NamedWeights(network, graph.numRelations, 3, names, 3);
  return { parameters: named.parameters, gather: () => named.gather(), spread: () => named.spread() };
}

test('learn, resume from their state with equal results, and rank a graph with other relations', async () => {
  const { graph, queries } = worldOf(relations);
  const settings = exactWalkerSettings.parse({
    kind: 'messages',
    messages: { relations: 'names', steps: 40, batchSize: 8, warmupSteps: 4, learningRate: 0.01 },
  });
  const names = await nameComponents(tf, vectorsOf(relations), seen, 64);
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

test('are refused where vectors are of another width, or names of other relations', async () => {
  const { graph } = worldOf(relations);
  const tensors = nameTensors(await nameComponents(tf, vectorsOf(relations), seen, 64));
  expect(() => keptNames(tensors, { rows: new Float32Array(8), dim: 2 })).toThrow(
    'expected text vectors of 5 numbers, got 2',
  );
  expect(() => keptNames({})).toThrow('expected float32 names.rows, got none');
  const few = keptNames(tensors, vectorsOf(['near']));
  expect(() => weightsOf(new MessageNetwork(graph, 3, 3).parameters, graph, few)).toThrow('expected 4 names, got 1');
});
