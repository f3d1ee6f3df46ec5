import { beforeEach, expect, test } from '@jest/globals';
import type { StoredQuestion } from '../../../datasets/questions/stored-question.js';
import { writeQuestionDataset } from '../../../datasets/questions/write-question-dataset.js';
import { questionData } from '../../../tasks/questions/data.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { harbour } from '../../fixtures/toy-harbour.js';

useOwnHome();

const questionOf = (i: number, ...answers: string[]): StoredQuestion => ({
  id: `q${i}`,
  question: `question ${i} about Ada`,
  topics: [{ name: 'Ada' }],
  answers: answers.map((name) => ({ name })),
});

beforeEach(async () => {
  const questions = Array.from({ length: 11 }, (_, i) => questionOf(i, ...(i === 4 ? [] : ['Skarn'])));
  await writeQuestionDataset({
    ...{ name: 'quay', format: 'custom', licence: 'none needed', graphs: [{ graph: harbour, note: 'made up' }] },
    subsets: [
      {
        name: 'all',
        graph: harbour.name,
        files: { train: { questions: [questionOf(99, 'Skarn')] }, valid: { questions } },
      },
    ],
    sources: [],
  });
});

const drawn = (flags: { limit?: string; seed?: string } = {}) =>
  questionData({ dataset: 'quay', split: 'valid', checkpoint: 'best', set: [], modelSet: [], ...flags }, []);
const ids = ({ samples }: Awaited<ReturnType<typeof drawn>>) => samples.map(({ task }) => task.id);

test('the questions of an evaluation leave out those that cannot be scored', async () => {
  const all = await drawn();
  expect(ids(all)).toEqual(['q0', 'q1', 'q2', 'q3', 'q5', 'q6', 'q7', 'q8', 'q9', 'q10']);
  expect(all.excluded).toEqual({ 'no gold answer': 1 });
  expect(all.about).not.toHaveProperty('limit');
});

test('and are drawn the same way at every call, for any seed of agents, in the order of the data set', async () => {
  const [all, some] = [ids(await drawn()), await drawn({ limit: '4' })];
  expect(ids(some)).toHaveLength(4);
  expect(some.about).toMatchObject({ limit: 4 });
  expect(some.excluded).toEqual({ 'no gold answer': 1 });
  expect(ids(await drawn({ limit: '4e0', seed: '7' }))).toEqual(ids(some));
  const indices = ids(some).map((id) => all.indexOf(id));
  expect(indices).toEqual([...indices].sort((a, b) => a - b));
  expect(ids(await drawn({ limit: '5' }))).toEqual(expect.arrayContaining(ids(some)));
});
