import { describe, expect, test } from '@jest/globals';
import { kvMem } from '../../../../agents/readers/entities/kv-mem.js';
import { nsm } from '../../../../agents/readers/entities/nsm.js';
import { rankedAnswer } from '../../../../agents/readers/entities/ranked-answer.js';
import type { Reader, ReaderKind } from '../../../../agents/readers/reader.js';
import type { QuestionSample } from '../../../../datasets/question.js';
import { Rng } from '../../../../src/run/seeds.js';
import { Diverged } from '../../../../src/tensor/diverged.js';
import { tinyFacts, tinyQuestions } from './tiny-films.js';

const session = { trace: () => {} };

async function opened(kind: ReaderKind, name: 'nsm' | 'kv-mem', more?: object): Promise<Reader> {
  const facts = tinyFacts(name, more);
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

describe.each([
  ['nsm', nsm, 150],
  ['kv-mem', kvMem, 250],
] as const)('the reader %s', (name, kind, steps) => {
  test('learns to answer from questions and answers alone', async () => {
    const reader = await opened(kind, name);
    expect(await right(reader, tinyQuestions)).toBeLessThan(0.8);
    await trained(reader, steps);
    expect(await right(reader, tinyQuestions)).toBeGreaterThan(0.9);
    reader.dispose();
  });

  test('goes on from a restored state to equal bytes, dropout among it', async () => {
    const more = { fit: { dropout: 0.2, learningRate: 0.02 } };
    const whole = await opened(kind, name, more);
    await trained(whole, 6);
    const first = await opened(kind, name, more);
    await trained(first, 3);
    const { steps: done, tensors } = await first.state();
    expect(done).toBe(3);
    const second = await opened(kind, name, more);
    // What the second did before it was restored leaves no trace.
    await trained(second, 2, 40);
    second.restore(tensors, done);
    await trained(second, 3, 3);
    expect(await second.state()).toEqual(await whole.state());
  });

  test('answers from weights alone, as the reader that they were taken from', async () => {
    const reader = await opened(kind, name);
    await trained(reader, 5);
    const { tensors } = await reader.state();
    const own = Object.entries(tensors).filter(([tensor]) => !tensor.startsWith('optimizer/'));
    const other = await opened(kind, name);
    other.restore(Object.fromEntries(own));
    for (const { task } of tinyQuestions) {
      expect(await other.answer(task, session)).toEqual(await reader.answer(task, session));
    }
    expect(() => other.restore(Object.fromEntries(own.slice(1)))).toThrow('expected float32');
  });

  test('reads no chain and no type, and the order of a batch makes no difference', async () => {
    const stripped = tinyQuestions.map(({ task, gold }) => ({ task, gold: { ...gold, chains: [], type: 'x' } }));
    const states = await Promise.all(
      [tinyQuestions, stripped].map(async (of) => {
        const reader = await opened(kind, name);
        for (let step = 0; step < 4; step++) {
          const batch = batchOf(step, of);
          await reader.step(of === stripped ? batch.reverse() : batch, { step, learningRate: 0.02 });
        }
        return reader.state();
      }),
    );
    expect(states[0]).toEqual(states[1]);
  });

  test('changes nothing in a step whose numbers are not finite', async () => {
    const reader = await opened(kind, name);
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
    const whole = await opened(kind, name);
    await trained(whole, 3);
    expect(await reader.state()).toEqual(await whole.state());
  });

  test('never answers with the topic, says where nothing is near, and abstains from claims', async () => {
    const reader = await opened(kind, name);
    for (const { task } of tinyQuestions) {
      expect((await reader.answer(task, session)).entities).not.toContain(task.topics[0]!.entity);
    }
    const { task } = tinyQuestions[0]!;
    const unknown = { ...task, topics: [{ name: 'nobody', entity: -1 }] };
    expect(await reader.answer(unknown, session)).toMatchObject({ entities: [], stop: 'no topic' });
    expect(await reader.answer({ ...task, form: 'truth' }, session)).toMatchObject({ entities: [], stop: 'form' });
  });

  test('counts questions whose answers are not near as not covered, and learns nothing from them', async () => {
    const reader = await opened(kind, name);
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

test('an answer is the best entity and those near it, best first', () => {
  const shares = Float32Array.of(0.1, 0.5, 0, 0.2, 0.2);
  const { entities, confidence } = rankedAnswer(Int32Array.of(9, 8, 7, 6, 5), shares, 0.3, 12);
  expect(entities).toEqual([8, 6, 5]);
  expect(confidence).toBe(0.5);
  expect(rankedAnswer(Int32Array.of(9, 8), Float32Array.of(0, 0), 0.3, 12)).toMatchObject({ entities: [] });
});
