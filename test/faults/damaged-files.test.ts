/** A byte changed, or the end missing: no file with a checksum is then taken for the one that was written. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { readCheckpoint, schemaVersion, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { readImportedLines } from '../../datasets/imported-dataset.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { readGraphFile, writeGraphFile } from '../../src/kg/graph-file.js';
import { Rng } from '../../src/run/seeds.js';
import { readTable, writeTable } from '../../agents/embeddings/transe/pretrain.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { often, tally } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** A kind of file: how one is made, and how it is read. */
interface Kind {
  write(file: string): void;
  read(file: string): unknown;
}

const rng = new Rng(1);
const numbers = (count: number) => Float32Array.from({ length: count }, () => rng.normal());

const checkpoint: Kind = {
  write(file) {
    const tensors = {
      'policy/w': { shape: [16, 32], data: numbers(512) },
      'optimizer/policy/w': { shape: [16, 32], data: numbers(512) },
    };
    const header = {
      ...({ schemaVersion, kind: 'walker', phase: 'ppo', step: 12, epoch: 0, configHash: 'c0ffee' } as const),
      config: { ppo: { clipRange: 0.2 } },
      hashes: { graph: 'g1', encoder: 'e1' },
      trainer: { metricsBytes: 120, patience: { best: 0.25, evaluationsWithoutGain: 1 } },
      metrics: { 'eval/path@1': 0.25 },
    };
    writeCheckpoint(file, { header, tensors });
  },
  read: (file) => readCheckpoint(file),
};

function chain(length: number): Graph {
  const builder = new GraphBuilder();
  for (let i = 0; i < length; i++) builder.add(`stop ${i}`, 'leads to', `stop ${i + 1}`);
  return builder.build('chain');
}
const graph = chain(30);

const graphFile: Kind = {
  write: (file) => writeGraphFile(file, graph),
  read: (file) => readGraphFile(file),
};

const embeddings: Kind = {
  write(file) {
    const dim = 8;
    const { numEntities, numRelations } = graph;
    const entities = new Float32Array(numEntities * dim);
    for (let i = 0; i < numEntities; i++) entities[i * dim] = 1;
    const sizes = { numEntities, numRelations, dim, norm: 1 } as const;
    const table = { model: 'transe', ...sizes, entities, relations: numbers(numRelations * dim) } as const;
    const history = [{ step: 1, metrics: { 'train/loss': 0.5 } }];
    writeTable(file, { graph, settings: transeSettings.parse({ dim, norm: 1 }), seed: 1 }, { table, history });
  },
  read: (file) => readTable(file, graph),
};

const dialogueLines = Array.from({ length: 20 }, (_, i) => JSON.stringify({ id: `d${i}`, messages: ['Hi', 'who?'] }));
const dialogueText = `${dialogueLines.join('\n')}\n`;
const dialogues: Kind = {
  write: (file) => writeFileSync(file, dialogueText),
  read(file) {
    const sha256 = createHash('sha256').update(dialogueText).digest('hex');
    return readImportedLines(
      dirname(file),
      basename(file),
      { [basename(file)]: sha256 },
      z.object({ id: z.string(), messages: z.array(z.string()) }),
    );
  },
};

test.each([
  { name: 'a checkpoint', kind: checkpoint, long: 20_000 },
  { name: 'a table of embeddings', kind: embeddings, long: 5_000 },
  { name: 'an imported split', kind: dialogues, long: 5_000 },
  { name: 'a graph', kind: graphFile, long: 5_000 },
])('$name with one changed byte or cut short is one clear error that names it', async ({ kind, long }) => {
  const file = join(folderWith({}), 'file');
  kind.write(file);
  await kind.read(file);
  const whole = readFileSync(file);
  const times = often(60, long);
  for (let i = 0; i < times; i++) {
    const at = rng.integer(whole.length);
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 + rng.integer(255);
    writeFileSync(file, i % 4 === 3 ? whole.subarray(0, at) : changed);
    await expect((async () => kind.read(file))()).rejects.toMatchObject({
      name: 'WorkbenchError',
      code: 'data',
      message: expect.stringContaining(file),
    });
  }
  tally('faults injected', times);
});
