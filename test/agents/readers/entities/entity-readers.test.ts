import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { kvMem } from '../../../../agents/readers/entities/kv-mem.js';
import { uniKgqa } from '../../../../agents/readers/entities/uni-kgqa.js';
import { nsm } from '../../../../agents/readers/entities/nsm.js';
import { rankedAnswer } from '../../../../agents/readers/entities/entity-reader.js';
import type { Reader, ReaderKind } from '../../../../agents/readers/reader.js';
import type { QuestionSample } from '../../../../datasets/question.js';
import { Rng } from '../../../../src/run/seeds.js';
import { Diverged } from '../../../../src/nn/diverged.js';
import { tinyFacts, tinyQuestions } from './tiny-films.js';
import { isLong, longTest } from '../../../fixtures/long-tests.js';

const session = { trace: () => {} };

/** A kind with a teacher, or none, of some steps. */
interface Opened {
  kind: ReaderKind;
  name: 'nsm' | 'uni-kgqa' | 'kv-mem';
  entities: { teacher?: 'parallel' | 'hybrid'; teacherSteps?: number };
}

async function opened({ kind, name, entities }: Opened, more: object = {}): Promise<Reader> {
  const facts = tinyFacts(name, { entities: { most: 13, dim: 12, ...entities }, ...more });
  return kind.create(facts, await kind.basis(facts, tinyQuestions));
}

const batchOf = (step: number, of = tinyQuestions) =>
  Rng.named(1, 'test/batch', step)
    .shuffle([...of.keys()])
    .slice(0, 6)
    .map((i) => of[i]!);

async function trained(reader: Reader, steps: number, from = 0, of = tinyQuestions): Promise<number> {
  let loss = 0;
  for (let step = from; step < from + steps; step++) {
    loss = (await reader.step(batchOf(step, of), { step, learningRate: 0.02 })).loss;
  }
  return loss;
}

const right = async (reader: Reader, samples: readonly QuestionSample[]) => {
  let hits = 0;
  for (const { task, gold } of samples) {
    const { entities } = await reader.answer(task, session);
    hits += Number(gold.answers.some(({ entity }) => entity === entities[0]));
  }
  return hits / samples.length;
};

describe.each<[what: string, of: Opened, steps: number]>([
  ['nsm', { kind: nsm, name: 'nsm', entities: {} }, 150],
  ...(['parallel', 'hybrid'] as const).map((teacher): [string, Opened, number] => [
    `nsm with a ${teacher} teacher`,
    { kind: nsm, name: 'nsm', entities: { teacher, teacherSteps: 2 } },
    150,
  ]),
  ['uni-kgqa', { kind: uniKgqa, name: 'uni-kgqa', entities: {} }, 150],
  ['kv-mem', { kind: kvMem, name: 'kv-mem', entities: {} }, 250],
])('the reader %s', (what, of, steps) => {
  // By day the two readers themselves, at night all of their teachers.
  (what.includes('teacher') ? longTest : test)('learns to answer from questions and answers alone', async () => {
    const reader = await opened(of);
    expect(await right(reader, tinyQuestions)).toBeLessThan(0.8);
    await trained(reader, steps);
    expect(await right(reader, tinyQuestions)).toBeGreaterThan(0.9);
    reader.dispose();
  });

  test.each(isLong ? [1, 3] : [3])(
    'resumes from the state after step %i to equal bytes, dropout included',
    async (at) => {
      const more = { fit: { dropout: 0.2, learningRate: 0.02 } };
      const whole = await opened(of, more);
      await trained(whole, 6);
      const first = await opened(of, more);
      await trained(first, at);
      const { steps: done, tensors } = await first.state();
      expect(done).toBe(at);
      const second = await opened(of, more);
      // What the second did before it was restored leaves no trace.
      await trained(second, 3);
      await trained(second, 2, 40);
      second.restore(tensors, done);
      await trained(second, 6 - at, at);
      expect(await second.state()).toEqual(await whole.state());
    },
  );

  test('changes nothing in a step whose numbers are not finite', async () => {
    const reader = await opened(of);
    await trained(reader, 2);
    const { steps: done, tensors } = await reader.state();
    const spoilt = {
      ...tensors,
      relation: { ...tensors.relation!, data: new Float32Array(tensors.relation!.data.length).fill(NaN) },
    };
    reader.restore(spoilt, done);
    await expect(reader.step(batchOf(9), { step: 9, learningRate: 0.02 })).rejects.toThrow(Diverged);
    expect((await reader.state()).tensors).toEqual(spoilt);
    reader.restore(tensors, done);
    await trained(reader, 1, 2);
    const whole = await opened(of);
    await trained(whole, 3);
    expect(await reader.state()).toEqual(await whole.state());
  });

  test('never answers with the topic, says where nothing is near, and abstains from claims', async () => {
    const reader = await opened(of);
    for (const { task } of tinyQuestions) {
      expect((await reader.answer(task, session)).entities).not.toContain(task.topics[0]!.entity);
    }
    const { task } = tinyQuestions[0]!;
    const unknown = { ...task, topics: [{ name: 'nobody', entity: -1 }] };
    expect(await reader.answer(unknown, session)).toMatchObject({ entities: [], stop: 'no topic' });
    expect(await reader.answer({ ...task, form: 'truth' }, session)).toMatchObject({ entities: [], stop: 'form' });
  });

  test('counts questions whose answers are not near as not covered, and learns nothing from them', async () => {
    const reader = await opened(of);
    const before = (await reader.state()).tensors;
    const gone = { ...tinyQuestions[0]!, gold: { answers: [{ name: 'gone', entity: -1 }], chains: [] } };
    const { loss, gradNorm, figures } = await reader.step([gone], { step: 0, learningRate: 0.02 });
    expect({ loss, gradNorm, figures }).toEqual({
      loss: 0,
      gradNorm: 0,
      figures: { 'train/right': 0, 'train/covered': 0 },
    });
    const { tensors } = await reader.state();
    for (const key of Object.keys(before)) expect(tensors[key]).toEqual(before[key]);
  });
});

test('a teacher is trained first, then the student, and the learning rate restarts at the student', async () => {
  const reader = await opened({ kind: nsm, name: 'nsm', entities: { teacher: 'hybrid', teacherSteps: 2 } });
  expect(reader.restartsAt).toBe(2);
  const states = [(await reader.state()).tensors];
  for (const step of [0, 1, 2]) {
    await trained(reader, 1, step);
    states.push((await reader.state()).tensors);
  }
  const ofTeacher = (name: string) => name.startsWith('optimizer/teacher/');
  const changed = (at: number, among: (name: string) => boolean) =>
    Object.keys(states[0]!).some((name) => among(name) && !isDeepStrictEqual(states[at]![name], states[at + 1]![name]));
  expect([0, 1, 2].map((at) => changed(at, ofTeacher))).toEqual([true, true, false]);
  expect([0, 1, 2].map((at) => changed(at, (name) => !ofTeacher(name)))).toEqual([false, false, true]);
});

test('an answer is the best entity and those near it, best first', () => {
  const shares = Float32Array.of(0.1, 0.5, 0, 0.2, 0.2);
  const { entities, confidence } = rankedAnswer(Int32Array.of(9, 8, 7, 6, 5), shares, 0.3, 12);
  expect(entities).toEqual([8, 6, 5]);
  expect(confidence).toBe(0.5);
  expect(rankedAnswer(Int32Array.of(9, 8), Float32Array.of(0, 0), 0.3, 12)).toMatchObject({ entities: [] });
});
