import { expect, test } from '@jest/globals';
import { dataSettings } from '../../../datasets/settings.js';
import { loadTrainingQuestions } from '../../../datasets/questions/training-questions.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { importFilms } from '../../fixtures/toy-question-training.js';

useSharedHome(importFilms);

const questionsWith = async (given: object) => {
  const data = dataSettings.parse({ dataset: 'films', ...given });
  const { train, valid } = await loadTrainingQuestions({ data });
  return { train: train.map(({ task }) => task.id), valid: valid.map(({ task }) => task.id) };
};

test('a draw of train questions is a part of them in their order, the same each time, and leaves valid alone', async () => {
  const all = await questionsWith({});
  const drawn = await questionsWith({ trainSamples: 3 });
  expect(drawn.train).toHaveLength(3);
  expect(all.train.filter((id) => drawn.train.includes(id))).toEqual(drawn.train);
  expect(drawn.valid).toEqual(all.valid);
  expect(await questionsWith({ trainSamples: 3 })).toEqual(drawn);
  expect(await questionsWith({ trainSamples: 10_000 })).toEqual(all);
});

test('types that train cannot miss are not held out, with the remedy', async () => {
  await expect(questionsWith({ holdOut: 'type:1' })).rejects.toThrow('that can be held out, got 5 types');
});
