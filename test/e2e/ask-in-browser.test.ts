/** The form for questions of the live page as a browser shows it: examples, and names completed by keyboard. `npm test` builds its scripts first. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { serve, type Serving } from '../../serve/server.js';
import { describeInBrowser, looks, type PageVisit } from '../fixtures/browser.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { folderWith } from '../fixtures/tiny-release.js';

const until = (page: PageVisit, holds: string) =>
  page.evaluate(`new Promise((done) => { const look = () => (${holds}) ? done() : setTimeout(look, 20); look(); })`);

/** Pictures of all looks, where someone wants to see them. */
const { KGWALK_TEST_PICTURES: pictures } = env;

describeInBrowser('the form for questions', (browser) => {
  let serving: Serving;

  beforeAll(async () => {
    env.KGWALK_HOME = folderWith({});
    for (const kind of ['dialogues', 'questions', 'links'] as const) await finishedRun(kind);
    serving = await serve({ roots: [env.KGWALK_HOME], port: 0, lookMs: 20 });
  });
  afterAll(() => serving?.close());

  const answered = `document.querySelector('.answered')`;
  const opened = `document.querySelector('.names:not([hidden]) li')`;
  const field = (name: string) => `document.querySelector('input[name=${name}]')`;
  let visits = 0;
  const visit = async (kind: string, ...look: [number, 'light' | 'dark'] | []) => {
    const [width = 1440, scheme = 'light'] = look;
    const page = await browser().visit(`${serving.url}?${++visits}#ask?run=${kind}-run`, width, scheme);
    await until(page, `document.querySelector('.offers button')`);
    return page;
  };
  const type = async (page: PageVisit, name: string, text: string) => {
    await page.evaluate(`${field(name)}.focus()`);
    for (const key of text) await page.press(key);
  };

  test.each(['dialogues', 'questions', 'links'])('an example of %s is filled in and asked by a click', async (kind) => {
    const page = await visit(kind);
    await page.evaluate(`document.querySelector('.offers button').click()`);
    await until(page, answered);
    const [said, filled, head] = await page.evaluate<string[]>(
      `[document.querySelector('.offers button').textContent, [...document.querySelectorAll('form.ask input')].map((one) => one.value).join(' · '), document.querySelector('.answered b').textContent]`,
    );
    expect([filled, head]).toEqual([said, said]);
    expect(page.complaints).toEqual([]);
  });

  test('an entity in brackets is completed by the keyboard, and the question is asked', async () => {
    const page = await visit('questions');
    await type(page, 'question', 'who directed [TEN');
    await until(page, opened);
    expect(await page.evaluate(`${field('question')}.getAttribute('aria-expanded')`)).toBe('true');
    await page.press('ArrowDown');
    const active = `document.getElementById(${field('question')}.getAttribute('aria-activedescendant'))`;
    expect(await page.evaluate(`[${active}.textContent, ${active}.getAttribute('aria-selected')]`)).toEqual([
      'tenet',
      'true',
    ]);
    await page.press('Enter');
    expect(
      await page.evaluate(`[${field('question')}.value, ${field('question')}.getAttribute('aria-expanded')]`),
    ).toEqual(['who directed [tenet]', 'false']);
    await page.evaluate(`document.querySelector('form.ask').requestSubmit()`);
    await until(page, answered);
    expect(await page.evaluate(`document.querySelector('.answered b').textContent`)).toBe('who directed [tenet]');
    expect(page.complaints).toEqual([]);
  });

  test('Escape closes the list and keeps the text', async () => {
    const page = await visit('dialogues');
    const [start] = await page.evaluate<string[]>(
      `[document.querySelector('.offers button').textContent.split(' · ').at(-1)]`,
    );
    await type(page, 'start', start!.slice(0, 2));
    await until(page, opened);
    await page.press('Escape');
    expect(
      await page.evaluate(`[document.querySelectorAll('.names:not([hidden])').length, ${field('start')}.value]`),
    ).toEqual([0, start!.slice(0, 2)]);
  });

  test('a relation is completed from all of them', async () => {
    const page = await visit('links');
    await type(page, 'relation', '~');
    await until(page, opened);
    await page.press('ArrowUp');
    await page.press('Enter');
    expect(await page.evaluate(`${field('relation')}.value`)).toMatch(/^~./);
  });

  test.each(looks)('fits the window at %i px by %s', async (width, scheme) => {
    for (const kind of ['dialogues', 'questions', 'links']) {
      const page = await visit(kind, width, scheme);
      await page.evaluate(`document.querySelector('.offers button').click()`);
      await until(page, answered);
      const [name, text] = { dialogues: ['start', 'a'], questions: ['question', '[t'], links: ['head', 's'] }[kind]!;
      await page.evaluate(`${field(name!)}.value = ''`);
      await type(page, name!, text!);
      await until(page, opened);
      if (pictures) {
        mkdirSync(pictures, { recursive: true });
        writeFileSync(join(pictures, `ask-${kind}-${width}-${scheme}.png`), await page.picture());
      }
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });
});
