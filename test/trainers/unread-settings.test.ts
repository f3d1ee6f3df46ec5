/** Settings that a task would leave unread, or that a head cannot have, are refused before anything is read. */
import { expect, test } from '@jest/globals';
import { walkerSettings } from '../../agents/walker/settings.js';
import { loadPreset } from '../../presets/index.js';
import { dialogueTrainer } from '../../tasks/dialogues/learn.js';
import { linkTrainer } from '../../tasks/links/learn.js';
import { questionTrainer } from '../../tasks/questions/learn.js';
import { checkTrainSettings } from '../../trainers/check-settings.js';

const ofDialogues = [
  'data.fold=1/2',
  'data.oracle=reply',
  'clone.loss=nodes',
  'walker.decoder=free',
  'clone.linkedTurns={}',
  'walker.pairFeatures=graph',
];

test.each([
  ['metaqa', questionTrainer],
  ['umls-walk', linkTrainer],
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
        dialogueTrainer,
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
