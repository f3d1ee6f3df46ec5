import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../trainers/actor.js';
import type { TraceEvent } from '../../../agents/question-agent.js';
import { wordBasis } from '../../../agents/readers/words/inputs.js';
import {
  type RelationNetwork,
  type RelationRequest,
  relationActor,
  relationReader,
  unmasked,
} from '../../../agents/relation-walker/network.js';
import {
  ScaledTexts,
  questionText,
  readScale,
  vectorScale,
  writeScale,
} from '../../../agents/relation-walker/question-vectors.js';
import { decodeChains as decode, relationWalkerAgent } from '../../../agents/relation-walker/agent.js';
import { relationWalkerSettings } from '../../../agents/relation-walker/settings.js';
import { WordNetwork, wordFacts } from '../../../agents/relation-walker/word-network.js';
import { maskedQuestion } from '../../../datasets/question.js';
import {
  type RelationWalkState,
  defaultRelationRules,
  frontierTrie,
  initialRelationState,
  makeVectorEnv,
} from '../../../envs/index.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { SimdExecutor } from '../../../src/nn/simd/executor.js';
import { Rng } from '../../../src/run/seeds.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { actionDraw, collectRollouts, wholeWalks } from '../../../trainers/rollout.js';
import { RolloutBuffer } from '../../../trainers/rollout-buffer.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';
import { shake, toyRelationWalker } from '../../fixtures/toy-relation-walker.js';
import { walkingLlama } from '../../fixtures/walking-llama.js';

const toy = await toyRelationWalker();
const { graph, samples } = toy;
const stop = graph.numRelations;

const session = (events: TraceEvent[] = []) => ({
  client: scriptedClient(() => undefined),
  trace: (event: TraceEvent) => void events.push(event),
});

describe('the relation walker as an actor', () => {
  test('gives log-probabilities of the legal actions alone, equal to those it is trained on', async () => {
    const network = toy.networkOf(2);
    await shake(network);
    const actor = relationActor(network);
    const mask = Uint8Array.from({ length: stop + 1 }, (_, action) => Number(action === 1 || action > 3));
    const requests = samples.map(({ task }, i) => ({ task, relations: Int32Array.from(i % 2 ? [2] : []), mask }));
    const { logProbs, offsets } = await actionLogProbs(actor, requests);
    const legal = stop - 2;
    expect(offsets).toEqual(Int32Array.from({ length: samples.length + 1 }, (_, i) => i * legal));
    for (let i = 0; i < samples.length; i++) {
      const sum = logProbs.subarray(offsets[i]!, offsets[i + 1]!).reduce((s, x) => s + Math.exp(x), 0);
      expect(sum).toBeCloseTo(1, 5);
    }
    const scored = actor.score(requests);
    expect(scored.offsets).toEqual(offsets);
    const scores = await scored.logits().read();
    const difference = (a: number, b: number) => scores[scored.masked!.legal[a]!]! - scores[scored.masked!.legal[b]!]!;
    for (let i = 0; i + 1 < legal; i++) expect(logProbs[i]! - logProbs[i + 1]!).toBeCloseTo(difference(i, i + 1), 4);
    expect([0, 1, 2].map((index) => actor.envAction!(requests[0]!, index))).toEqual([1, 4, 5]);
    expect(actor.numScores(requests[0]!)).toBe(stop + 1);
    actor.dispose();
  });

  test('learns from answers alone what to walk, by the PPO of the main job', async () => {
    const network = toy.networkOf(1);
    const actor = relationActor(network);
    const explorations = 8;
    const envs = makeVectorEnv('kgwalk/RelationWalk-v1', { graph, samples }, samples.length * explorations);
    const learning = ppoSettings.parse({
      init: 'scratch',
      updates: 30,
      samplesPerUpdate: samples.length,
      explorations,
      minibatchSamples: samples.length,
      learningRate: 0.02,
      warmupUpdates: 0,
      klCoef: 0,
      feasibilityCoef: 0.1,
      entropyCoef: 0.01,
    });
    const rewards: number[] = [];
    await ppo({
      actor,
      optimizer: new AdamW(network.parameters, { maxGradNorm: 0.5 }),
      collect: wholeWalks(envs, Int32Array.from(samples.keys())),
      settings: learning,
      seed: 6,
      onUpdate: ({ metrics }) => {
        rewards.push(metrics['rollout/reward']!);
        expect(metrics['train/first_ratio_deviation']).toBeLessThan(1e-6);
      },
    });
    expect(rewards[0]).toBeLessThan(0.7);
    expect(rewards.at(-1)).toBeGreaterThan(0.95);

    const agent = relationWalkerAgent({
      name: 'walker',
      graph,
      frontiers: frontierTrie(graph),
      rules: defaultRelationRules,
      reader: relationReader(network),
    });
    await agent.prepare!(samples.map(({ task }) => task));
    for (const { task, gold } of samples) {
      const answer = await agent.answer(task, session());
      expect(new Set(answer.entities)).toEqual(new Set(gold.answers.map(({ entity }) => entity)));
    }
    actor.dispose();
  });

  test('collects the same walks from equal seeds', async () => {
    const actor = relationActor(toy.network);
    const collect = async () => {
      const envs = makeVectorEnv('kgwalk/RelationWalk-v1', { graph, samples }, 16);
      const buffer = new RolloutBuffer<ReturnType<typeof actor.requestOf>>(48);
      const figures = await collectRollouts(
        actor,
        undefined,
        envs,
        buffer,
        [0, 2, 4, 6],
        4,
        actionDraw(Rng.named(4, 'walk')),
      );
      return [figures, [...buffer.rollout.rewards]];
    };
    expect(await collect()).toEqual(await collect());
  });
});

describe('the relation walker as an agent', () => {
  const agentOf = (beamWidth = 1) =>
    relationWalkerAgent({
      name: 'walker',
      graph,
      frontiers: frontierTrie(graph),
      rules: defaultRelationRules,
      reader: relationReader(toy.network),
      beamWidth,
    });

  test('answers with the whole frontier, the relations, the facts and how sure it is', async () => {
    const events: TraceEvent[] = [];
    const answer = await agentOf(1000).answer(samples[2]!.task, session(events));
    expect(answer.confidence).toBeGreaterThan(0);
    expect(answer.confidence).toBeLessThanOrEqual(1);
    expect(answer).toMatchObject({ literals: [], degraded: false, cost: { encodes: 1 } });
    const names = new Set(answer.evidence.flatMap(([head, , tail]) => [head, tail]));
    for (const entity of answer.entities) expect(names).toContain(graph.entityNames[entity]);
    for (const [head, relation, tail] of answer.evidence) {
      expect(relation.startsWith('~')).toBe(false);
      const triple = [graph.entityId(head), graph.relationId(relation), graph.entityId(tail)] as const;
      expect(graph.edgeIndex(...triple)).toBeGreaterThanOrEqual(0);
    }
    expect(events[0]).toEqual({ event: 'start', entities: [graph.entityId('tenet')] });
    expect(events.at(-1)).toMatchObject({ event: 'stop' });
  });

  test('answers alike alone and prepared, independently of earlier questions', async () => {
    const alone = await Promise.all(samples.map(async ({ task }) => agentOf().answer(task, session())));
    const agent = agentOf();
    await agent.prepare!(samples.map(({ task }) => task));
    const prepared = [];
    for (const { task } of [...samples].reverse()) prepared.unshift(await agent.answer(task, session()));
    expect(prepared).toEqual(alone);
  });

  test('gives nothing for a topic that the graph lacks and for questions of another form', async () => {
    const lost = questionOf(graph, 'x', 'who directed [atlantis]', ['directed_by'], []);
    expect(await agentOf().answer(lost.task, session())).toMatchObject({ entities: [], stop: 'no topic' });
    const truth = { ...samples[0]!.task, form: 'truth' as const };
    expect(await agentOf().answer(truth, session())).toMatchObject({ entities: [], stop: 'form' });
  });
});

describe('networks', () => {
  const graph = filmGraph();
  const samples = filmQuestions(graph);
  const tasks = samples.map(({ task }) => task);
  const stop = graph.numRelations;
  const size = stop + 1;
  const facts = wordFacts(
    relationWalkerSettings.parse({ reads: 'words', wordDim: 6, wordWidth: 5, dropout: 0.3 }),
    hashedEncoder(12),
  );
  const basis = wordBasis(facts, samples);

  async function networkOf(seed = 3): Promise<WordNetwork> {
    const network = new WordNetwork(new SimdExecutor(), facts, { numRelations: stop, horizon: 3 }, await basis, seed);
    await network.prepare(tasks.map(unmasked));
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
      const { texts } = network;
      const weights = await network.parameters.export();
      const layer = (name: string, inputs: ArrayLike<number>, width: number) =>
        Array.from({ length: width }, (_, j) =>
          Array.from(inputs).reduce(
            (sum, x, i) => sum + x * Number(weights[name]!.data[i * width + j]),
            Number(weights[`${name}.bias`]!.data[j]),
          ),
        );
      const relu = (values: number[]) => values.map((value) => Math.max(0, value));
      const oneHot = (at: number, length: number) => Array.from({ length }, (_, i) => Number(i === at));
      const expected = requests.flatMap(({ task, relations }) => {
        const read = relu(layer('question', texts.matrix([maskedQuestion(task)]), 12));
        const slots = [0, 1].flatMap((slot) => oneHot(relations[slot] ?? stop, size));
        return layer('out', relu(layer('trunk', [...read, ...slots, ...oneHot(relations.length, 3)], 16)), size);
      });
      const scores = await network.scores(requests);
      expectClose(scores, expected);
      expect(await network.recorded(requests).read()).toEqual(scores);
    });

    test('starts near uniform, from its seed, and takes the weights of its shape alone', async () => {
      const { network, networkOf } = await toyRelationWalker();
      for (const score of await network.scores(requests)) expect(Math.abs(score)).toBeLessThan(0.2);
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
    ['text, as a language model', async () => (await walkingLlama({ examples: false })).networkOf(4), [undefined]],
  ])('the relation walker that reads %s', (_, make, drops) => {
    test.each(drops)('has the gradient that differences show: dropped by %s', async (dropped) => {
      const network = await make();
      await shake(network);
      await network.prepare(requests);
      network.drop?.(dropped);
      const { parameters } = network;
      const weight = (i: number) =>
        i % size === stop && requests[Math.floor(i / size)]!.relations.length === 0 ? 0 : Math.cos(i);
      const objective = async () =>
        (await network.recorded(requests).read()).reduce((sum, value, i) => sum + value * weight(i), 0);
      network.recorded(requests).backward(Float32Array.from({ length: requests.length * size }, (_, i) => weight(i)));
      const grads = await parameters.export(parameters.gradients);
      // Small, so that hardly a unit turns on or off in between.
      const step = 2 ** -10;
      for (const name of parameters.names) {
        const own = parameters.value(name) as Float32Array;
        for (let i = 0; i < own.length; i += 7) {
          const at = async (offset: number) => {
            const kept = own[i]!;
            own[i] = kept + offset;
            const sum = await objective();
            own[i] = kept;
            return sum;
          };
          const near = (await at(step)) - (await at(-step));
          const measured = (8 * near - ((await at(2 * step)) - (await at(-2 * step)))) / (12 * step);
          const error = Math.abs(measured - grads[name]!.data[i]!) / (1 + Math.abs(measured));
          expect({ name, i, small: error < 1e-3 }).toEqual({ name, i, small: true });
        }
      }
    });
  });

  describe('the relation walker that reads words', () => {
    test('gives probabilities: a walk is drawn as its length and its relations are', async () => {
      const network = await networkOf();
      const scores = (await network.scores([request(3), request(3, 1), request(3, 1, 4)])).map(Math.exp);
      for (const i of [0, 1, 2]) expect(rowOf(scores, i).reduce((sum, p) => sum + p)).toBeCloseTo(1, 5);
      expect(scores[stop]).toBe(0);
      const ends = [scores[size + stop]!, (1 - scores[size + stop]!) * scores[2 * size + stop]!];
      const other = (await network.scores([request(3, 0), request(3, 5, 2)])).map(Math.exp);
      // How long a walk is does not depend on where it went, and neither does a relation on those before.
      expect(other[stop]).toBeCloseTo(ends[0]!, 6);
      expect((1 - ends[0]!) * other[size + stop]!).toBeCloseTo(ends[1]!, 6);
      expect(other[2]).toBeCloseTo(scores[size + 2]!, 6);
    });

    test('drops the same numbers of a text in rollouts and updates, in any batch', async () => {
      const network = await networkOf();
      const whole = await network.scores(requests);
      const actor = relationActor(network);
      actor.drop!(Rng.named(1, 'test'));
      const walked = await network.scores(requests);
      expect(walked).not.toEqual(whole);
      expect(await network.recorded(requests).read()).toEqual(walked);
      expect([...(await network.recorded([requests[3]!]).read())]).toEqual(rowOf(walked, 3));
      actor.drop!(Rng.named(2, 'test'));
      expect(await network.scores(requests)).not.toEqual(walked);
      actor.drop!(undefined);
      expect(await network.scores(requests)).toEqual(whole);
    });

    test('says the same as an actor, as a reader and alone, and forgets what other weights said', async () => {
      const network = await networkOf();
      const scores = await network.scores(requests);
      const behind = await relationReader(network).of(tasks[3]!);
      expect([...(await behind([0, 1], new Uint8Array(size).fill(1)))]).toEqual(rowOf(scores, 4));
      const { logProbs } = await actionLogProbs(relationActor(network), [requests[4]!]);
      logProbs.forEach((logProb, action) => expect(logProb).toBeCloseTo(scores[4 * size + action]!, 5));
      network.parameters.import(await (await networkOf(4)).parameters.export());
      expect(await network.scores(requests)).not.toEqual(scores);
      expect(await network.scores(requests)).toEqual(await (await networkOf(4)).scores(requests));
    });
  });
});

describe('decoding', () => {
  const graph = filmGraph();
  const stop = graph.numRelations;
  const from = (name: string, hops?: number) =>
    initialRelationState(
      frontierTrie(graph).root([graph.entityId(name)]),
      hops === undefined ? defaultRelationRules : { horizon: 3, hops: 'given' },
      hops,
    );
  const decodeChains = (initial: RelationWalkState, scored: (relations: Int32Array) => Float32Array, width: number) =>
    decode(initial, scored, width, () => Promise.resolve());
  const names = (relations: Int32Array) => Array.from(relations, (relation) => graph.relationNames[relation]).join(' ');

  /** Scores that prefer named actions behind a prefix; everything else gets 0. */
  const scores = (table: Record<string, Record<string, number>>) => (relations: Int32Array) => {
    const row = new Float32Array(stop + 1);
    for (const [name, score] of Object.entries(table[names(relations)] ?? {})) {
      row[name === 'stop' ? stop : graph.relationId(name)] = score;
    }
    return row;
  };

  test('greedy follows the best legal action until STOP or the horizon', async () => {
    const table = scores({
      '': { '~year': 50, directed_by: 5 },
      directed_by: { '~directed_by': 5 },
      'directed_by ~directed_by': { stop: 9 },
    });
    const [best, ...others] = await decodeChains(from('tenet'), table, 1);
    expect(others).toEqual([]);
    expect(names(best!.node.relations)).toBe('directed_by ~directed_by');
    expect(best!.stopped).toBe(true);
    // Legal at the start: three relations. Behind the first: one and STOP. Behind the second: three and STOP.
    const logProb = 5 - Math.log(Math.exp(5) + 2) + 5 - Math.log(Math.exp(5) + 1) + 9 - Math.log(Math.exp(9) + 3);
    expect(best!.logProb).toBeCloseTo(logProb, 5);
    const long = await decodeChains(
      from('tenet'),
      scores({ '': { directed_by: 5 }, directed_by: { '~directed_by': 5 }, 'directed_by ~directed_by': { year: 1 } }),
      1,
    );
    expect(names(long[0]!.node.relations)).toBe('directed_by ~directed_by year');
    expect(long[0]!.stopped).toBe(false);
  });

  test('a beam finds what greedy passes by', async () => {
    // Greedy takes `starring` (0.5) and then spreads; `year` then STOP for certain is likelier as a whole.
    const table = scores({ '': { starring: 0.2, year: 0.1, directed_by: -9 }, year: { stop: 20 } });
    expect(names((await decodeChains(from('juno'), table, 1))[0]!.node.relations)).toMatch(/^starring/);
    const beam = await decodeChains(from('juno'), table, 4);
    expect(names(beam[0]!.node.relations)).toBe('year');
    for (let i = 1; i < beam.length; i++) expect(beam[i]!.logProb).toBeLessThanOrEqual(beam[i - 1]!.logProb);
  });

  test('a wide beam finds every walk, and their probabilities add up to one', async () => {
    const all = await decodeChains(from('tenet'), scores({ '': { year: 1 } }), 10_000);
    expect(new Set(all.map(({ node, stopped }) => `${names(node.relations)} ${stopped}`)).size).toBe(all.length);
    expect(all.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 5);
  });

  test('with given hops it stops nowhere else', async () => {
    const [best] = await decodeChains(
      from('tenet', 2),
      scores({ '': { directed_by: 3 }, directed_by: { stop: 50 } }),
      1,
    );
    expect(names(best!.node.relations)).toBe('directed_by ~directed_by');
  });

  test('nothing comes out of a topic without edges', async () => {
    const nowhere = initialRelationState(frontierTrie(graph).root([-1]), defaultRelationRules);
    expect(await decodeChains(nowhere, scores({}), 3)).toEqual([]);
  });
});

const tasks = filmQuestions(filmGraph()).map(({ task }) => task);

test('a question is read with [E] for its topic, or as it is', () => {
  expect(questionText(tasks[2]!, false)).toBe('films by the director of [E]');
  expect(questionText(tasks[2]!, true)).toBe('films by the director of tenet');
});

test('B-LIZ-1: vectors are scaled by mean and deviation over questions, not over texts', () => {
  // Two texts, the first asked three times: means 0.25 and 5, deviations √3/4 and none.
  const encoded = { matrix: Float32Array.of(0, 5, 1, 5), rows: Int32Array.of(0, 0, 0, 1), dim: 2 };
  const scale = vectorScale(encoded);
  expect([...scale.mean]).toEqual([0.25, 5]);
  expect([...scale.deviation]).toEqual([Math.fround(Math.sqrt(3) / 4), 1]);
  const texts = new ScaledTexts({ ...hashedEncoder(8), dim: 2 }, scale, 128);
  texts.keep(['a', 'a', 'a', 'b'], encoded);
  expect([...texts.matrix(['a', 'b'])].map((value) => Number(value.toFixed(4)))).toEqual([-0.5774, 0, 1.7321, 0]);
  expect(() => vectorScale({ ...encoded, rows: new Int32Array(0) })).toThrow(/expected train questions/);
});

test('the scale comes back from the run’s folder as it was', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-scale-'));
  expect(() => readScale(folder)).toThrow(/expected the scale of question vectors, got none/);
  const scale = { mean: Float32Array.of(0.5, -1), deviation: Float32Array.of(2, 1) };
  writeScale(folder, scale);
  expect(readScale(folder)).toEqual(scale);
  writeFileSync(join(folder, 'embeddings', 'question-scale.safetensors'), 'broken');
  expect(() => readScale(folder)).toThrow();
});
