import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { printed } from '../fixtures/command-line.js';

const kgwalk = (...words: string[]) => printed('config', ...words);

describe('config explain', () => {
  test('prints what one key takes, its default and what it does', async () => {
    expect(await kgwalk('explain', 'ppo.clipRange')).toMatch(/^ppo\.clipRange: a number in .*default 0\.2\n\w/);
  });

  test('lists the keys of a section and of everything', async () => {
    expect(await kgwalk('explain', 'log')).toContain('log.tensorboard');
    expect(await kgwalk('explain')).toContain('ppo.clipRange');
  });

  test('lists the switches of an agent', async () => {
    expect(await kgwalk('explain', '--agent', 'tog')).toMatch(/^width: an integer in \[1, 20\], default 3\n +Beams/m);
    expect(await kgwalk('explain', 'clues', '--agent', 'fiske')).toMatch(/^clues: one of auto, model, names/);
    await expect(kgwalk('explain', '--agent', 'random')).rejects.toThrow(
      /an agent with switches \(.*tog.*\), got random/,
    );
  });

  test('prints JSON for programs', async () => {
    const [key] = JSON.parse(await kgwalk('explain', 'seed', '--json')) as Record<string, unknown>[];
    expect(key).toMatchObject({ key: 'seed', takes: expect.stringContaining('an integer in'), default: 0 });
  });

  test('offers the nearest name for an unknown key', async () => {
    await expect(kgwalk('explain', 'ppo.cliprang')).rejects.toThrow('did you mean ppo.clipRange?');
  });
});

describe('config show', () => {
  test('prints every key of a preset, changed by --set', async () => {
    const shown = await kgwalk('show', 'opendialkg', '--set', 'ppo.clipRange=0.1', '--set', 'seed=7');
    expect(parse(shown)).toMatchObject({
      name: 'opendialkg',
      seed: 7,
      ppo: { clipRange: 0.1 },
      log: { tensorboard: false },
    });
  });

  test('prints JSON for programs', async () => {
    expect(JSON.parse(await kgwalk('show', 'opendialkg-tiny', '--json'))).toMatchObject({ name: 'opendialkg-tiny' });
  });

  test('refuses a preset that does not exist and an unknown key', async () => {
    await expect(kgwalk('show', 'nothing')).rejects.toThrow('expected a preset or a YAML file, got "nothing"');
    await expect(kgwalk('show', 'opendialkg', '--set', 'ppo.x=1')).rejects.toThrow('unknown key ppo.x');
  });
});
