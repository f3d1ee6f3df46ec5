import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ReadTriplesOptions, readTriples } from '../../../src/kg/read-triples.js';
import { folderWith } from '../../fixtures/tiny-release.js';

async function read(content: string | Uint8Array, options: ReadTriplesOptions = {}, name = 'kb.txt') {
  const triples: string[][] = [];
  const lines: number[] = [];
  const file = join(folderWith({ [name]: content }), name);
  const report = await readTriples(file, options, (head, relation, tail, line) => {
    triples.push([head, relation, tail]);
    lines.push(line);
  });
  return { report, triples, lines };
}

describe('readTriples', () => {
  test('gives each triple with its line, empty lines skipped, with or without a last line break', async () => {
    const { triples, lines, report } = await read('a\tr\tb\r\n\nb\ts\tc');
    expect(triples).toEqual([
      ['a', 'r', 'b'],
      ['b', 's', 'c'],
    ]);
    expect(lines).toEqual([1, 3]);
    expect(report).toEqual({ triples: 2, blank: 0 });
  });

  test('keeps names exactly, control characters and surrounding spaces included', async () => {
    const { triples } = await read(' a\u001b[31m\tr\tb \n');
    expect(triples).toEqual([[' a\u001b[31m', 'r', 'b ']]);
  });

  test('reads another separator', async () => {
    expect((await read('a|r|b\n', { separator: '|' })).triples).toEqual([['a', 'r', 'b']]);
  });

  test('unpacks .gz and joins names that chunks cut, multi-byte characters included', async () => {
    const rows = Array.from({ length: 30_000 }, (_, i) => `Größe–${i}\tmißt\t映画${i}`);
    const { triples } = await read(gzipSync(rows.join('\n')), {}, 'kb.txt.gz');
    expect(triples.map((triple) => triple.join('\t'))).toEqual(rows);
  });

  test('refuses a line without three fields, with file, line and the text made safe', async () => {
    await expect(read('a\tr\tb\nx\u001b\ty\n')).rejects.toThrow(
      /expected 3 fields, got 2 \("x\\u001b\\ty"\), at .*kb\.txt:2/,
    );
  });

  test('refuses a blank field unless it may be dropped and counted', async () => {
    await expect(read('a\tr\tb\na\t \tb\n')).rejects.toThrow(/blank field .* at .*kb\.txt:2/);
    const { triples, report } = await read('a\tr\tb\na\t \tb\n', { dropBlank: true });
    expect(triples).toHaveLength(1);
    expect(report).toEqual({ triples: 1, blank: 1 });
  });

  test('refuses a missing file, a damaged archive and bytes that are not UTF-8', async () => {
    await expect(readTriples('nowhere/kb.txt', {}, () => {})).rejects.toMatchObject({ code: 'data' });
    const whole = gzipSync('a\tr\tb\n'.repeat(1000));
    await expect(read(whole.subarray(0, 30), {}, 'kb.txt.gz')).rejects.toMatchObject({
      code: 'data',
      hint: expect.stringContaining('cut short'),
    });
    await expect(read(Uint8Array.of(0x61, 0xff, 0x62))).rejects.toMatchObject({ code: 'data' });
  });
});
