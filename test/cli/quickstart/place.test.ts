import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { expect, test } from '@jest/globals';
import { quickstartFolder, usableModel } from '../../../cli/quickstart/quickstart.js';
import { longTest } from '../../fixtures/long-tests.js';
import { tinyGguf } from '../../fixtures/tiny-gguf.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { openerOf } from '../../../cli/quickstart/shown.js';

test('another model and another seed have separate folders', () => {
  env.KGWALK_RUNS = 'runs';
  expect(quickstartFolder('demo', undefined)).toBe(resolve('runs/quickstart'));
  expect(quickstartFolder('demo', 3)).toBe(resolve('runs/quickstart-s3'));
  expect(quickstartFolder('/models/Big One.gguf', undefined)).toBe(resolve('runs/quickstart-Big-One'));
});

longTest('the model is the embedded one where none is named', async () => {
  expect(await usableModel()).toBe('demo');
});

test('what is no model is refused before anything begins', async () => {
  await expect(usableModel('hashed:64')).rejects.toMatchObject({ code: 'usage' });
  await expect(usableModel('nowhere.gguf')).rejects.toMatchObject({ code: 'data' });
});

test('a sentence encoder, which writes no text, is refused', async () => {
  const file = join(folderWith({ 'bert.gguf': tinyGguf({}) }), 'bert.gguf');
  await expect(usableModel(file)).rejects.toThrow('sentence encoder');
});

test.each([
  ['linux', { DISPLAY: ':0' }, ['xdg-open']],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open']],
  ['linux', {}, undefined],
  ['darwin', {}, ['open']],
  ['win32', {}, ['cmd', '/c', 'start', '']],
] as const)('a terminal on %s with %j shows a page by %j', (system, variables, opener) => {
  expect(openerOf(true, system, variables)).toEqual(opener);
});

test('nothing is opened from a log, or from a build', () => {
  expect(openerOf(false, 'darwin', {})).toBeUndefined();
  expect(openerOf(true, 'darwin', { CI: 'true' })).toBeUndefined();
});
