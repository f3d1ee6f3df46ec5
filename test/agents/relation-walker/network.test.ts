import { describe, expect, test } from '@jest/globals';
import { hostNetwork } from '../../../agents/relation-walker/relation-walker-agent.js';
import { createRelationNetwork, relationBatch, type RelationRequest } from '../../../agents/relation-walker/network.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { readTensor } from '../../../src/tensor/ops.js';
import { checkGradient, expectClose } from '../../fixtures/gradient-check.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';

const { tf, graph, samples, vectors, network } = await toyRelationWalker();
const backends = await backendsHere();
const numActions = graph.numRelations + 1;
const request = (sample: number, ...relations: number[]): RelationRequest => ({
  task: samples[sample]!.task,
  relations: Int32Array.from(relations),
  mask: new Uint8Array(numActions).fill(1),
});
const requests = [request(0), request(1, 2), request(0, 2, 5), request(6, 4), request(7, 0, 1)];

describe('the network of the relation walker', () => {
  test.each(backends)('gives on plain arrays what it gives in tfjs, on %s', async (backend) => {
    await openBackend(backend);
    const settings = relationWalkerSettings.parse({ questionWidth: 12, width: 16 });
    const here = createRelationNetwork(tf, settings, network.shape, 3);
    await shake(here);
    const host = hostNetwork(await here.parameters.export(), here.shape);
    const scores = await readTensor(tf, () => here.scores(relationBatch(requests, vectors, here.shape)));
    requests.forEach(({ task, relations }, s) => {
      const row = vectors.rowOf.get(task.id)!;
      const read = host.read(vectors.matrix.subarray(row * vectors.dim, (row + 1) * vectors.dim));
      expectClose(host.scores(read, relations), scores.subarray(s * numActions, (s + 1) * numActions));
    });
    here.dispose();
    await openBackend('wasm');
  });

  test('has the gradient that gradients show', async () => {
    const here = createRelationNetwork(tf, { questionWidth: 12, width: 16 }, network.shape, 4);
    await shake(here);
    const batch = relationBatch(requests, vectors, here.shape);
    await checkGradient(tf, here.parameters, () => here.scores(batch));
    here.dispose();
  });

  test('starts near uniform, from its seed', async () => {
    const scores = await readTensor(tf, () => network.scores(relationBatch(requests, vectors, network.shape)));
    for (const score of scores) expect(Math.abs(score)).toBeLessThan(0.2);
    const again = createRelationNetwork(tf, { questionWidth: 12, width: 16 }, network.shape, 0);
    expect(await again.parameters.export()).toEqual(await network.parameters.export());
    expect(again.parameters.names).toEqual(['question', 'question.bias', 'trunk', 'trunk.bias', 'out', 'out.bias']);
    expect(again.parameters.get('trunk').shape).toEqual([12 + 2 * numActions + 3, 16]);
    again.dispose();
  });

  test('refuses weights of another shape', async () => {
    const tensors = await network.parameters.export();
    const other = { ...network.shape, numRelations: 9 };
    expect(() => hostNetwork(tensors, other)).toThrow(/expected float32 trunk of shape/);
    expect(() => hostNetwork({}, network.shape)).toThrow(/expected float32 question of shape/);
  });
});

describe('a batch of relation walks', () => {
  test('holds each text once and the legal places of every state', () => {
    const mask = Uint8Array.from({ length: numActions }, (_, action) =>
      Number(action === 1 || action === numActions - 1),
    );
    const batch = relationBatch([request(0), { ...request(1, 2), mask }, request(2, 0, 1)], vectors, network.shape);
    // The first two ask the same template.
    expect(batch.numQuestions).toBe(2);
    expect(batch.questionOf).toEqual(Int32Array.of(0, 0, 1));
    const none = graph.numRelations;
    expect(batch.slots).toEqual([Int32Array.of(none, 2, 0), Int32Array.of(none, none, 1)]);
    expect(batch.steps).toEqual(Int32Array.of(0, 1, 2));
    expect(batch.offsets).toEqual(Int32Array.of(0, numActions, numActions + 2, 2 * numActions + 2));
    expect([...batch.legal.subarray(numActions, numActions + 2)]).toEqual([numActions + 1, 2 * numActions - 1]);
    expect(batch.scoredOffsets).toEqual(Int32Array.of(0, numActions, 2 * numActions, 3 * numActions));
  });

  test('says which question has no vector', () => {
    const lost = { ...request(0), task: { ...samples[0]!.task, id: 'lost' } };
    expect(() => relationBatch([lost], vectors, network.shape)).toThrow(/expected a vector of question lost/);
  });
});
