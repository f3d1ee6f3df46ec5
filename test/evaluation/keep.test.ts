/** Resuming evaluations of agents that call no model: no row is evaluated twice. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Agent } from '../../agents/agent.js';
import type { QuestionAgent } from '../../agents/question-agent.js';
import { uniformWalk } from '../../agents/link-agents.js';
import { scorerRanker } from '../../agents/link-ranker.js';
import type { LinkDataset } from '../../datasets/links/link-dataset.js';
import { batchAsker, questionRunner } from '../../evaluation/ask.js';
import { type AskedEvaluation, evaluationFiles, keepEvaluation } from '../../evaluation/keep.js';
import { askedOfShard, type Shard, shardFolder, shardSamples } from '../../evaluation/shards.js';
import type { AgentRunner, Row, Sample, Scorer } from '../../evaluation/score.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import { knownAnswers, withInverses } from '../../src/embedding/known-answers.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { checkEvaluationSeal } from '../../src/run/evaluation.js';
import { dialogueScorer } from '../../tasks/dialogues/score.js';
import { linkQuestions, rankerAsker } from '../../tasks/links/data.js';
import { linkScorer } from '../../tasks/links/score.js';
import { questionScorer } from '../../tasks/questions/score.js';
import { namedWalk, sampleOf, world } from '../agents/baselines/toy-world.js';
import { finalEntities } from '../fixtures/final-entities.js';
import { tinyLinkWorld } from '../fixtures/tiny-links.js';
import { partialRows } from '../fixtures/partial-rows.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { answerOf, harbour, id, questionOf } from '../fixtures/toy-harbour.js';

interface Kept<S extends Sample, Answer, R extends Row> {
  asker: AgentRunner<S['task'], Answer>;
  samples: readonly S[];
  scorer: Scorer<S, Answer, R>;
}

const director = namedWalk('Heat', 'directed_by', 'Mann');

function onDialogues(): Kept<Sample, unknown, Row> {
  const samples = Array.from({ length: 60 }, (_, i) => sampleOf(`s${i}`, director));
  const agent: Agent = {
    name: 'toy',
    answer: (tasks) =>
      Promise.resolve(
        tasks.map(({ id, start }) => {
          if (id === 's45') throw new Error('no more memory');
          const paths = [{ path: director, logProb: -Number(id.slice(1)) }];
          const answers = finalEntities(paths, start, world.equalRelation);
          return { paths, answers, confidence: NaN, cost: { encodes: 1 } };
        }),
      ),
  };
  const { ks, beamWidth } = evaluationSettings.parse({});
  const shared = {
    graph: world,
    walks: { graph: world },
    seenTargets: new Set<number>(),
    withArk: false,
    horizon: 2,
    train: [],
  };
  const scorer = dialogueScorer({ ...shared, ks, beamWidth, samples });
  return { asker: batchAsker(agent, { batchSize: 10 }), samples, scorer } as unknown as Kept<Sample, unknown, Row>;
}

function onLinks(): Kept<Sample, unknown, Row> {
  const { graph, train, known } = tinyLinkWorld();
  const plain = graph.numRelations / 2;
  const data = { known: withInverses(known, plain), trainKnown: withInverses(knownAnswers([train]), plain) };
  const manifest = { name: 'tiny', files: {} };
  const dataset = { graph, labels: graph.entityNames, ...data, manifest, test: train } as unknown as LinkDataset;
  const { samples } = linkQuestions(dataset, 'test', train, { directions: ['tail', 'head'], horizon: 2 });
  const ranker = { ...scorerRanker(uniformWalk(graph, 2), graph), batchSize: 3 };
  const kept = { asker: rankerAsker(ranker, dataset), samples, scorer: linkScorer(dataset, 2) };
  return kept as unknown as Kept<Sample, unknown, Row>;
}

/** By an agent that asks no model and traces what it does. */
function onQuestions(): Kept<Sample, unknown, Row> {
  const samples = Array.from({ length: 24 }, (_, i) => questionOf(`q${i}`, 'Tamsin', i % 2 ? ['Ivo'] : ['Ada']));
  const agent: QuestionAgent = {
    ...{ name: 'toy', topicGiven: true, prompted: false },
    answer({ id: question, topics }, { trace }) {
      trace({ event: 'start', entities: topics.map(({ entity }) => entity) });
      if (question === 'q7') throw new Error('no more memory');
      trace({ event: 'note', text: `reads ${question}` });
      return Promise.resolve(answerOf({ entities: [id('Ivo')] }));
    },
  };
  const scorer = questionScorer({ graph: harbour, names: new NameIndex(harbour), budget: null, topicGiven: true });
  return { asker: questionRunner(agent), samples, scorer } as unknown as Kept<Sample, unknown, Row>;
}

const asked: AskedEvaluation = {
  ...{ schemaVersion: 2, kind: 'evaluation', task: 'any', agent: 'toy', resamples: 20 },
  ...{ about: { dataset: 'toy', split: 'valid' }, hashes: {} },
};
const compared = ['asked', 'answers', 'traces', 'rows', 'evaluation', 'provenance', 'seal'] as const;

/** Runs an evaluation with one worked example, so that four samples are evaluated again. @returns their ids */
async function keep(
  { asker, ...kept }: Kept<Sample, unknown, Row>,
  folder: string,
  stopAfter = Infinity,
  what = asked,
) {
  const controller = new AbortController();
  const ids: string[] = [];
  const counting: typeof asker = {
    ...asker,
    ask: (tasks, take, options) =>
      asker.ask(
        tasks,
        (index, attempt) => {
          ids.push(tasks[index]!.id);
          take(index, attempt);
          if (ids.length === stopAfter) controller.abort(new WorkbenchError('stopped', 'stopped by the user'));
        },
        options,
      ),
  };
  const options = { asked: what, folder, examples: 1, signal: controller.signal };
  const done = await keepEvaluation(counting, kept.samples, kept.scorer, options).catch((error: unknown) => error);
  const files = evaluationFiles(folder);
  const bytes = () => compared.map((name) => existsSync(files[name]) && readFileSync(files[name]));
  return { ids, done, files, bytes };
}

describe.each([
  ['dialogues', onDialogues],
  ['links', onLinks],
  ['questions, traced', onQuestions],
])('an evaluation on %s that was stopped', (_, made) => {
  test('resumes without evaluating known samples again, and ends with the bytes of an unbroken run', async () => {
    const whole = await keep(made(), join(folderWith({}), 'one'));
    const count = made().samples.length;
    expect(whole.ids).toHaveLength(count);
    const folder = join(folderWith({}), 'one');
    const first = await keep(made(), folder, Math.floor(count / 2));
    expect(first.done).toMatchObject({ code: 'stopped', hint: expect.stringContaining('resumes') });
    expect(existsSync(first.files.evaluation)).toBe(false);
    const second = await keep(made(), folder);
    expect(second.done).toMatchObject({ resumed: true });
    const again = second.ids.filter((id) => first.ids.includes(id));
    expect(again.length).toBeLessThanOrEqual(4);
    expect(second.ids.length).toBeLessThanOrEqual(count - first.ids.length + 4);
    expect(new Set([...first.ids, ...second.ids]).size).toBe(count);
    expect(second.bytes()).toEqual(whole.bytes());
    expect(existsSync(second.files.partial)).toBe(false);
  });

  test('and whose rows end in the middle of a line asks that one again', async () => {
    const whole = await keep(made(), join(folderWith({}), 'one'));
    const rows = partialRows(dirname(whole.files.answers));
    for (const share of [0.25, 0.9]) {
      const cut = rows.subarray(0, Math.floor(share * rows.length));
      const folder = join(folderWith({}), 'one');
      await keep(made(), folder, 1);
      writeFileSync(evaluationFiles(folder).partial, cut);
      const { ids, bytes } = await keep(made(), folder);
      const lines = cut.toString().split('\n').length - 1;
      expect(ids.length).toBeGreaterThanOrEqual(made().samples.length - lines);
      expect(ids.length).toBeLessThanOrEqual(made().samples.length - lines + 4);
      expect(bytes()).toEqual(whole.bytes());
    }
  });
});

describe('rows under way', () => {
  const begun = async (what = asked) => {
    const folder = join(folderWith({}), 'one');
    return { folder, ...(await keep(onQuestions(), folder, 12, what)) };
  };
  const partialOf = (folder: string) => readFileSync(evaluationFiles(folder).partial, 'utf8');

  test('that were altered are refused, and named', async () => {
    const { folder, files } = await begun();
    writeFileSync(files.partial, partialOf(folder).replace('"id":"q3"', '"id":"q4"'));
    const { ids, done } = await keep(onQuestions(), folder);
    expect([ids, done]).toEqual([[], expect.objectContaining({ code: 'data' })]);
    expect((done as WorkbenchError).message).toMatch(
      /expected a line with a checksum that fits, got another, at .*:\d+$/,
    );
  });

  test('that another version of the program counted are asked again', async () => {
    const whole = await keep(onQuestions(), join(folderWith({}), 'one'));
    const { folder, files } = await begun();
    writeFileSync(files.partial, partialRows(dirname(whole.files.answers), '0.0.1'));
    expect((await keep(onQuestions(), folder)).ids).toHaveLength(24);
    const known = await begun();
    writeFileSync(known.files.partial, partialRows(dirname(whole.files.answers)));
    expect((await keep(onQuestions(), known.folder)).ids.length).toBeLessThan(5);
  });

  test('of a checkpoint that is no longer the best go, with the figures and the seal of the former one', async () => {
    const { folder, files } = await begun();
    await keep(onQuestions(), folder, Infinity, { ...asked, step: 3 });
    expect(existsSync(files.seal)).toBe(true);
    expect((await keep(onQuestions(), folder, 2, { ...asked, step: 4 })).done).toMatchObject({ code: 'stopped' });
    expect([existsSync(files.evaluation), existsSync(files.seal)]).toEqual([false, false]);
    const { ids } = await keep(onQuestions(), folder, Infinity, { ...asked, step: 5 });
    expect(ids).toHaveLength(24);
  });

  test('are written once: neither those of parts nor those that are asked again for an example', async () => {
    const folder = join(folderWith({}), 'one');
    await keepShard(onQuestions(), folder, { part: 1, of: 2 });
    for (const stopAfter of [3, 6]) await keep(onQuestions(), folder, stopAfter);
    const ids = [...partialOf(folder).matchAll(/"row":\{"id":"(q\d+)"/g)].map(([, question]) =>
      Number(question!.slice(1)),
    );
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(ids.length);
    expect(Math.min(...ids)).toBeGreaterThanOrEqual(12);
  });
});

test('the seal holds every file but the clock', async () => {
  const folder = join(folderWith({}), 'one');
  const { files } = await keep(onQuestions(), folder);
  const names = readdirSync(folder).filter((name) => !['seal.json', 'timing.jsonl'].includes(name));
  expect(names.sort()).toEqual(
    compared
      .map((name) => basename(files[name]))
      .filter((name) => name !== 'seal.json')
      .sort(),
  );
  for (const name of names) {
    const [file, whole] = [join(folder, name), readFileSync(join(folder, name))];
    writeFileSync(file, Buffer.concat([whole, Buffer.from(' ')]));
    expect(() => checkEvaluationSeal(folder)).toThrow(file);
    writeFileSync(file, whole);
  }
  checkEvaluationSeal(folder);
});

/** One part of an evaluation, kept with the whole. */
function keepShard(kept: Kept<Sample, unknown, Row>, folder: string, shard: Shard, stopAfter = Infinity, what = asked) {
  const own = { ...kept, samples: shardSamples(kept.samples, shard) };
  return keep(own, shardFolder(folder, shard), stopAfter, askedOfShard(what, shard));
}

describe.each([
  ['dialogues', onDialogues],
  ['links', onLinks],
  ['questions, traced', onQuestions],
])('an evaluation on %s in parts', (_, made) => {
  const count = made().samples.length;

  test('asks each sample in one part, and the whole ends with the bytes of one that was made at once', async () => {
    const whole = await keep(made(), join(folderWith({}), 'one'));
    const folder = join(folderWith({}), 'one');
    const parts = [];
    for (const part of [3, 1, 2]) parts.push(await keepShard(made(), folder, { part, of: 3 }));
    const ids = parts.flatMap((one) => one.ids);
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
    for (const { done } of parts)
      expect(done).toMatchObject({ record: { shard: expect.stringMatching(/^[123]\/3$/) } });
    const joined = await keep(made(), folder);
    expect(joined.ids.length).toBeLessThanOrEqual(4);
    expect(joined.bytes()).toEqual(whole.bytes());
    expect(existsSync(join(folder, 'shards'))).toBe(false);
  });

  test('resumes from a stopped part, and evaluates a missing one', async () => {
    const whole = await keep(made(), join(folderWith({}), 'one'));
    const folder = join(folderWith({}), 'one');
    const first = await keepShard(made(), folder, { part: 1, of: 3 });
    const second = await keepShard(made(), folder, { part: 2, of: 3 }, 7);
    expect(second.done).toMatchObject({ code: 'stopped' });
    const joined = await keep(made(), folder);
    expect(joined.ids.length).toBeLessThanOrEqual(count - first.ids.length - second.ids.length + 4);
    expect(joined.bytes()).toEqual(whole.bytes());
  });
});

describe('a part of an evaluation', () => {
  const shard: Shard = { part: 1, of: 2 };

  test('is refused where it asked otherwise, and stays where it is', async () => {
    const folder = join(folderWith({}), 'one');
    await keepShard(onLinks(), folder, shard, Infinity, { ...asked, step: 3 });
    const other = await keep(onLinks(), folder);
    expect(other).toMatchObject({
      ids: [],
      done: { code: 'data', message: expect.stringContaining('asked otherwise') },
    });
    await keepShard(onLinks(), folder, shard);
    expect((await keep(onLinks(), folder)).done).toMatchObject({ resumed: false });
  });

  test('of another version of the program is refused', async () => {
    const folder = join(folderWith({}), 'one');
    const { files } = await keepShard(onLinks(), folder, shard);
    writeFileSync(files.asked, readFileSync(files.asked, 'utf8').replace(/"program": ".*"/, '"program": "0.0.1"'));
    expect((await keep(onLinks(), folder)).done).toMatchObject({
      code: 'data',
      message: expect.stringContaining('asked otherwise'),
    });
  });

  test('whose rows were altered is refused', async () => {
    const folder = join(folderWith({}), 'one');
    const { files } = await keepShard(onLinks(), folder, shard);
    writeFileSync(files.answers, readFileSync(files.answers, 'utf8').replace('"rank":', '"rank":1'));
    expect(await keep(onLinks(), folder)).toMatchObject({ ids: [], done: { code: 'data' } });
  });

  test('has neighbouring samples', () => {
    const parts = [1, 2, 3].map((part) => shardSamples([1, 2, 3, 4, 5, 6, 7], { part, of: 3 }));
    expect(parts).toEqual([
      [1, 2],
      [3, 4],
      [5, 6, 7],
    ]);
  });
});
