import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type Edges,
  frozenVectors,
  type MakeEdgeScorer,
  slots,
  trainedVectors,
} from '../../../agents/walker/heads/edge-scorers.js';
import { createPaMlpNetwork, type PaMlpNetwork } from '../../../agents/walker/heads/pa-mlp.js';
import { Rng } from '../../../src/run/seeds.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { expectClose, gradientsOf } from '../../fixtures/gradient-check.js';
import { randomize } from '../../fixtures/toy-walker.js';

const dim = 3;
const [numEntities, numRelations] = [7, 4];
/** Staying is relation 3. Entities 5 and 6 and relation 1 are no edge's. */
const edges: Edges = {
  numStates: 2,
  stateOf: Int32Array.of(0, 0, 0, 1, 1),
  actions: Int32Array.of(0, 1, 2, 0, 3),
  relations: Int32Array.of(0, 2, 3, 0, 2),
  tails: Int32Array.of(1, 2, 0, 1, 4),
};
const states = Float32Array.from({ length: 8 }, (_, i) => Math.sin(i + 1));

const { tf } = await openBackend('wasm');

let made: PaMlpNetwork | undefined;
afterEach(() => {
  made?.parameters.dispose();
  made = undefined;
});

function networkOf(scorer: MakeEdgeScorer, seed?: number): PaMlpNetwork {
  return (made = createPaMlpNetwork(tf, { stateDim: 4, width: 5, scorer }, seed));
}

const trained = () => trainedVectors(tf, { numEntities, numRelations, dim });
const logitsOf = (network: PaMlpNetwork, of = edges) => readTensor(tf, () => network.logits(states, of));

describe('trained vectors', () => {
  test('score as frozen ones of the same numbers', async () => {
    const network = networkOf(trained(), 1);
    await randomize(network.parameters, 2);
    const weights = await network.parameters.export();
    const logits = await logitsOf(network);
    network.parameters.dispose();
    const frozen = networkOf(
      frozenVectors({
        ...{ entities: weights['pa.entities']!.data, entityDim: dim },
        ...{ relations: weights['pa.relations']!.data, relationDim: dim },
      }),
    );
    frozen.parameters.import(weights);
    expectClose(logits, await logitsOf(frozen));
  });

  test('start within Xavier’s bounds and fill them, each table from its own draws', async () => {
    const large = trainedVectors(tf, { numEntities: 300, numRelations: 40, dim: 20 });
    const { 'pa.entities': entities, 'pa.relations': relations } = await networkOf(large, 1).parameters.export();
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
  const places = (count = 6) => slots({ count, equalRelation: 3 });
  /** Logits of one slot alone are other than 0. */
  async function onlySlot(network: PaMlpNetwork, slot: number) {
    await randomize(network.parameters, 4);
    const weights = await network.parameters.export();
    const { shape, data } = weights['pa.slots']!;
    const kept = data.map((value, i) => (i % shape[1]! === slot ? value : 0));
    network.parameters.import({ ...weights, 'pa.slots': { shape, data: kept } });
  }

  test('give staying the first slot, and an edge the one after its place in the list', async () => {
    const network = networkOf(places(), 1);
    const slotOf = [1, 2, 0, 1, 4];
    for (let slot = 0; slot < 6; slot++) {
      await onlySlot(network, slot);
      const seen = Array.from(await logitsOf(network), (logit) => logit !== 0);
      expect(seen).toEqual(slotOf.map((own) => own === slot));
    }
  });

  test('do not read where an edge leads', async () => {
    const network = networkOf(places(), 1);
    await randomize(network.parameters, 5);
    const elsewhere = { ...edges, tails: edges.tails.map((tail) => 6 - tail), relations: Int32Array.of(1, 0, 3, 2, 1) };
    expect(await logitsOf(network, elsewhere)).toEqual(await logitsOf(network));
  });

  test('refuse a list that is longer than they are, on the host as well', async () => {
    const network = networkOf(places(4), 1);
    const refused = {
      code: 'config',
      message: 'expected action lists of at most 4 places, staying counted, with walker.pathAware=false, got one of 5',
    };
    await expect(logitsOf(network)).rejects.toMatchObject(refused);
    await expect(network.rank!(states, edges)).rejects.toMatchObject(refused);
    const shorter = { ...edges, actions: Int32Array.of(0, 1, 2, 0, 2) };
    expect(await logitsOf(network, shorter)).toHaveLength(5);
  });

  test('learn nothing in slots without an action', async () => {
    const { parameters, logits } = networkOf(places(), 1);
    await randomize(parameters, 6);
    const rng = Rng.named(1, 'test/slopes');
    const loss = { outputs: () => logits(states, edges), grad: (out: Float32Array) => out.map(() => rng.normal()) };
    const tensors = await gradientsOf(tf, loss, parameters.variables);
    const gradient = await tensors[parameters.names.indexOf('pa.slots')]!.data();
    tf.dispose(tensors);
    const learned = [0, 1, 2, 3, 4, 5].filter((slot) => gradient.some((value, i) => i % 6 === slot && value !== 0));
    expect(learned).toEqual([0, 1, 2, 4]);
  });
});
