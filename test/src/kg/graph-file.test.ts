import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { readGraphFile, writeGraphFile } from '../../../src/kg/graph-file.js';
import { folderWith } from '../../fixtures/tiny-release.js';

function graphOf(triples: readonly (readonly [string, string, string])[]) {
  const builder = new GraphBuilder();
  for (const triple of triples) builder.add(...triple);
  return builder.build('toy – 映画');
}

describe('graph files', () => {
  test('give back the same graph, whatever its names', async () => {
    const file = join(folderWith({}), 'graph.bin');
    const triple = fc.tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom('r', '~r', 's\u0000'), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.array(triple, { maxLength: 20 }), async (triples) => {
        const graph = graphOf(triples);
        writeGraphFile(file, graph);
        const loaded = await readGraphFile(file);
        expect(loaded.hash).toBe(graph.hash);
        expect(loaded.name).toBe(graph.name);
        expect(loaded.entityNames).toEqual(graph.entityNames);
      }),
      { numRuns: 30 },
    );
  });

  test('are equal bytes for equal graphs and leave no temporary file', () => {
    const folder = folderWith({});
    const triples = [['a', 'r', 'b']] as const;
    writeGraphFile(join(folder, 'one.bin'), graphOf(triples));
    writeGraphFile(join(folder, 'two.bin'), graphOf(triples));
    expect(readFileSync(join(folder, 'one.bin'))).toEqual(readFileSync(join(folder, 'two.bin')));
    expect(readdirSync(folder).sort()).toEqual(['one.bin', 'two.bin']);
  });

  test('are refused when missing, foreign, cut short or altered', async () => {
    const file = join(folderWith({}), 'graph.bin');
    await expect(readGraphFile(file)).rejects.toThrow(/expected a graph file, got none, at/);
    writeFileSync(file, 'something else entirely');
    await expect(readGraphFile(file)).rejects.toThrow(/another kind of file/);
    writeGraphFile(file, graphOf([['a', 'r', 'b']]));
    const whole = readFileSync(file);
    for (const length of [0, 4, 20, 45, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      await expect(readGraphFile(file)).rejects.toMatchObject({ code: 'data' });
    }
    whole[whole.length - 3]! ^= 1;
    writeFileSync(file, whole);
    await expect(readGraphFile(file)).rejects.toThrow(/cut short or altered/);
  });
});
