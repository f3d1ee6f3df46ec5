/** Formulas of the published heads: DiffKG's relations by hop, AttnIO's shares and in-flow. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { walkCollector } from '../../../agents/top-paths.js';
import type { StateBatch, WalkerHead } from '../../../agents/dialogue-walker/heads/head.js';
import { ownersOf } from '../../../agents/dialogue-walker/heads/attention.js';
import { type Inflow, allInflowRows, inEdgesOf } from '../../../agents/dialogue-walker/heads/inflow.js';
import { createWalkerHead } from '../../../agents/dialogue-walker/heads/registry.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { frozenTables } from '../../../agents/dialogue-walker/vectors.js';
import { beamSearch } from '../../../agents/dialogue-walker/agent.js';
import type { Executor } from '../../../src/nn/executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { randomize, reachableStates, tinySettings, toyFeaturizer, toyShape } from '../../fixtures/toy-walker.js';
import { type ToyWorld, graphOf, sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

const executor: Executor = new SimdExecutor();

let made: WalkerHead | undefined;
afterEach(() => {
  made?.dispose();
  made = undefined;
});

/** A head with random weights over a world, and what feeds it. */
async function headOver(world: ToyWorld, changes: Partial<WalkerSettings>) {
  const { graph } = world;
  const featurizer = await toyFeaturizer(world, { edgeFeatures: false });
  const settings = tinySettings({ dropout: 0, ...changes });
  const tables = await frozenTables(graph, featurizer.parts.vectors, undefined, settings);
  const head = createWalkerHead(executor, settings, toyShape(graph, featurizer, tables), 1);
  made = head;
  await randomize(head.parameters, 2);
  return { head, featurizer };
}

/** A start with a relation of one tail and a relation of a hundred. */
function fanWorld(): ToyWorld {
  const tails = Array.from({ length: 100 }, (_, i) => `film ${i}`);
  const graph = graphOf('fan', [
    ['person', 'born in', 'town'],
    ...tails.map((tail) => ['person', 'acted in', tail] as const),
  ]);
  return { graph, samples: [sampleOf(graph, 'fan', 'where from', 'person', [['person', 'born in', 'town']])] };
}

/** Probability of each listed action of the first state. */
async function sharesOf(head: WalkerHead, batch: StateBatch) {
  const logits = await head.infer(batch);
  const weights = logits.map((logit) => Math.exp(logit));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

describe('the diff-kg head', () => {
  test('gives a relation of a hundred tails a hundred times the mass where the fan-out is ignored, as published', async () => {
    const world = fanWorld();
    const { graph } = world;
    const massOf = async (fanOut: 'divided' | 'ignored') => {
      const { head, featurizer } = await headOver(world, { head: 'diff-kg', fanOut });
      const batch = featurizer.batch(reachableStates(world).slice(0, 1));
      const shares = await sharesOf(head, batch);
      const mass = new Float64Array(graph.numRelations);
      batch.relations.forEach((relation, i) => (mass[relation]! += shares[i]!));
      head.dispose();
      const [bornIn, actedIn] = ['born in', 'acted in'].map((name) => mass[graph.relationId(name)]!);
      return actedIn! / bornIn!;
    };
    // The weights are the same, so the probabilities of the two relations are, too.
    expect((await massOf('ignored')) / (await massOf('divided'))).toBeCloseTo(100, 2);
  });

  test('ties all tails of a relation', async () => {
    const world = fanWorld();
    const { head, featurizer } = await headOver(world, { head: 'diff-kg' });
    const batch = featurizer.batch(reachableStates(world).slice(0, 1));
    expect(new Set(await head.infer(batch)).size).toBe(2);
  });

  test('takes the fan-out from the graph, however few actions are listed', async () => {
    const world = fanWorld();
    const { head, featurizer } = await headOver(world, { head: 'diff-kg' });
    const [state] = reachableStates(world);
    const all = await head.infer(featurizer.batch([state!]));
    const few = featurizer.batch([{ ...state!, actions: Int32Array.of(0, 100) }]);
    expect(Array.from(await head.infer(few))).toEqual([all[0], all[100]]);
  });

  test('chooses the relations of all hops by the text alone, before it walks', async () => {
    const world = toyTwoHop();
    const { head, featurizer } = await headOver(world, { head: 'diff-kg', fanOut: 'ignored' });
    const second = reachableStates(world).filter(({ task, state }) => task.id === 'two-hop-1' && state.hop === 1);
    const batch = featurizer.batch(second);
    const logits = await head.infer(batch);
    const byRelation = new Map<number, Set<number>>();
    batch.relations.forEach((relation, i) =>
      byRelation.set(relation, (byRelation.get(relation) ?? new Set()).add(logits[i]!)),
    );
    expect(new Set(batch.stateOf).size).toBeGreaterThan(2);
    expect([...byRelation.values()].every(({ size }) => size === 1)).toBe(true);
  });
});

describe.each(['attn-flow', 'attn-io'] as const)('the %s head', (name) => {
  test.each([1, 2, 3])(
    'gives shares that sum to 1 in every state, with %i heads of attention',
    async (attentionHeads) => {
      const world = toyTwoHop();
      const { head, featurizer } = await headOver(world, { head: name, attentionHeads });
      const batch = featurizer.batch(reachableStates(world));
      const logits = await head.infer(batch);
      for (let s = 0; s < batch.numStates; s++) {
        const shares = logits.subarray(batch.offsets[s], batch.offsets[s + 1]).map((logit) => Math.exp(logit));
        expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
      }
    },
  );

  test('distinguishes parallel relations to one tail', async () => {
    const world = toyTwoHop();
    const { head, featurizer } = await headOver(world, { head: name });
    const { graph } = world;
    const batch = featurizer.batch(reachableStates(world).slice(0, 1));
    const logits = await head.infer(batch);
    const toNolan = Array.from(logits).filter((_, i) => batch.tails[i] === graph.entityId('nolan'));
    expect(toNolan).toHaveLength(2);
    expect(Math.abs(toNolan[0]! - toNolan[1]!)).toBeGreaterThan(1e-5);
  });

  test('hears the dialogue in its attention', async () => {
    const world = toyTwoHop();
    const { head, featurizer } = await headOver(world, { head: name });
    const first = reachableStates(world).filter(({ state, task }) => state.hop === 0 && task.startName === 'film');
    expect(first.length).toBeGreaterThan(2);
    const batch = featurizer.batch(first);
    const logits = await head.infer(batch);
    const count = batch.offsets[1]!;
    const differ = Array.from(logits.subarray(0, count)).some(
      (logit, i) => Math.abs(logit - logits[count + i]!) > 1e-3,
    );
    expect(differ).toBe(true);
  });
});

describe.each(['attn-flow', 'attn-io', 'diff-kg'] as const)('walks by the %s head', (name) => {
  test('have probabilities that sum to 1 over all of them', async () => {
    const world = toyTwoHop();
    const { head, featurizer } = await headOver(world, { head: name });
    const collector = walkCollector(world.graph, { beamWidth: 64, twoHopBonus: 0 });
    const tasks = world.samples.map(({ task }) => task);
    for (const { paths } of await beamSearch({ head, featurizer }, tasks, 64, collector)) {
      expect(paths.length).toBeGreaterThan(1);
      expect(paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 4);
    }
  });
});

describe('in-flow', () => {
  const { graph } = toyTwoHop();
  const stay = graph.numRelations;
  const ids = Int32Array.from({ length: graph.numEntities }, (_, i) => i);

  test('reads the edges into each entity, staying first', () => {
    const { offsets, relations, heads } = inEdgesOf(graph, stay, 1)(ids);
    for (const entity of ids) {
      const got = [];
      for (let i = offsets[entity]!; i < offsets[entity + 1]!; i++) got.push(`${heads[i]} ${relations[i]}`);
      const expected: string[] = [`${entity} ${stay}`];
      for (const head of ids) {
        for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
          if (graph.tails[edge] === entity) expected.push(`${head} ${graph.relations[edge]}`);
        }
      }
      expect(got[0]).toBe(expected[0]);
      expect(got.sort()).toEqual(expected.sort());
    }
  });

  test('draws as many as it may where there are more, each once and all alike, named by the generator', () => {
    const tenet = Int32Array.of(graph.entityId('nolan'));
    const edgesInto = inEdgesOf(graph, stay, 2);
    const all = edgesInto(tenet).heads.length - 1;
    expect(all).toBe(3);
    const counts = new Map<string, number>();
    const rng = Rng.named(1, 'test/in-edges');
    for (let draw = 0; draw < 3000; draw++) {
      const { relations, heads } = edgesInto(tenet, rng);
      const keys = Array.from(heads, (head, i) => `${head} ${relations[i]}`);
      expect(new Set(keys).size).toBe(3);
      keys.slice(1).forEach((key) => counts.set(key, (counts.get(key) ?? 0) + 1));
    }
    expect(counts.size).toBe(3);
    for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(150);
    expect(edgesInto(tenet, Rng.named(1, 'same'))).toEqual(edgesInto(tenet, Rng.named(1, 'same')));
  });

  test('moves a network by what is drawn while cloning, and by all that is there otherwise', async () => {
    const world = toyTwoHop();
    const { head, featurizer } = await headOver(world, { head: 'attn-io', inEdges: 1 });
    const batch = featurizer.batch(reachableStates(world));
    const logits = (seed?: number) =>
      head.logits(batch, seed === undefined ? undefined : Rng.named(seed, 'step')).read();
    expect(await logits(1)).toEqual(await logits(1));
    expect(await logits(1)).not.toEqual(await logits(2));
    expectClose(await logits(), await head.infer(batch));
  });

  test('makes the same rows of all entities however they are cut into chunks', async () => {
    const edgesInto = inEdgesOf(graph, stay, 12);
    const atOnce: number[] = [];
    // Each row is the sum of where its edges come from.
    const inflow: Inflow = {
      edgesInto,
      rows: (tape, { entityTerms: [ends] }, { offsets, heads }) => {
        atOnce.push(heads.length);
        const ones = tape.constant(new Float32Array(heads.length).fill(1), 1);
        return [tape.weightedSums(ones, ends!, ownersOf(offsets), heads, offsets.length - 1)];
      },
    };
    const expected = Array.from(ids, (id) =>
      edgesInto(Int32Array.of(id)).heads.reduce((sum, head) => sum + head + 1, 0),
    );
    const none = new Parameters(executor, {});
    const most = Math.max(...Array.from(ids, (id) => edgesInto(Int32Array.of(id)).heads.length));
    for (const edgesAtOnce of [1, 4, most, 1000]) {
      atOnce.length = 0;
      const [from, to] = [new Tape(none, false), new Tape(none, false)];
      const ends = to.constant(
        Float32Array.from(ids, (id) => id + 1),
        1,
      );
      const terms = { entityTerms: [ends], relationTerms: [] };
      const all = await to.outputs(await allInflowRows(inflow, terms, { from, to }, edgesAtOnce)).read();
      expect(Array.from(all)).toEqual(expected);
      expect(Math.max(...atOnce)).toBeLessThanOrEqual(Math.max(edgesAtOnce, most));
    }
  });
});
