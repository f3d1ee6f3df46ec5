import { describe, expect, test } from '@jest/globals';
import { actionLogProbs } from '../../../trainers/actor.js';
import type { StateRequest } from '../../../agents/dialogue-walker/features/featurizer.js';
import {
  type StateBatch,
  allocateBatch,
  createStateRows,
  scalarNames,
} from '../../../agents/dialogue-walker/heads/head.js';
import { linkedTurns, linkedTurnsOf } from '../../../agents/dialogue-walker/linked-turns.js';
import { type Policy, StateReader, walkerActor } from '../../../agents/dialogue-walker/policy.js';
import type { WalkerSettings } from '../../../agents/dialogue-walker/settings.js';
import { encodeTasks } from '../../../agents/dialogue-walker/vectors.js';
import { walkerAgent } from '../../../agents/dialogue-walker/agent.js';
import type { Dialogue } from '../../../datasets/dialogue.js';
import { type WalkTask, walkSamples } from '../../../datasets/walk-sample.js';
import { defaultWalkRules, initialState } from '../../../envs/dialogue-walk/rules.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { Graph } from '../../../src/kg/graph.js';
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { laterSample, reachableStates, tinySettings, toyFeaturizer } from '../../fixtures/toy-walker.js';
import { graphOf, graphOfIds, sampleOf, toyTwoHop } from '../../fixtures/toy-walks.js';

/** Scores actions by their tail and counts the actions of each call. */
function countingHead() {
  const calls: number[] = [];
  const infer = async (batch: StateBatch) => {
    calls.push(batch.tails.length);
    return Float32Array.from(batch.tails, (tail) => Math.sin(tail));
  };
  return { calls, head: { infer } as Policy['head'] };
}

/** A graph whose entity 0 has `degree` edges, by many relations to a hundred tails, and whose entity 1 has one. */
function hubGraph(degree: number): Graph {
  const relations = Array.from({ length: degree / 100 }, (_, i) => `r-${i}`);
  const edge = (i: number) => [Number(i === degree), Math.floor(i / 100) % relations.length, i % 100];
  const edges = Array.from({ length: degree + 1 }, (_, i) => edge(i));
  return graphOfIds(100, relations, edges);
}

async function requestsAt(graph: Graph, starts: readonly number[]) {
  const edges = [0, 1].map((head) => [`e${head}`, 'r-0', 'e0'] as const);
  const samples = edges.map((edge) => sampleOf(graph, edge[0], 'hello', edge[0], [edge]));
  const featurizer = await toyFeaturizer({ graph, samples }, { edgeFeatures: false });
  const requests = starts.map((start) => ({
    task: samples[start]!.task,
    state: initialState(graph, start, defaultWalkRules),
  }));
  return { featurizer, requests };
}

describe('log-probabilities of many states', () => {
  test('are those of each state by itself, however they are cut into chunks', async () => {
    const { featurizer, requests } = await requestsAt(hubGraph(7000), [0, 1, 0, 1, 0, 0, 0]);
    const { calls, head } = countingHead();
    const { logProbs, offsets } = await actionLogProbs(walkerActor({ head, featurizer }), requests);
    // At most 16,384 actions a call: two hubs, with the small states between.
    expect(calls).toEqual([14_002, 14_000, 7000]);
    expect([...offsets]).toEqual([0, 7000, 7001, 14_001, 14_002, 21_002, 28_002, 35_002]);
    for (const [i, request] of requests.entries()) {
      const alone = (await actionLogProbs(walkerActor({ head, featurizer }), [request])).logProbs;
      expect(logProbs.subarray(offsets[i], offsets[i + 1]).every((value, k) => value === alone[k])).toBe(true);
    }
    expect(logProbs[7000]).toBe(0);
  });

  test('of a hub larger than a chunk are all there', async () => {
    const { featurizer, requests } = await requestsAt(hubGraph(17_000), [0, 0]);
    const { calls, head } = countingHead();
    expect((await actionLogProbs(walkerActor({ head, featurizer }), requests)).logProbs).toHaveLength(34_000);
    expect(calls).toEqual([17_000, 17_000]);
  });

  test('of chosen actions are renormalised over those', async () => {
    const world = toyTwoHop();
    const featurizer = await toyFeaturizer(world);
    const [request] = reachableStates(world);
    const { head } = countingHead();
    const { logProbs } = await actionLogProbs(walkerActor({ head, featurizer }), [
      { ...request!, actions: Int32Array.of(1, 3) },
    ]);
    expect(Math.exp(logProbs[0]!) + Math.exp(logProbs[1]!)).toBeCloseTo(1, 6);
  });

  test('of no states are none', async () => {
    const featurizer = await toyFeaturizer(toyTwoHop());
    const { logProbs, offsets } = await actionLogProbs(walkerActor({ head: countingHead().head, featurizer }), []);
    expect([logProbs.length, ...offsets]).toEqual([0, 0]);
  });
});

const films = graphOf('films', [
  ['heat', 'directed_by', 'mann'],
  ['heat', 'genre', 'crime'],
  ['mann', '~directed_by', 'heat'],
  ['mann', '~directed_by', 'ali'],
]);
const filmSamples = ['what else', 'who made it'].map((text, i) =>
  laterSample(films, `d${i}`, `d${i}`, ['I like heat a lot', 'so do I', text], [], [['heat', 'directed_by', 'mann']]),
);
const statesOf = (): StateRequest[] => reachableStates({ graph: films, samples: filmSamples });
const settings = (changes = {}) => stateTextSettings.parse({ encode: 'per-step', ...changes });

describe('a reader of states', () => {
  test('gives each state the vector of its text', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings());
    const states = statesOf();
    await reader.read(states);
    const texts = await reader.texts(states);
    const { matrix, rows } = await hashedEncoder(32).encode(texts);
    states.forEach(({ vector }, i) => {
      expect([...vector!]).toEqual([...matrix.subarray(32 * rows[i]!, 32 * rows[i]! + 32)]);
    });
    expect(new Set(texts).size).toBe(states.length);
  });

  test('B-ARK-17: encodes distinct states once, and nothing that has its vector', async () => {
    const encoder = hashedEncoder(32);
    const reader = new StateReader(encoder, films, settings());
    const [first] = statesOf();
    const copies = Array.from({ length: 8 }, () => ({ ...first! }));
    await reader.read(copies);
    expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
    await reader.read(copies);
    expect(encoder.counters).toMatchObject({ encodes: 1, requests: 8 });
  });

  test('trims every state of a task alike, by the encoder’s own tokens', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings({ maxTokens: 80, walkTokens: 20 }));
    const texts = await reader.texts(statesOf());
    for (const text of texts) {
      expect(text).not.toContain('I like heat a lot');
      expect(text).toMatch(/what else|who made it/);
    }
    const whole = await new StateReader(hashedEncoder(32), films, settings()).texts(statesOf());
    for (const text of whole) expect(text).toContain('I like heat a lot');
  });

  test('ends once it is stopped', async () => {
    const reader = new StateReader(hashedEncoder(32), films, settings(), AbortSignal.abort());
    await expect(reader.read(statesOf())).rejects.toMatchObject({ code: 'stopped' });
  });
});

const world = toyTwoHop();
const tasks = world.samples.map(({ task }) => task);
/** The first coordinates of a state's text steer it: answers hang on the dialogue. */
const head = {
  infer: async ({ tails, stateOf, context, numStates }) =>
    Float32Array.from(tails, (tail, i) => 3 * Math.sin(tail * context[(stateOf[i]! * context.length) / numStates]!)),
} as Policy['head'];

async function agentOf(beamWidth = 5, delays: number[] = []) {
  const featurizer = await toyFeaturizer(world);
  featurizer.texts = undefined;
  const encoder = hashedEncoder(16);
  const settings = { lastMessageTokens: 96, windowTokens: 128, windowMessages: 3, nameTokens: 32 };
  const encode = async (asked: readonly WalkTask[]) => {
    const texts = await encodeTasks(encoder, asked, { settings });
    for (let turns = delays.shift() ?? 0; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    return texts;
  };
  return walkerAgent({ head, featurizer }, { name: 'toy', beamWidth, encode });
}

describe('a walker as an agent', () => {
  test('answers every task in order, with no more paths than its beam is wide', async () => {
    const agent = await agentOf(3);
    const done: number[] = [];
    const answers = await agent.answer(tasks, (count) => done.push(count));
    expect(answers).toHaveLength(tasks.length);
    answers.forEach(({ paths }, i) => {
      expect(paths.length).toBeLessThanOrEqual(3);
      for (const { path } of paths) expect(path[0]![0]).toBe(tasks[i]!.start);
    });
    expect(done).toEqual([tasks.length]);
  });

  test('answers many tasks as it answers each', async () => {
    const agent = await agentOf();
    const many = Array.from({ length: 40 }, (_, i) => tasks[i % tasks.length]!);
    const alone = await Promise.all(tasks.map(async (task) => (await agent.answer([task]))[0]));
    expect(await agent.answer(many)).toEqual(many.map((_, i) => alone[i % tasks.length]));
    expect(new Set(alone.map((answer) => JSON.stringify(answer))).size).toBeGreaterThan(1);
  });

  test('serves calls at the same time as one after the other', async () => {
    const long = Array.from({ length: 33 }, (_, i) => tasks[i % 2]!);
    const agent = await agentOf(5, [0, 0, 1, 0]);
    const expected = [await agent.answer(long), await agent.answer(tasks.slice(2))];
    expect(await Promise.all([agent.answer(long), agent.answer(tasks.slice(2))])).toEqual(expected);
  });
});

/** Three entities and two relations, with vectors that identify the source of each number. */
const tables = {
  entities: Float32Array.of(10, 11, 20, 21, 30, 31),
  entityDim: 2,
  relations: Float32Array.of(100, 200),
  relationDim: 1,
};
const [equal, none] = [2, 3];
const contextDim = 4;
const numScalars = scalarNames().length;

/** A walk that stands at its start, and one that went from entity 0 to 2 by relation 1 after a path that ended in 0. */
function twoStates(): StateBatch {
  const batch = allocateBatch(2, 0, { contextDim, numScalars, numEdgeFeatures: 0, horizon: 2 });
  batch.context.set([1, 2, 3, 4, 5, 6, 7, 9]);
  batch.start.set([1, 0]);
  batch.current.set([1, 2]);
  batch.lastRelation.set([none, 1]);
  batch.previousPathRelation.set([none, 0]);
  batch.scalars.set([0, 1, 0, 0, 0, 0.25, 1, 1, 1, 0, 1, 0.5]);
  return batch;
}

const paper = { placeVectors: false } as const;
const rowsOf = (changes: Partial<WalkerSettings>, withRelations = true, horizon = 3) =>
  createStateRows(
    tinySettings({ head: 'pa-mlp', ...changes }),
    { contextDim, horizon, numScalars, tables },
    withRelations,
  );

describe('the rows of states', () => {
  test('hold text, place and scalars, with the relations or without', () => {
    const actor = rowsOf({});
    const first = [1, 2, 3, 4, 20, 21, 20, 21, 0, 0, 0, 1, 0, 0, 0, 0.25];
    const second = [5, 6, 7, 9, 10, 11, 30, 31, 200, 100, 1, 1, 1, 0, 1, 0.5];
    expect(actor.dim).toBe(16);
    expect([...actor.of(twoStates())]).toEqual([...first, ...second]);
    const critic = rowsOf({}, false);
    expect(critic.dim).toBe(14);
    const without = (row: number[]) => row.filter((_, i) => i < 8 || i > 9);
    expect([...critic.of(twoStates())]).toEqual([...without(first), ...without(second)]);
    expect(scalarNames()).toHaveLength(6);
  });

  test('have zeros for a stay and for no relation', () => {
    const batch = twoStates();
    batch.lastRelation[1] = equal;
    expect([...rowsOf({}).of(batch)].slice(16 + 8, 16 + 10)).toEqual([0, 100]);
  });

  test('are the text alone as published, the same for actor and critic', () => {
    for (const withRelations of [true, false]) {
      const rows = rowsOf(paper, withRelations);
      expect(rows.dim).toBe(contextDim);
      expect(rows.of(twoStates())).toEqual(twoStates().context);
    }
  });

  test('add a sinusoid of the step to the text, nothing at the first step', () => {
    const rows = rowsOf({ ...paper, stepEncoding: 'additive-sin' });
    expect(rows.dim).toBe(contextDim);
    const [sin, cos] = [Math.sin(1), Math.cos(1)];
    expectClose(rows.of(twoStates()), [1, 2, 3, 4, 5 + sin, 6 + cos, 7 + Math.sin(0.01), 9 + Math.cos(0.01)], 1e-6);
    const third = twoStates();
    third.scalars[numScalars] = 2;
    expectClose(rows.of(third).subarray(4, 6), [5 + Math.sin(2), 6 + Math.cos(2)], 1e-6);
  });

  test.each([true, false])('append the step as one-hot up to the horizon, place vectors %s', (placeVectors) => {
    const [plain, rows] = [rowsOf({ placeVectors }), rowsOf({ placeVectors, stepEncoding: 'concat' })];
    expect(rows.dim).toBe(plain.dim + 3);
    const [before, got] = [plain.of(twoStates()), rows.of(twoStates())];
    [
      [1, 0, 0],
      [0, 1, 0],
    ].forEach((steps, s) => {
      const own = [...before.subarray(s * plain.dim, (s + 1) * plain.dim)];
      expect([...got.subarray(s * rows.dim, (s + 1) * rows.dim)]).toEqual([...own, ...steps]);
    });
  });

  test('have text of mean 0 and variance 1 before the step is added, and nothing else changed', () => {
    const rows = rowsOf({ stateNorm: 'layer', stepEncoding: 'additive-sin' }).of(twoStates());
    const [mean, deviation] = [2.5, Math.sqrt(1.25 + 1e-5)];
    expectClose(
      rows.subarray(0, 4),
      [1, 2, 3, 4].map((value) => (value - mean) / deviation),
      1e-6,
    );
    const [other, spread] = [6.75, Math.sqrt(2.1875 + 1e-5)];
    const step = [Math.sin(1), Math.cos(1), Math.sin(0.01), Math.cos(0.01)];
    expectClose(
      rows.subarray(16, 20),
      [5, 6, 7, 9].map((value, i) => (value - other) / spread + step[i]!),
      1e-6,
    );
    expect([...rows.subarray(4, 16)]).toEqual([...rowsOf({}).of(twoStates()).subarray(4, 16)]);
  });

  test('are rounded to bfloat16 when asked for, and leave the batch as it is', () => {
    const batch = twoStates();
    batch.context.set([1 / 3, -1.01, 1e-3, 257]);
    const before = structuredClone(batch);
    const changes = { stateNorm: 'layer', stepEncoding: 'additive-sin' } as const;
    const exact = rowsOf(changes).of(batch);
    expect(rowsOf({ ...changes, precision: 'bf16' }).of(batch)).toEqual(roundedToBfloat16(exact));
    expect(rowsOf({ ...paper, precision: 'bf16' }).of(batch)[3]).toBe(256);
    expect(batch).toEqual(before);
  });
});

const graph = graphOf('films', [
  ['Deep Water (film)', 'written_by', 'Ada Quill'],
  ['Deep Water (film)', 'directed_by', 'Ada Quill'],
  ['Deep Water (film)', 'has_genre', 'drama'],
  ['Deep Water (film)', 'released', '1999'],
  ['Ada Quill', '~directed_by', 'Deep Water (film)'],
  ['Ada Quill', '~directed_by', 'Paper Moons'],
  ['Ada Quill', 'born_in', 'Lund'],
  ['Paper Moons', 'directed_by', 'Ada Quill'],
  ['Paper Moons', 'starring', 'Bo Ek'],
  ['Paper Moons', 'starring', 'Sand'],
]);

type Names = [string, string, string][];

const dialogue = (id: string, messages: string[], paths: [position: number, triples: Names][] = []): Dialogue => ({
  id,
  messages: messages.map((text, i) => ({ sender: i % 2 === 0 ? 'user' : 'assistant', text })),
  paths: paths.map(([position, triples]) => ({ sender: position % 2 === 0 ? 'user' : 'assistant', position, triples })),
});

/** Golds by which a film’s director is its usual relation, and director’s other films the only usual pair. */
const golds = Array.from({ length: 10 }, (_, i) =>
  dialogue(
    `gold-${i}`,
    ['?', '!'],
    [
      [
        1,
        [
          ['Deep Water (film)', 'directed_by', 'Ada Quill'],
          ['Ada Quill', '~directed_by', 'Paper Moons'],
        ],
      ],
    ],
  ),
);

function linked(...dialogues: Dialogue[]) {
  const train = walkSamples(golds, graph);
  return linkedTurns([...golds, ...dialogues], train, graph).map(({ task, gold }) => ({
    id: task.id,
    start: task.startName,
    path: gold.path.map(([, relation, tail]) => `${graph.relationNames[relation]} ${graph.entityNames[tail]}`),
  }));
}

describe('an unannotated turn', () => {
  test('is linked from what was said before to what is named first, by the edge that golds use most', () => {
    expect(linked(dialogue('d', ['Who made Deep Water?', 'That was Ada Quill.']))).toEqual([
      { id: 'd~1', start: 'Deep Water (film)', path: ['directed_by Ada Quill'] },
    ]);
  });

  test('starts where the last path ended, rather than at what was named', () => {
    const path: Names = [['Deep Water (film)', 'directed_by', 'Ada Quill']];
    const messages = ['I saw Deep Water.', 'Somebody made it.', 'And what else?', 'Paper Moons. She was born in Lund.'];
    expect(linked(dialogue('d', messages, [[1, path]]))).toEqual([
      { id: 'd~3', start: 'Ada Quill', path: ['~directed_by Paper Moons'] },
    ]);
  });

  test('is linked by two edges whose relations golds use ten times, and by no others', () => {
    expect(linked(dialogue('d', ['I saw Deep Water.', 'Then see Paper Moons!']))).toEqual([
      { id: 'd~1', start: 'Deep Water (film)', path: ['directed_by Ada Quill', '~directed_by Paper Moons'] },
    ]);
    expect(linked(dialogue('d', ['I know Ada Quill.', 'She works with Bo Ek.']))).toEqual([]);
  });

  test('has what was said and walked before in its task, and its dialogue’s id', () => {
    const path: Names = [['Deep Water (film)', 'directed_by', 'Ada Quill']];
    const asked = dialogue('d', ['I saw Deep Water.', 'It is hers.', 'And?', 'Paper Moons.'], [[1, path]]);
    const [sample] = linkedTurns([asked], walkSamples(golds, graph), graph).slice(-1);
    const [gold] = walkSamples([asked], graph);
    expect(sample!.task).toMatchObject({ dialogueId: 'd', sender: 'assistant', linked: true });
    expect(sample!.task.messages).toEqual(asked.messages.slice(0, 3));
    expect(sample!.task.earlierPaths).toEqual([gold!.gold.path]);
    expect(gold!.task.linked).toBeUndefined();
  });

  test('is left alone where it names nothing new, nothing linked, or nothing at all', () => {
    expect(linked(dialogue('d', ['Deep Water by Ada Quill', 'Ada Quill, yes.']))).toEqual([]);
    expect(linked(dialogue('d', ['I know Bo Ek.', 'He is no Ada Quill.']))).toEqual([]);
    expect(linked(dialogue('d', ['I saw Deep Water.', 'So did I.']))).toEqual([]);
    expect(linked(dialogue('d', ['Ada Quill']))).toEqual([]);
  });

  test('looks back three messages, no further', () => {
    const between = (count: number) => Array.from({ length: count }, () => 'Hm.');
    expect(linked(dialogue('d', ['I saw Deep Water.', ...between(2), 'By Ada Quill.']))).toHaveLength(1);
    expect(linked(dialogue('d', ['I saw Deep Water.', ...between(3), 'By Ada Quill.']))).toEqual([]);
  });
});

test('an annotated turn is never linked', () => {
  const path: Names = [['Deep Water (film)', 'written_by', 'Ada Quill']];
  expect(linked(dialogue('d', ['Who made Deep Water?', 'That was Ada Quill.'], [[1, path]]))).toEqual([]);
});

describe('a name of one word', () => {
  const found = (reply: string) => linked(dialogue('d', ['Of Paper Moons, Deep Water and Ada Quill?', reply])).length;

  test.each(['It has Sand in it.', 'It is a drama.', 'It came out in 1999.', 'With Lund, of course.'])(
    'counts where it is capitalised inside the sentence, a genre or a year: %s',
    (reply) => expect(found(reply)).toBe(1),
  );

  test.each(['There is sand in it.', 'Sand is in it.', 'No. Sand is in it.'])('does not count elsewhere: %s', (reply) =>
    expect(found(reply)).toBe(0),
  );
});

test('a run links the dialogues and speakers that its settings choose', () => {
  const data = { turns: 'all', maxDialogues: null, trainSamples: null, validSamples: null } as const;
  const dialogues = ['a', 'b', 'c'].map((id) => dialogue(id, ['Deep Water?', 'By Ada Quill.', 'Is that a drama?']));
  const dataset = { loadDialogues: () => [...golds, ...dialogues] };
  const settings = { weight: 0.25, inCounts: false };
  const train = walkSamples(golds, graph);
  const ids = (
    of:
      | Partial<typeof data>
      | { turns: 'assistant' }
      | { maxDialogues: number }
      | { trainSamples: number }
      | { fold: string },
  ) => linkedTurnsOf(dataset, graph, train, { ...data, ...of }, settings)!.samples.map(({ task }) => task.id);
  expect(ids({})).toEqual(['a~1', 'a~2', 'b~1', 'b~2', 'c~1', 'c~2']);
  expect(ids({ turns: 'assistant' })).toEqual(['a~1', 'b~1', 'c~1']);
  expect(ids({ maxDialogues: golds.length + 1 })).toEqual(['a~1', 'a~2']);
  // Each dialogue is left out by one fold, with all its linked turns.
  const folds = ['1/2', '2/2'].map((fold) => ids({ fold }));
  expect(folds.flat().sort()).toEqual(ids({}));
  const [first, second] = folds.map((own) => new Set(own.map((id) => id[0])));
  for (const one of first!) expect(second).not.toContain(one);
  // No sample of these dialogues is in the draw.
  expect(ids({ trainSamples: 10 })).toEqual([]);
  expect(linkedTurnsOf(dataset, graph, train, data, settings)).toMatchObject(settings);
  expect(linkedTurnsOf(dataset, graph, train, data, null)).toBeUndefined();
});
