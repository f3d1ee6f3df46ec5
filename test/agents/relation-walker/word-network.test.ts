import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import type { RelationRequest } from '../../../agents/relation-walker/network.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { wordActor, wordFacts, WordNetwork, wordReader } from '../../../agents/relation-walker/word-network.js';
import { wordBasis } from '../../../agents/readers/words/inputs.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { Rng } from '../../../src/run/seeds.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';

const graph = filmGraph();
const samples = filmQuestions(graph);
const tasks = samples.map(({ task }) => task);
const stop = graph.numRelations;
const size = stop + 1;
const facts = wordFacts(
  relationWalkerSettings.parse({ reads: 'words', wordDim: 6, wordWidth: 5, dropout: 0.3 }),
  hashedEncoder(12),
);
const basis = await wordBasis(facts, samples);

async function networkOf(seed = 3): Promise<WordNetwork> {
  const network = new WordNetwork(facts, { numRelations: stop, horizon: 3 }, basis, seed);
  await network.prepare(tasks);
  return network;
}

const request = (sample: number, ...relations: number[]): RelationRequest => ({
  task: tasks[sample]!,
  relations: Int32Array.from(relations),
  mask: new Uint8Array(size).fill(1),
});
const requests = [request(0), request(3, 2), request(0, 2, 5), request(6, 4), request(3, 0, 1)];
const rowOf = (scores: Float32Array, i: number) => [...scores.subarray(i * size, (i + 1) * size)];

describe('the relation walker that reads words', () => {
  test('gives probabilities: a walk is drawn as its length and its relations are', async () => {
    const network = await networkOf();
    const scores = network.scores([request(3), request(3, 1), request(3, 1, 4)]).map(Math.exp);
    for (const i of [0, 1, 2]) expect(rowOf(scores, i).reduce((sum, p) => sum + p)).toBeCloseTo(1, 5);
    expect(scores[stop]).toBe(0);
    const ends = [scores[size + stop]!, (1 - scores[size + stop]!) * scores[2 * size + stop]!];
    const other = network.scores([request(3, 0), request(3, 5, 2)]).map(Math.exp);
    // How long a walk is does not depend on where it went, and neither does a relation on those before.
    expect(other[stop]).toBeCloseTo(ends[0]!, 6);
    expect((1 - ends[0]!) * other[size + stop]!).toBeCloseTo(ends[1]!, 6);
    expect(other[2]).toBeCloseTo(scores[size + 2]!, 6);
  });

  test.each([
    ['without dropout', undefined],
    ['with what is held left out', 11],
  ])('has the gradient that gradients show, %s', async (_, dropped) => {
    const network = await networkOf();
    network.drop(dropped);
    const { parameters } = network;
    const weight = (i: number) =>
      i % size === stop && requests[Math.floor(i / size)]!.relations.length === 0 ? 0 : Math.cos(i);
    const objective = () => network.recorded(requests).values.reduce((sum, value, i) => sum + value * weight(i), 0);
    const { values, back } = network.recorded(requests);
    parameters.grads.fill(0);
    back(values.map((_value, i) => weight(i)));
    const grads = parameters.copies(parameters.grads);
    const step = 2 ** -7;
    for (const name of parameters.names) {
      const own = parameters.value(name);
      for (let i = 0; i < own.length; i += 7) {
        const at = (offset: number) => {
          const kept = own[i]!;
          own[i] = kept + offset;
          const sum = objective();
          own[i] = kept;
          return sum;
        };
        const measured = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
        const error = Math.abs(measured - grads[name]!.data[i]!) / (1 + Math.abs(measured));
        expect({ name, i, small: error < 1e-3 }).toEqual({ name, i, small: true });
      }
    }
  });

  test('drops the same numbers of a text in rollouts and updates, in any batch', async () => {
    const network = await networkOf();
    const whole = network.scores(requests);
    const actor = wordActor(network);
    actor.drop!(Rng.named(1, 'test'));
    const walked = network.scores(requests);
    expect(walked).not.toEqual(whole);
    expect(network.recorded(requests).values).toEqual(walked);
    expect([...network.recorded([requests[3]!]).values]).toEqual(rowOf(walked, 3));
    actor.drop!(Rng.named(2, 'test'));
    expect(network.scores(requests)).not.toEqual(walked);
    actor.drop!(undefined);
    expect(network.scores(requests)).toEqual(whole);
  });

  test('says the same as an actor, as a reader and alone, and forgets what other weights said', async () => {
    const network = await networkOf();
    const scores = network.scores(requests);
    const behind = await wordReader(network).of(tasks[3]!);
    expect([...behind([0, 1])]).toEqual(rowOf(scores, 4));
    const { logProbs } = await actionLogProbs(wordActor(network), [requests[4]!]);
    logProbs.forEach((logProb, action) => expect(logProb).toBeCloseTo(scores[4 * size + action]!, 5));
    network.parameters.import(await (await networkOf(4)).parameters.export());
    expect(network.scores(requests)).not.toEqual(scores);
    expect(network.scores(requests)).toEqual((await networkOf(4)).scores(requests));
  });
});
