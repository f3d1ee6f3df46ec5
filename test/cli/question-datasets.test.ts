import { describe, expect, test } from '@jest/globals';
import type { QuestionStatistics } from '../../datasets/questions/question-statistics.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinyMetaQa, tinyPathQuestion } from '../fixtures/tiny-questions.js';

useOwnHome();

describe('kgwalk datasets, on questions', () => {
  test('import shows counts, what was dropped, and the graph', async () => {
    const { out } = await kgwalk('datasets', 'import', 'metaqa', '--from', folderWith(tinyMetaQa));
    expect(out).toMatch(/^imported metaqa · licence: CC BY 3\.0/);
    expect(out).toMatch(/2-hop +dev +kb +1 +none +0 +0/);
    expect(out).toMatch(/graph kb: 7 entities, 6 relations, 14 triples; inverses \(~relation\) were added/);
  });

  test('list shows both kinds; stats takes a data set or a part of it; check compares files', async () => {
    await kgwalk('datasets', 'import', 'metaqa', '--from', folderWith(tinyMetaQa), '--name', 'films');
    await kgwalk('datasets', 'import', 'pathquestion', '--from', folderWith(tinyPathQuestion));
    await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
    const list = (await kgwalk('datasets', 'list')).out;
    expect(list).toMatch(
      /films +questions 1-hop 2, 2-hop 1 +kb[^]*opendialkg +paths 3 \/ 2 \/ 1[^]*pathquestion +questions 2H 3/,
    );
    const all = (await kgwalk('datasets', 'stats', 'films')).out;
    expect(all).toMatch(/questions +2 +1\n/);
    expect(all).toMatch(/answers within 1, 2, 3 hops +100\.00 %, 100\.00 %, 100\.00 % +0\.00 %, 100\.00 %/);
    expect(all).toMatch(/topics leave every frontier\)[^]*2-hop +leave every frontier +100\.00 %/);
    const { subsets } = await kgwalkJson<{ subsets: object }>('datasets', 'stats', 'films/2-hop');
    expect(Object.keys(subsets)).toEqual(['2-hop']);
    expect((await kgwalk('datasets', 'stats', 'pathquestion')).out).toContain('here topics stay');
    expect((await kgwalk('datasets', 'check', 'films')).out).toBe('films: 3 files as imported\n');
  });

  test('bad input: an unknown subset or format, broken lines with their places', async () => {
    await kgwalk('datasets', 'import', 'metaqa', '--from', folderWith(tinyMetaQa));
    expect(await kgwalk('datasets', 'stats', 'metaqa/9-hop')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('expected a subset of metaqa (1-hop, 2-hop), got "9-hop"'),
    });
    expect((await kgwalk('datasets', 'import', 'constructor', '--from', 'x')).err).toMatch(
      /format \(opendialkg, metaqa, .*custom, triples\)/,
    );
    const from = folderWith({ 'triples.tsv': 'a\tr\tb\n', 'questions.jsonl': '\u001b[2J\n{"question": "q\u001b"\n' });
    const { exitCode, err } = await kgwalk('datasets', 'import', 'custom', '--from', from);
    expect(exitCode).toBe(3);
    expect(err).toMatch(/2 broken lines:[^]*questions\.jsonl:1: [^]*questions\.jsonl:2: /);
    expect(err).not.toContain('\u001b');
  });

  test('statements have no answers: metrics of answers are blank, or computed on the questions only', async () => {
    const statement = {
      question: '[Oslo] lies in Norway',
      form: 'truth',
      truth: true,
      claimed: 'Norway',
      chain: ['in'],
    };
    const question = { question: 'where is [Lund]', answers: ['Sweden'], chain: ['in'] };
    const triples = 'Oslo\tin\tNorway\nLund\tin\tSweden\n';
    for (const [name, lines] of [
      ['claims', [statement]],
      ['mixed', [statement, question]],
    ] as const) {
      const questions = lines.map((line) => JSON.stringify(line)).join('\n');
      const from = folderWith({ 'triples.tsv': triples, 'questions.jsonl': questions });
      await kgwalk('datasets', 'import', 'custom', '--from', from, '--name', name);
    }
    const claims = (await kgwalk('datasets', 'stats', 'claims')).out;
    expect(claims).toMatch(/answers \(mean\/median\/max\)\none answer\n[^]*answers within 1, 2, 3 hops\n/);
    expect(claims).toMatch(/with a gold chain +1\n[^]*all +stay +100\.00 %\n?$/);
    const mixed = (await kgwalk('datasets', 'stats', 'mixed')).out;
    expect(mixed).toMatch(/one answer +100\.00 %\n[^]*with a gold chain +2\n/);
    expect(mixed).toMatch(/all +stay +100\.00 % +100\.00 % +100\.00 % +100\.00 %\n?$/);
    const { subsets } = await kgwalkJson<QuestionStatistics>('datasets', 'stats', 'claims');
    expect(subsets['all']!.chains.rules.stay).toEqual({ executable: 1, hit1: null, f1: null, exact: null });
  });

  test('names with control characters never reach the terminal as such', async () => {
    const from = folderWith({
      'triples.tsv': 'a\u001b[2J\tr\tb\n',
      'questions.jsonl': JSON.stringify({ question: '[a\u001b[2J]', answers: ['b'], type: '\u001b' }),
    });
    const imported = await kgwalk('datasets', 'import', 'custom', '--from', from);
    const stats = await kgwalk('datasets', 'stats', 'custom');
    expect([imported.exitCode, stats.exitCode]).toEqual([0, 0]);
    expect(imported.out + stats.out).not.toContain('\u001b');
  });
});
