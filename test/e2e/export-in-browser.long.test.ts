/**
 * Pages of agents in full size: over the embedded model on the demo world, and on MetaQA and UMLS where their files are. They answer in Chromium as
 * in Node, in less than a tenth of a second.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { importDemo } from '../../datasets/demo/import.js';
import { describeInBrowser } from '../fixtures/browser.js';
import { printed } from '../fixtures/command-line.js';
import { difference, ofNode, ofPage, openPage, replies } from '../fixtures/exported-page.js';
import { folderWith } from '../fixtures/tiny-release.js';

const shared = env.KGWALK_TEST_DATA;
const miniLm = join(shared ?? '', 'models', 'all-MiniLM-L6-v2.Q8_0.gguf');
const isThere = shared !== undefined && existsSync(miniLm);
if (!isThere)
  stderr.write('pages of MetaQA and UMLS are skipped: set KGWALK_TEST_DATA to the folder with data/ and models/\n');

const short = ['ppo.updates=4', 'ppo.evalEvery=4', 'ppo.evalSamples=50', 'evaluation.resamples=50'];
const set = (...overrides: string[]) => overrides.flatMap((one) => ['--set', one]);

describeInBrowser('an exported agent in full size', (browser) => {
  const home = (env.KGWALK_HOME = folderWith({}));
  afterAll(() => void (env.KGWALK_HOME = home));

  beforeAll(async () => {
    await importDemo();
    if (!isThere) return;
    await printed('datasets', 'import', 'metaqa', '--from', join(shared, 'data', 'metaqa'));
    await printed('datasets', 'import', 'triples', '--name', 'umls', '--from', join(shared, 'data', 'umls'));
  });

  const cases: [preset: string, words: string[]][] = [
    ['demo', set(...short, 'clone.epochs=1', 'transe.epochs=10')],
    ['demo-questions', set(...short)],
    ...(isThere
      ? [
          ['metaqa', ['--model', miniLm, ...set(...short)]] as [string, string[]],
          ['umls-chains', set('exactWalker.chains.queries=100')] as [string, string[]],
        ]
      : []),
  ];

  test.each(cases)('%s', async (preset, words) => {
    const [run, file] = [join(home, preset), join(home, `${preset}.html`)];
    await printed('train', preset, ...words, '--run-dir', run);
    await printed('export', run, '--html', file);
    const page = await openPage(browser(), file);
    const asked = await replies(page);
    let most = 0;
    for (const reply of asked) {
      const node = await ofNode(run, reply.fields);
      const own = ofPage(reply, preset === 'demo');
      expect(own.names).toEqual(node.names);
      most = Math.max(most, difference(own.scores, node.scores));
    }
    const times = asked.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
    const middle = times[times.length >> 1]!;
    const megabytes = (statSync(file).size / 1e6).toFixed(2);
    stderr.write(
      `${preset}: ${megabytes} MB, ${asked.length} questions in ${middle.toFixed(1)} ms (median) to ${times.at(-1)!.toFixed(1)} ms, scores differ by ${most.toExponential(1)}\n`,
    );
    expect(asked.length).toBeGreaterThanOrEqual(50);
    expect(most).toBeLessThan(1e-5);
    expect([page.complaints, page.requests]).toEqual([[], [`file://${file}`]]);
    if (!(await page.evaluate<string>('kgwalk.agent.about.texts')).includes('computed here')) return;
    // Other texts, by the forward pass of the page: words before a question change its vector.
    const others = asked.slice(0, 20).map(({ fields }) => ({ ...fields, question: `Well, ${fields.question}` }));
    for (const reply of await replies(page, others)) {
      const [own, node] = [ofPage(reply, false), await ofNode(run, reply.fields)];
      expect(Math.abs(own.scores[0]! - node.scores[0]!)).toBeLessThan(0.05);
      expect(reply.notes.join()).toContain('computed by this page');
    }
  });
});
