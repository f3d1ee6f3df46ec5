import { describe, expect, test } from '@jest/globals';
import { choose, csvOf, folderWith, releaseFiles, say } from '../fixtures/tiny-release.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { printed } from '../fixtures/command-line.js';

useOwnHome();

const kgwalk = (...words: string[]) => printed('datasets', ...words);

describe('kgwalk datasets', () => {
  test('import shows the licence, the counts and what the graph is', async () => {
    const text = await kgwalk('import', 'opendialkg', '--from', folderWith(releaseFiles));
    expect(text).toMatch(/CC-BY-NC-4\.0 .*non-commercial/);
    expect(text).toMatch(/train +2 +4 +3/);
    expect(text).toMatch(/dialogue: .*entity-level counts leak/);
  });

  test('list, stats and check read what was imported, as text and as JSON', async () => {
    expect(await kgwalk('list')).toMatch(/^none; make one: kgwalk datasets demo/);
    await kgwalk('import', 'opendialkg', '--from', folderWith(releaseFiles), '--name', 'toy');
    expect(await kgwalk('list')).toMatch(/toy +paths 3 \/ 2 \/ 1 +dialogue, wide/);
    expect(JSON.parse(await kgwalk('list', '--json'))).toMatchObject([{ name: 'toy' }]);
    expect(await kgwalk('stats', 'toy')).toMatch(/gold paths seen in train +100\.0 % +0\.0 %/);
    expect(JSON.parse(await kgwalk('stats', 'toy', '--graph', 'wide', '--json'))).toMatchObject({
      dataset: 'toy',
      graph: { name: 'wide', triples: 8 },
      splits: { train: { samples: 3 } },
    });
    const checked = await kgwalk('check', 'toy');
    expect(checked).toMatch(/^toy: 5 files as imported\n/);
    // The dialogue of valid is one of train, too.
    expect(JSON.parse(await kgwalk('check', 'toy', '--json'))).toEqual({
      ...{ name: 'toy', problems: [], notes: [] },
    });
  });

  test('names with control characters never reach the terminal as such', async () => {
    const talk = [say('user', 'hi'), choose('user', ['\u001b[2Ja', 'r\u001b', 'b'])];
    const dialogues = { 'train.csv': csvOf([talk]), 'valid.csv': csvOf([talk]), 'test.csv': csvOf([talk]) };
    const from = folderWith({ ...dialogues, 'triples.txt': '\u001b[2Ja\tr\u001b\tb\n' });
    let text = await kgwalk('import', 'opendialkg', '--from', from);
    text += await kgwalk('stats', 'opendialkg');
    expect(text).toContain('r\\u001b');
    expect(text).not.toContain('\u001b');
  });

  test('another format, a missing folder and an unknown name are usage and data errors', async () => {
    await expect(kgwalk('import', 'freebase', '--from', 'x')).rejects.toMatchObject({ code: 'usage' });
    await expect(kgwalk('import', 'opendialkg')).rejects.toMatchObject({
      code: 'commander.missingMandatoryOptionValue',
    });
    await expect(kgwalk('import', 'opendialkg', '--from', 'gone')).rejects.toMatchObject({ code: 'data' });
    await expect(kgwalk('stats', 'gone')).rejects.toMatchObject({ code: 'data' });
  });
});
