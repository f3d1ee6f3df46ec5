/** Pages of `kgwalk export` in a browser: every kind of agent answers as Node does, offline. `npm test` builds their scripts first. */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeAll, expect, test } from '@jest/globals';
import { runSettings } from '../../presets/index.js';
import { loadConfig } from '../../src/run/config.js';
import { resolvePreset } from '../../src/run/locations.js';
import { train } from '../../tasks/train.js';
import { describeInBrowser, looks } from '../fixtures/browser.js';
import { printed } from '../fixtures/command-line.js';
import { difference, ofNode, ofPage, openPage, replies } from '../fixtures/exported-page.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { importTinyLinks } from '../fixtures/tiny-link-training.js';
import { folderWith } from '../fixtures/tiny-release.js';

describeInBrowser('an exported agent', (browser) => {
  const runs: Record<string, string> = {};
  const pageOf = (kind: string) => join(env.KGWALK_HOME!, `${kind}.html`);

  beforeAll(async () => {
    env.KGWALK_HOME = folderWith({});
    for (const kind of ['dialogues', 'questions'] as const) runs[kind] = await finishedRun(kind);
    await importTinyLinks();
    runs.links = join(env.KGWALK_HOME, 'chains-run');
    const overrides = ['data.dataset=tiny', 'exactWalker.chains.chains=20'];
    await train({
      settings: loadConfig(runSettings, { file: resolvePreset('link-chains'), overrides }),
      folder: runs.links,
    });
    for (const [kind, run] of Object.entries(runs)) await printed('export', run, '--html', pageOf(kind));
  });

  test.each(['dialogues', 'questions', 'links'])('on %s gives the answers of Node, without a request', async (kind) => {
    const page = await openPage(browser(), pageOf(kind));
    const asked = await replies(page);
    expect(asked.length).toBeGreaterThan(0);
    for (const reply of asked) {
      const node = await ofNode(runs[kind]!, reply.fields);
      const own = ofPage(reply, kind === 'dialogues');
      expect(own.names).toEqual(node.names);
      expect(difference(own.scores, node.scores)).toBeLessThan(1e-5);
    }
    expect(page.complaints).toEqual([]);
    expect(page.requests).toEqual([`file://${pageOf(kind)}`]);
    expect(statSync(pageOf(kind)).size).toBeLessThan(1e6);
  });

  test('takes other texts where the encoder runs in the page', async () => {
    const [reply] = await replies(await openPage(browser(), pageOf('questions')), [
      { question: 'now who was it that directed [tenet]' },
    ]);
    const node = await ofNode(runs.questions!, reply!.fields);
    expect(ofPage(reply!, false)).toEqual(node);
  });

  test('reaches no network', async () => {
    const page = await openPage(browser(), pageOf('links'));
    expect(await page.evaluate(`fetch('http://127.0.0.1:9/').then(() => 'there', () => 'refused')`)).toBe('refused');
    expect(page.complaints.join()).toContain('Content Security Policy');
  });

  test.each(looks)(
    'is as wide as the window at %i px by %s, and draws the answer that is clicked',
    async (width, scheme) => {
      for (const kind of Object.keys(runs)) {
        const page = await openPage(browser(), pageOf(kind), width, scheme);
        await page.evaluate(`[...document.querySelectorAll('.answer')].at(-1).click()`);
        const [drawn, chosen] = await page.evaluate<[string, string]>(
          `[document.querySelector('.drawn').textContent, document.querySelector('.answer[aria-pressed=true] b').textContent]`,
        );
        // An answer elsewhere to the same relation, which no walk leads to, is among those of links.
        expect(drawn).toContain(kind === 'links' ? 'No walk leads to this answer.' : chosen);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        const { KGWALK_TEST_PICTURES: pictures } = env;
        if (pictures) writeFileSync(join(pictures, `export-${kind}-${width}-${scheme}.png`), await page.picture(true));
      }
    },
  );
});
