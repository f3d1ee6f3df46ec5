import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { readGraphFile, writeGraphFile } from '../../../src/kg/graph-file.js';
import { checkProperty } from '../../fixtures/property.js';
import { sealedGraphFile } from '../../fixtures/sealed-graph-file.js';
import { folderWith } from '../../fixtures/tiny-release.js';

function graphOf(triples: readonly (readonly [string, string, string])[]) {
  const builder = new GraphBuilder();
  for (const triple of triples) builder.add(...triple);
  return builder.build('toy – 映画');
}

describe('graph files', () => {
  test('give back the same graph for any names', async () => {
    const file = join(folderWith({}), 'graph.bin');
    const triple = fc.tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom('r', '~r', 's\u0000'), fc.string());
    await checkProperty(
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

  test('keep relation ids of more than two bytes', async () => {
    const file = join(folderWith({}), 'graph.bin');
    const graph = graphOf(Array.from({ length: 2 ** 16 + 1 }, (_, i) => ['a', `r${i}`, 'b']));
    writeGraphFile(file, graph);
    const loaded = await readGraphFile(file);
    expect(loaded.relations).toBeInstanceOf(Int32Array);
    expect(loaded.relations.at(-1)).toBe(2 ** 16);
    expect(loaded.edgeIndex(0, 2 ** 16, 1)).toBe(2 ** 16);
  });

  test('whose rows are not sorted, or whose names are cut within a character, are refused', async () => {
    const file = join(folderWith({}), 'graph.bin');
    writeGraphFile(
      file,
      graphOf([
        ['a', 'r', 'é'],
        ['a', 's', 'b'],
      ]),
    );
    const whole = readFileSync(file);
    const refused = async (change: (body: Buffer) => void) => {
      const body = Buffer.from(whole.subarray(40));
      change(body);
      writeFileSync(file, sealedGraphFile('kgwgrph2', body));
      await expect(readGraphFile(file)).rejects.toMatchObject({ code: 'data' });
    };
    const end = whole.length - 40;
    // The file ends with the names `aéb` and `rs`, before them two uint16 relations, before those the name ends.
    await refused((body) => body.writeUInt32LE(1, end - 6 - 4));
    await refused((body) => body.writeUInt32LE(2, end - 6 - 4 - 8 - 8));
    await refused((body) => (body[end - 5] = 0xff));
    writeFileSync(file, sealedGraphFile('kgwgrph2', whole.subarray(40)));
    expect((await readGraphFile(file)).entityNames).toEqual(['a', 'é', 'b']);
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
