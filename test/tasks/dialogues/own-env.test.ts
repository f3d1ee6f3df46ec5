import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../../datasets/opendialkg/import.js';
import {
  dialogueWalkWorld,
  DialogueWalkEnv,
  type DialogueWalkObservation,
  registerEnv,
  type DialogueWalkOptions,
} from '../../../envs/index.js';
import { train } from '../../../tasks/train.js';
import { folderWith, releaseFiles } from '../../fixtures/tiny-release.js';
import { tinySettings } from '../../fixtures/tiny-training.js';

const previousHome = env.KGWALK_HOME;
let home: string;

beforeAll(async () => {
  home = folderWith({});
  env.KGWALK_HOME = home;
  await importOpenDialKg({ from: folderWith(releaseFiles) });
});

afterAll(() => {
  rmSync(home, { recursive: true });
  if (previousHome === undefined) delete env.KGWALK_HOME;
  else env.KGWALK_HOME = previousHome;
});

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
  const folder = join(home, 'wordless');
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
  const folder = join(home, 'broken');
  await expect(train({ settings: tinySettings('env.id=mine/Broken-v1'), folder })).rejects.toMatchObject({
    code: 'config',
    message: 'expected an environment over dialogues, got "no such map" when it was made, at env.id=mine/Broken-v1',
  });
  expect(existsSync(folder)).toBe(false);
});
