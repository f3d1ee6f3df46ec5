import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../agents/actor.js';
import {
  relationActor,
  type RelationNetwork,
  relationReader,
  type RelationRequest,
} from '../../../agents/relation-walker/network.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { wordFacts, WordNetwork } from '../../../agents/relation-walker/word-network.js';
import { maskedQuestion } from '../../../datasets/question.js';
import { wordBasis } from '../../../agents/readers/words/inputs.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { Rng } from '../../../src/run/seeds.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { filmGraph, filmQuestions } from '../../fixtures/toy-questions.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';

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

describe('the relation walker that reads a vector', () => {
  test('computes relu(T · [relu(Q·question + b) ; one-hots] + b) and its scores', async () => {
    const { network } = await toyRelationWalker();
    await shake(network);
    const { parameters, texts } = network;
    const layer = (name: string, inputs: ArrayLike<number>, width: number) =>
      Array.from({ length: width }, (_, j) =>
        Array.from(inputs).reduce(
          (sum, x, i) => sum + x * parameters.value(name)[i * width + j]!,
          parameters.value(`${name}.bias`)[j]!,
        ),
      );
    const relu = (values: number[]) => values.map((value) => Math.max(0, value));
    const oneHot = (at: number, length: number) => Array.from({ length }, (_, i) => Number(i === at));
    const expected = requests.flatMap(({ task, relations }) => {
      const read = relu(layer('question', texts.matrix([maskedQuestion(task)]), 12));
      const slots = [0, 1].flatMap((slot) => oneHot(relations[slot] ?? stop, size));
      return layer('out', relu(layer('trunk', [...read, ...slots, ...oneHot(relations.length, 3)], 16)), size);
    });
    expectClose(network.scores(requests), expected);
    expect(network.recorded(requests).values).toEqual(network.scores(requests));
  });

  test('starts near uniform, from its seed, and takes the weights of its shape alone', async () => {
    const { network, networkOf } = await toyRelationWalker();
    for (const score of network.scores(requests)) expect(Math.abs(score)).toBeLessThan(0.2);
    const tensors = await network.parameters.export();
    expect(await networkOf(0).parameters.export()).toEqual(tensors);
    expect(Object.entries(tensors).map(([name, { shape }]) => `${name} ${shape.join(' × ')}`)).toEqual([
      ...['question 32 × 12', 'question.bias 12', `trunk ${12 + 2 * size + 3} × 16`, 'trunk.bias 16'],
      ...[`out 16 × ${size}`, `out.bias ${size}`],
    ]);
    const other = (await toyRelationWalker({ questionWidth: 12, width: 8 })).networkOf();
    expect(() => other.parameters.import(tensors)).toThrow(/expected float32 parameter question|trunk of shape/);
  });
});

describe.each<[string, () => Promise<RelationNetwork>, (number | undefined)[]]>([
  ['a vector', async () => (await toyRelationWalker({ questionWidth: 7, width: 13 })).networkOf(4), [undefined]],
  ['words, whole and with what is held left out', () => networkOf(), [undefined, 11]],
])('the relation walker that reads %s', (_, make, drops) => {
  test.each(drops)('has the gradient that differences show: dropped by %s', async (dropped) => {
    const network = await make();
    await shake(network);
    await network.prepare(tasks);
    network.drop?.(dropped);
    const { parameters } = network;
    const weight = (i: number) =>
      i % size === stop && requests[Math.floor(i / size)]!.relations.length === 0 ? 0 : Math.cos(i);
    const objective = () => network.recorded(requests).values.reduce((sum, value, i) => sum + value * weight(i), 0);
    const { values, back } = network.recorded(requests);
    parameters.grads.fill(0);
    back(values.map((_value, i) => weight(i)));
    const grads = parameters.copies(parameters.grads);
    // Small, so that hardly a unit turns on or off in between.
    const step = 2 ** -10;
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
});

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

  test('drops the same numbers of a text in rollouts and updates, in any batch', async () => {
    const network = await networkOf();
    const whole = network.scores(requests);
    const actor = relationActor(network);
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
    const behind = await relationReader(network).of(tasks[3]!);
    expect([...behind([0, 1])]).toEqual(rowOf(scores, 4));
    const { logProbs } = await actionLogProbs(relationActor(network), [requests[4]!]);
    logProbs.forEach((logProb, action) => expect(logProb).toBeCloseTo(scores[4 * size + action]!, 5));
    network.parameters.import(await (await networkOf(4)).parameters.export());
    expect(network.scores(requests)).not.toEqual(scores);
    expect(network.scores(requests)).toEqual((await networkOf(4)).scores(requests));
  });
});
