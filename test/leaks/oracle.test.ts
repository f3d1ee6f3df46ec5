/** `data.oracle=reply`: an agent that reads what was said after the path was chosen is never taken for a walker. */
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
let run: string;

beforeAll(async () => {
  run = join(home(), 'oracle');
  const settings = tinySettings('transe.enabled=false', 'ppo.enabled=false', 'data.oracle=reply');
  await train({ settings, folder: run });
});

test('its tasks end with what the speaker says after choosing, where that speaker says something, and no others do', async () => {
  const dataset = loadDialogueDataset('opendialkg');
  const graph = await dataset.loadGraph();
  const last = (oracle: 'reply' | null) =>
    walkSamples(dataset.loadDialogues('train'), graph, { oracle }).map(({ task }) => task.messages.at(-1)!.text);
  expect(last(null)).toEqual(['Who made Glass Harbor?', 'I like Ada Quill.', 'Paper Moons above all.']);
  expect(last('reply')).toEqual(['Ada Quill did.', 'Paper Moons above all.', 'Paper Moons above all.']);
});

test('every record of it says so, of compared agents, too', async () => {
  const record = await kgwalkJson<EvaluationRecord>('evaluate', run, '--split', 'valid');
  expect([record.note, record.oracle]).toEqual(['oracle: reads the reply', 'reply']);
  const { out } = await kgwalk('compare', 'popularity', run, '--split', 'valid');
  expect(out.match(/oracle: reads the reply/g)!.length).toBeGreaterThan(1);
});

test('a check for leaks finds that it read other words than a walker may', async () => {
  const leaks = await kgwalk('datasets', 'check', 'opendialkg', '--run', run);
  expect([leaks.exitCode, leaks.err]).toEqual([3, expect.stringContaining('these ids stand for other samples')]);
});
