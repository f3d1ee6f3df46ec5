/** Training of the weights of `zero-shot`, small. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { zeroShotFiles, zeroShotRanker } from '../../../agents/exact-walker/agent.js';
import { generatedGraph } from '../../../agents/exact-walker/messages/generated-graphs.js';
import { kgwalkJson } from '../../fixtures/command-line.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';

useOwnHome();

test('makes equal files each time, which rank any graph', async () => {
  const small = ['generated=2', 'steps=2', 'batchSize=4'].flatMap((one) => ['--set', `exactWalker.messages.${one}`]);
  const made = async () => {
    const out = folderWith({});
    const words = ['models', 'train-zero-shot', '--out', out, ...small];
    const { weights } = await kgwalkJson<{ weights: string[] }>(...words);
    expect(weights).toEqual(zeroShotFiles.map((name) => join(out, name)));
    return weights;
  };
  const [one, two] = [await made(), await made()];
  expect(two.map((file) => readFileSync(file))).toEqual(one.map((file) => readFileSync(file)));
  const { graph } = generatedGraph(9, 1);
  const scores: Float64Array[] = [];
  for (const files of [one[0]!, one.join('+'), '']) {
    await zeroShotRanker(files, graph).ranker.rank([{ head: 0, relation: 0 }], (_, ranked) => {
      scores.push(ranked.scores[0]!.slice());
    });
  }
  expect(scores.map(({ length }) => length)).toEqual([graph.numEntities, graph.numEntities, graph.numEntities]);
  expect(scores[0]).not.toEqual(scores[1]);
});
