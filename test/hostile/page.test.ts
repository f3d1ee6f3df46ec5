import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { modelCard } from '../../checkpoints/model-card.js';
import { writeReport } from '../../reports/report.js';
import { csvCell } from '../../src/run/printable.js';
import { openRun } from '../../src/run/run-folder.js';
import { madeUpAnswers, madeUpQuestionExample, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { madeUpEvaluation, madeUpExamples, writeMadeUpRun } from '../fixtures/made-up-runs.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { takenApart } from '../fixtures/report-page.js';

/** Tries to leave a text, an attribute, a style and a comment, to run, to fetch, and to turn the line around. */
const evil =
  "</title></style></script><script>alert(1)</script>\"><img src=x onerror=alert(2)>' onload='x' javascript:alert(3) --> <%= 7*7 %> \u202egnp\u001b[2J";

const where: Record<string, unknown> = {
  ...{ dataset: evil, graph: evil, split: evil, note: evil },
  ...{
    metrics: { [`path@1`]: { value: 0.3, low: 0.2, high: 0.4, n: 9 }, [evil]: { value: 1, low: 1, high: 1, n: 9 } },
  },
  ...{ slices: { [evil]: { 'path@1': { value: 0.3, low: 0.2, high: 0.4, n: 9 } } }, misses: { [evil]: 3 } },
  ...{ cost: { [evil]: { mean: 1, median: 1, p95: 1, max: 1, total: 3 } }, hashes: { graph: evil } },
};

/** The page without what it says itself between `<` and `>`: texts alone, and the tags by themselves. */
const tagsOf = (html: string) => html.match(/<[^>]*>/g) ?? [];

describe('a report of records that are all script', () => {
  let html: string;
  let folder: string;

  beforeAll(async () => {
    folder = folderWith({});
    const run = join(folder, `run ${evil.replaceAll('/', '')}`.slice(0, 120));
    writeMadeUpRun(run, {
      config: { name: evil, seed: 1, data: { dataset: evil, graph: evil }, encoder: { model: evil } },
      metrics: [1, 2, 3].map((step) => ({
        phase: 'ppo',
        step,
        metrics: { [evil]: step, [`train/${evil}`]: step },
      })),
      evaluations: [
        madeUpEvaluation(evil, 0.3, {
          ...where,
          checkpoint: 'best',
          examples: madeUpExamples.map((example) => ({ ...example, id: evil, asked: [evil], gold: [evil] })),
          figures: ['toString', evil].map((key) => ({ key, title: evil, unit: '%', better: 'high', place: 'main' })),
          sections: [{ title: evil, lines: [evil], rows: [{ [evil]: evil }] }],
        }),
        madeUpEvaluation(evil, 0.2, where),
      ],
    });
    const evaluation = writeMadeUpEvaluation(join(folder, 'asked'), {
      record: madeUpAnswers(evil, 0.3, {
        ...{ dataset: evil, subsets: [evil], split: evil, model: evil, switches: { [evil]: evil } },
        ...{ misses: { [evil]: 3, toString: 1 }, excluded: { valueOf: 1 }, run: evil, checkpoint: evil },
        sections: [
          { title: evil, rows: [{ [evil]: evil, constructor: 'toString' }] },
          { title: 'constructor', lines: [evil] },
          { title: `curve ${evil}`, curve: { x: evil, y: evil, points: [[1, 1]] } },
        ],
        examples: [
          madeUpQuestionExample({
            ...{ id: evil, asked: [evil], topics: [evil], gold: [evil], lines: [evil], miss: evil },
            answers: [{ text: evil, score: evil }],
          }),
        ],
      }),
    });
    const to = join(folder, 'out');
    const { page, pictures } = await writeReport([openRun(run)], { to, evaluations: [evaluation], title: evil });
    html = readFileSync(page, 'utf8');
    expect(pictures.every((file) => dirname(file) === to && /^[\w@-]+\.png$/.test(basename(file)))).toBe(true);
    expect(readdirSync(to)).toContain('index.html');
  });

  test('has no script, no handler, no address and no style but its own', () => {
    const { rest, plots } = takenApart(html);
    const tags = tagsOf(rest);
    expect(rest).toContain('&lt;script&gt;alert(1)');
    expect(JSON.stringify(plots)).toContain('</script><script>alert(1)</script>');
    expect(rest).not.toMatch(/<script|<iframe|<object|<embed|<link|<base|<form|<svg(?! class="walks-drawn")/i);
    for (const tag of tags) {
      expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\bon\w+\s*=|javascript:/i);
      for (const [, name, value] of tag.matchAll(/\b(href|src|srcset|style)="([^"]*)"/g)) {
        expect(value).toMatch({ href: /^#\w+$/, style: /^width:\d+%$/ }[name!] ?? /^data:image\/png;base64,[\w+/=]+$/);
      }
    }
    expect(tags.filter((tag) => tag.startsWith('<img')).every((tag) => tag.includes('src="data:image/png'))).toBe(true);
    expect(rest).not.toContain('49 ');
  });

  test('has no control character and nothing that turns a line around', () => {
    const { rest, plots } = takenApart(html);
    expect(rest + JSON.stringify(plots)).not.toMatch(/[^\P{Cc}\n\t]|[\u2028\u202e\u2066\u200f]/u);
    expect(html).toContain('\\u202egnp\\u001b[2J');
  });

  test('may run nothing but its own two scripts and load nothing, by its own policy', () => {
    expect(html).toMatch(
      /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src '[\w+/=-]+' '[\w+/=-]+'">/,
    );
  });
});

test('a model card holds names as code that they cannot end', () => {
  const card = modelCard(`x\`\n# ${evil}`, {
    header: {
      ...{ schemaVersion: 2, kind: 'walker', configHash: evil, hashes: { graph: `a|b\`${evil}` }, phase: 'ppo' },
      ...{ step: 1, epoch: 0, trainer: {}, metrics: { [`\`|${evil}`]: 1 } },
      config: { name: `\`\`\`\n${evil}\n\`\`\`\`` },
    } as never,
    tensors: { [`w\`|${evil}`]: { shape: [1], data: new Float32Array(1) } },
  });
  const [outside, settings] = card.split('## Settings\n\n') as [string, string];
  for (const line of outside.split('\n').filter((one) => one.includes('alert'))) {
    expect(line.replace(/`[^`]*`/g, '')).not.toContain('<');
  }
  const fence = /^`+/.exec(settings)![0];
  expect(settings.split('\n').filter((line) => line.startsWith(fence))).toHaveLength(2);
});

test('a cell of CSV is a text to every spreadsheet', () => {
  expect(['=1+1', '+1', '-1', '@x', '\t=1', '\r=1'].map(csvCell)).toEqual([
    ...["'=1+1", "'+1", "'-1", "'@x", "'\t=1", '"\'\r=1"'],
  ]);
  expect(['Heat', 'a,b', 'a"b', 'a=1'].map(csvCell)).toEqual(['Heat', '"a,b"', '"a""b"', 'a=1']);
  expect([-1.5, NaN].map(csvCell)).toEqual(['-1.5', 'NaN']);
});
