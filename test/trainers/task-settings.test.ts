/** Settings by task: those that it would leave unread are refused, and the size of its networks. */
import { expect, test } from '@jest/globals';
import { walkerSettings } from '../../agents/dialogue-walker/settings.js';
import { loadPreset } from '../../presets/index.js';
import { checkTrainSettings } from '../../trainers/check-settings.js';
import { trainSettings } from '../../agents/train-settings.js';
import { dialogues } from '../../tasks/dialogues/index.js';
import { links } from '../../tasks/links/index.js';
import { questions } from '../../tasks/questions/index.js';

const ofDialogues = [
  'data.fold=1/2',
  'data.oracle=reply',
  'clone.loss=nodes',
  'walker.decoder=free',
  'clone.linkedTurns={}',
  'walker.pairFeatures=graph',
];

test.each([
  ['metaqa', questions.learning],
  ['umls-walk', links.learning],
] as const)('what is of dialogues alone, by the preset %s', (preset, learning) => {
  const check = (...overrides: string[]) => checkTrainSettings(learning, loadPreset(preset, overrides), false);
  expect(() => check()).not.toThrow();
  for (const override of ofDialogues) {
    const [key] = override.split('=') as [string];
    expect(() => check(override)).toThrow(`expected ${key}=`);
    expect(() => check(override)).toThrow('which is of dialogues, with env.id=kgwalk/');
  }
});

test.each(walkerSettings.shape.head.unwrap().options)(
  'states that are read one by one, by the head %s or not',
  (head) => {
    const check = () =>
      checkTrainSettings(
        dialogues.learning,
        loadPreset('opendialkg', [`walker.head=${head}`, 'stateText.encode=per-step']),
        false,
      );
    if (head === 'pa-mlp') expect(check).not.toThrow();
    else
      expect(check).toThrow(
        `expected walker.head=pa-mlp with stateText.encode=per-step, where there are no vectors of single messages, got ${head}`,
      );
  },
);

const sizeOf = (sections: object) =>
  dialogues.learning.methodOf(trainSettings.parse(sections)).networkSize(trainSettings.parse(sections), 576);

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
  expect(questions.learning.methodOf(settings).networkSize(settings, 576)).toMatchObject({ inputs: 576, units: 32 });
  expect(links.learning.methodOf(settings).networkSize(settings, 576)).toMatchObject({ inputs: 2 * 8 + 6, units: 16 });
});
