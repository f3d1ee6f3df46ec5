import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  dialogueWalkWorld,
  DialogueWalkEnv,
  type DialogueWalkObservation,
  registerEnv,
  type DialogueWalkOptions,
} from '../../../envs/index.js';
import { train } from '../../../tasks/train.js';
import { useReleaseHome } from '../../fixtures/release-home.js';
import { tinySettings } from '../../fixtures/tiny-training.js';

const home = useReleaseHome();

test('an environment that shows something else is refused by its missing fields, before a folder is made', async () => {
  class Wordless extends DialogueWalkEnv {
    override reset(how: Parameters<DialogueWalkEnv['reset']>[0]) {
      const { task: _task, path: _path, ...observation } = super.reset(how).observation;
      return { observation: observation as DialogueWalkObservation, info: {} };
    }
  }
  registerEnv('mine/Wordless-v1', (options: DialogueWalkOptions) => {
    const world = dialogueWalkWorld(options);
    return () => new Wordless(world);
  });
  const folder = join(home(), 'wordless');
  const settings = tinySettings('env.id=mine/Wordless-v1');
  await expect(train({ settings, folder })).rejects.toMatchObject({
    code: 'config',
    message:
      'expected an observation with task, start, current, hop, path, actionMask, got one without task, path, at env.id=mine/Wordless-v1',
  });
  expect(existsSync(folder)).toBe(false);
});

test('an environment that cannot be made over dialogues says why, before a folder is made', async () => {
  registerEnv('mine/Broken-v1', () => {
    throw new Error('no such map');
  });
  const folder = join(home(), 'broken');
  await expect(train({ settings: tinySettings('env.id=mine/Broken-v1'), folder })).rejects.toMatchObject({
    code: 'config',
    message: 'expected an environment over dialogues, got "no such map" when it was made, at env.id=mine/Broken-v1',
  });
  expect(existsSync(folder)).toBe(false);
});
