import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkRow, type ResultRecord } from '../../reports/result-records.js';
import { kgwalk, kgwalkJson, printed } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';

describe('kgwalk results', () => {
  test('lists rows, those of a task or of a data set alone', async () => {
    expect(await printed('results')).toMatch(/^umls-chains .* 0\.964 +\[0\.953, 0\.974\]/m);
    const links = await kgwalkJson<ResultRecord[]>('results', '--task', 'links');
    expect(new Set(links.map(({ task }) => task))).toEqual(new Set(['links']));
    const umls = await kgwalkJson<ResultRecord[]>('results', '--data', 'umls');
    expect(new Set(umls.map(({ data }) => data))).toEqual(new Set(['umls']));
    expect(umls.find(({ id }) => id === 'umls-chains')).toMatchObject({
      figures: { MRR: 0.964 },
      train: ['kgwalk train umls-chains'],
      evaluate: 'kgwalk evaluate RUN --split test',
    });
    expect((await kgwalk('results', '--data', 'nothing')).exitCode).toBe(2);
  });

  test('writes a page with a row for each record', async () => {
    const page = join(folderWith({}), 'results.html');
    expect(await printed('results', '--data', 'umls', '--html', page)).toBe(`${page}\n`);
    const text = readFileSync(page, 'utf8');
    const records = await kgwalkJson<ResultRecord[]>('results', '--data', 'umls');
    expect(text.match(/<tr( class="own")?><td>/g)).toHaveLength(records.length);
    expect(text).toContain('kgwalk train umls-chains --seeds 0,1,2');
  });

  test('check prints the commands, and refuses rows that cannot be measured', async () => {
    expect(await printed('results', 'check', 'umls-chains', '--dry-run')).toBe(
      'kgwalk train umls-chains --seeds 0,1,2\nkgwalk evaluate RUN --split test\n',
    );
    const check = (...words: string[]) => kgwalk('results', 'check', ...words);
    expect(await check('umls-chain')).toMatchObject({ exitCode: 2, err: expect.stringContaining('umls-chains?') });
    expect(await check('published-umls-minerva')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Das et al. 2018'),
    });
    const models = folderWith({});
    expect(await check('metaqa-nsm-chains', '--models', models)).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining(`expected the model all-MiniLM-L6-v2.Q8_0.gguf, got no such file, at ${models}`),
    });
  });

  test.each([
    ['its interval', { interval: [1, 3] }, 2.9, 'row', true],
    ['its interval', { interval: [1, 3] }, 3.1, 'row', false],
    ['two standard deviations', { sd: 0.5 }, 3.1, 'row', false],
    ['its seeds', { bySeed: [1, 2, 3] }, 3.9, 'row', true],
    ['the new interval', {}, 3.1, 'measurement', true],
    ['the new interval', {}, 4.1, 'measurement', false],
  ])('a row is held to %s', (_, row, measured, of, holds) => {
    const record = { figures: { MRR: 2 }, ...row } as unknown as ResultRecord;
    expect(checkRow(record, measured, [measured - 2, measured + 1])).toMatchObject({ expected: 2, of, holds });
  });
});
