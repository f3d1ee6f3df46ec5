/** Agents of questions on OpenDialKG itself, with the simulated model, beside baselines. */
import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import type { EvaluationRecord } from '../../../src/run/evaluation.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
if (!shared) stderr.write('skipped: turns of OpenDialKG itself (set KGWALK_TEST_DATA)\n');

(shared ? describe : describe.skip)('turns of OpenDialKG', () => {
  useSharedHome(() => kgwalk('datasets', 'import', 'opendialkg', '--from', join(shared ?? '', 'data', 'opendialkg')));

  test('a faultless model finds most targets, whole walks rank them among others, and an erring one finds fewer', async () => {
    const kept = folderWith({});
    const compared = async (error: number) => {
      const words = [
        'tog',
        'fiske',
        'self-veqa',
        'rog',
        'gcr',
        'frequency',
        '--dataset',
        'opendialkg',
        '--limit',
        '40',
      ];
      const { agents } = await kgwalkJson<{ agents: (EvaluationRecord & { name: string })[] }>(
        ...['compare', ...words, '--model', `oracle:${error}`, '--encoder', 'hashed:32', '--evaluations', kept],
      );
      const figures = (key: string) => agents.map(({ name, metrics }) => [name, metrics[key]!.value]);
      return { first: Object.fromEntries(figures('target@1')), most: Object.fromEntries(figures('target@25')) };
    };
    const [right, erring] = [await compared(0), await compared(0.3)];
    for (const name of ['tog', 'rog', 'gcr']) expect([name, right.first[name] > 0.7]).toEqual([name, true]);
    for (const name of ['fiske', 'self-veqa']) expect([name, right.most[name] > 0.7]).toEqual([name, true]);
    for (const name of ['tog', 'fiske', 'self-veqa', 'rog', 'gcr']) {
      expect([name, right.most[name] > erring.most[name]]).toEqual([name, true]);
    }
    expect(right.first.frequency).toBe(erring.first.frequency);
  });
});
