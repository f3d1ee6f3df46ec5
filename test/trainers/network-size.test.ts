import { expect, test } from '@jest/globals';
import { dialogueTrainer } from '../../tasks/dialogues/learn.js';
import { linkTrainer } from '../../tasks/links/learn.js';
import { questionTrainer } from '../../tasks/questions/learn.js';
import { trainSettings } from '../../trainers/train-settings.js';

const sizeOf = (sections: object) => dialogueTrainer.networkSize(trainSettings.parse(sections), 576);

test('the size of networks goes by the texts that a state brings: two of a dialogue, or its own', () => {
  const dialogue = sizeOf({ walker: { width: 256 } });
  expect(dialogue).toMatchObject({ inputs: 2 * 576, units: 256 });
  expect(sizeOf({ walker: { width: 256 }, stateText: { encode: 'per-step' } })).toEqual({ ...dialogue, inputs: 576 });
});

test('phases that are off do not count', () => {
  const walks = (clone: boolean, ppo: boolean) =>
    sizeOf({ clone: { enabled: clone, batchSize: 32 }, ppo: { enabled: ppo, minibatchSamples: 16, explorations: 4 } })
      .rows;
  const { horizon } = trainSettings.parse({}).env;
  expect([walks(true, true), walks(true, false), walks(false, true)]).toEqual([64, 32, 64].map((n) => n * horizon));
});

test('questions bring one text, queries of links the vectors of a step', () => {
  const settings = trainSettings.parse({
    env: { id: 'kgwalk/RelationWalk-v1' },
    relationWalker: { questionWidth: 32 },
    linkWalker: { vectorDim: 8, pathDim: 6, width: 16 },
  });
  expect(questionTrainer.networkSize(settings, 576)).toMatchObject({ inputs: 576, units: 32 });
  expect(linkTrainer.networkSize(settings, 576)).toMatchObject({ inputs: 2 * 8 + 6, units: 16 });
});
