import { describe, expect, test } from '@jest/globals';
import { type EdgeScorer, edgeScorerOf } from '../../../agents/dialogue-walker/heads/edge-scorers.js';
import type { HeadShape } from '../../../agents/dialogue-walker/heads/head.js';
import { paMlpLogits, paMlpStarts } from '../../../agents/dialogue-walker/heads/pa-mlp.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { noTables } from '../../../agents/dialogue-walker/vectors.js';
import type { Executor } from '../../../src/nn/executor.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Tape } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { randomize, tinySettings } from '../../fixtures/toy-walker.js';

const dim = 3;
/** Staying is relation 3. Entities 5 and 6 and relation 1 are no edge's. */
const graph = { numEntities: 7, numRelations: 3 };
const edges = {
  stateOf: Int32Array.of(0, 0, 0, 1, 1),
  actions: Int32Array.of(0, 1, 2, 0, 3),
  relations: Int32Array.of(0, 2, 3, 0, 2),
  tails: Int32Array.of(1, 2, 0, 1, 4),
};
const states = Float32Array.from({ length: 8 }, (_, i) => Math.sin(i + 1));
const executor: Executor = new SimdExecutor();

/** The plain head around a scorer. */
function networkOf(scorer: EdgeScorer) {
  const parameters = new Parameters(executor, paMlpStarts({ stateDim: 4, width: 5, scorer }, 1));
  const tape = new Tape(parameters);
  const logits = (of = edges) => {
    tape.begin();
    return tape.outputs([paMlpLogits(tape, tape.constant(states, 4), scorer, of)]);
  };
  return { parameters, logits };
}

function scorerOf(settings: Partial<WalkerSettings>, shape: Partial<HeadShape> = {}): EdgeScorer {
  const all = { ...graph, tables: noTables, ...shape };
  return edgeScorerOf(tinySettings({ componentDim: dim, ...settings }), all, (_, x) => x, 1);
}

const trained = (shape?: Partial<HeadShape>, componentDim = dim) =>
  scorerOf({ entityInit: 'random-trainable', componentDim }, shape);

describe('trained vectors', () => {
  test('score as frozen ones of the same numbers', async () => {
    const network = networkOf(trained());
    await randomize(network.parameters, 2);
    const weights = await network.parameters.export();
    const tables = {
      ...{ entities: weights['pa.entities']!.data, entityDim: dim },
      ...{ relations: weights['pa.relations']!.data, relationDim: dim },
    };
    const frozen = networkOf(scorerOf({ entityInit: 'frozen' }, { tables }));
    frozen.parameters.import(weights);
    expectClose(await network.logits().read(), await frozen.logits().read());
  });

  test('start within Xavier’s bounds and fill them, each table from its own draws', async () => {
    const { parameters } = networkOf(trained({ numEntities: 300, numRelations: 39 }, 20));
    const { 'pa.entities': entities, 'pa.relations': relations } = await parameters.export();
    for (const { shape, data } of [entities!, relations!]) {
      const bound = Math.sqrt(6 / (shape[0]! + shape[1]!));
      const largest = Math.max(...data.map(Math.abs));
      expect(largest).toBeLessThanOrEqual(Math.fround(bound));
      expect(largest).toBeGreaterThan(0.98 * bound);
    }
    expect(entities!.data[0]! / relations!.data[0]!).not.toBeCloseTo(Math.sqrt(60 / 320), 3);
  });
});

describe('places', () => {
  const places = (count = 6) => scorerOf({ pathAware: false }, { maxActions: count });
  /** Logits of one slot alone are other than 0. */
  async function onlySlot(parameters: Parameters, slot: number) {
    await randomize(parameters, 4);
    const weights = await parameters.export();
    const { shape, data } = weights['pa.slots']!;
    const kept = data.map((value, i) => (i % shape[1]! === slot ? value : 0));
    parameters.import({ ...weights, 'pa.slots': { shape, data: kept } });
  }

  test('give staying the first slot, and an edge the one after its place in the list', async () => {
    const { parameters, logits } = networkOf(places());
    const slotOf = [1, 2, 0, 1, 4];
    for (let slot = 0; slot < 6; slot++) {
      await onlySlot(parameters, slot);
      const seen = Array.from(await logits().read(), (logit) => logit !== 0);
      expect(seen).toEqual(slotOf.map((own) => own === slot));
    }
  });

  test('do not read where an edge leads', async () => {
    const { parameters, logits } = networkOf(places());
    await randomize(parameters, 5);
    const elsewhere = { ...edges, tails: edges.tails.map((tail) => 6 - tail), relations: Int32Array.of(1, 0, 3, 2, 1) };
    expect(await logits(elsewhere).read()).toEqual(await logits().read());
  });

  test('refuse a list that is longer than they are', async () => {
    const { logits } = networkOf(places(4));
    const refused = {
      code: 'config',
      message: 'expected action lists of at most 4 places, staying counted, with walker.pathAware=false, got one of 5',
    };
    expect(() => logits()).toThrow(expect.objectContaining(refused));
    const shorter = { ...edges, actions: Int32Array.of(0, 1, 2, 0, 2) };
    expect(await logits(shorter).read()).toHaveLength(5);
  });

  test('learn nothing in slots without an action', async () => {
    const { parameters, logits } = networkOf(places());
    await randomize(parameters, 6);
    const rng = Rng.named(1, 'test/slopes');
    const loss = { outputs: () => logits(), grad: (out: Float32Array) => out.map(() => rng.normal()) };
    const gradient = (await gradientsOf(loss, parameters))['pa.slots']!.data;
    const learned = [0, 1, 2, 3, 4, 5].filter((slot) => gradient.some((value, i) => i % 6 === slot && value !== 0));
    expect(learned).toEqual([0, 1, 2, 4]);
  });
});
