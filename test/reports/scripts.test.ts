import { expect, test } from '@jest/globals';
import { browserModule } from '../../reports/scripts.js';

const agent = () => browserModule('export/page/main', 'export/browser/stand-ins');

/** Names of what would throw once it is called. */
const missing = (code: string) => [...code.matchAll(/absent\('([^']+)'\)/g)].map(([, what]) => what).sort();

test('the agents of a page reach no file: of Node and packages they name what they never call there', () => {
  expect([...new Set(missing(agent()))]).toEqual([
    'EigenvalueDecomposition of ml-matrix',
    'Matrix of ml-matrix',
    'getHeapSpaceStatistics of node:v8',
    'getHeapStatistics of node:v8',
    'readFileSync of node:fs',
    'xoroshiro128plusFromState of pure-rand/generator/xoroshiro128plus',
  ]);
});

test('a bundle has no import and no end of a script in it', () => {
  for (const code of [
    agent(),
    ...['export/browser/page', 'reports/browser/page', 'serve/browser/main'].map((entry) => browserModule(entry)),
  ]) {
    expect(code).not.toMatch(/^import |<\/script/m);
  }
});

test('it holds what is reached alone', () => {
  expect(agent().length).toBeLessThan(400_000);
  expect(agent()).not.toContain('function threadedWalker');
});

test('pages have nothing of packages', () => {
  for (const entry of ['export/browser/page', 'reports/browser/page', 'serve/browser/main']) {
    expect(missing(browserModule(entry))).toEqual([]);
  }
});

test('a module that was not built is named', () => {
  expect(() => browserModule('export/nothing')).toThrow(/expected the page's scripts, got none, at .*nothing\.js/);
});
