/** Runs over dialogues whose candidate head is computed on the host. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadWalkerRun } from '../../../agents/walker/load-walker.js';
import { loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { splitSamples } from '../../../datasets/walk-sample.js';
import { readMetrics } from '../../../src/run/metric-log.js';
import { runFiles } from '../../../src/run/run-files.js';
import { train } from '../../../tasks/train.js';
import { useReleaseHome } from '../../fixtures/release-home.js';
import { tinySettings } from '../../fixtures/tiny-training.js';

const home = useReleaseHome();
test('are taken by size, are those of a tensor library but for rounding, and open on either', async () => {
  const taken: string[] = [];
  const folders = ['auto', 'wasm'].map((backend) => join(home(), `by ${backend}`));
  for (const [i, backend] of ['auto', 'wasm'].entries()) {
    const settings = tinySettings('ppo.enabled=false', `backend=${backend}`);
    await train({ settings, folder: folders[i]!, onBackend: (name) => taken.push(name) });
  }
  expect(taken).toEqual(['host', 'wasm']);
  const [ours, theirs] = folders.map((folder) =>
    readMetrics(runFiles(folder).metrics).flatMap(({ metrics }) => metrics['eval/loss'] ?? []),
  );
  expect(ours!.length).toBe(2);
  ours!.forEach((loss, i) => expect(loss).toBeCloseTo(theirs![i]!, 3));

  const dataset = loadDialogueDataset('opendialkg');
  const graph = await dataset.loadGraph('dialogue');
  const tasks = splitSamples(dataset, graph, tinySettings().data, 'valid').map(({ task }) => task);
  const scores: number[][] = [];
  for (const backend of ['host', 'wasm'] as const) {
    const { agent, close } = await loadWalkerRun(folders[0]!, { checkpoint: 'last', beamWidth: 5, backend });
    scores.push((await agent.answer(tasks)).flatMap(({ paths }) => paths.map(({ logProb }) => logProb)));
    await close();
  }
  expect(scores[1]!.length).toBeGreaterThan(5);
  scores[1]!.forEach((score, i) => expect(score).toBeCloseTo(scores[0]![i]!, 3));
});

test('of another head are refused', async () => {
  await expect(
    train({ settings: tinySettings('backend=host', 'walker.head=kg-cruse'), folder: join(home(), 'other') }),
  ).rejects.toThrow(
    'expected backend=host with policies over vectors, or walks of dialogues with walker.head=candidate and walker.text=frozen, alone',
  );
});
