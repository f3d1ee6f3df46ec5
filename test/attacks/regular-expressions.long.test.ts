/**
 * No regular expression of this program takes longer than in proportion to a text from outside. All of them are collected from the
 * sources, and each gets texts made to hurt it, so long that the square of their length takes a hundred times as long as is allowed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { hardTexts } from '../fixtures/hard-texts.js';
// @ts-expect-error plain JavaScript, shared with the lint configuration
import * as rules from '../../layers.js';

const { layerOf } = rules as { layerOf(file: string): string | undefined };

/** Patterns that are matched only with texts of this repository. */
const ownTexts = [
  String.raw`reports/scripts.ts: /\n\/\/# sourceMappingURL=.*\s*$/`,
  'datasets/demo/names.ts: /[aeiou]+$/',
];

/** Expressions that are put together, where they are, and why they are no worse. */
const putTogether: Record<string, string> = {
  'checkpoints/store.ts': 'tested below',
  'src/llm/decisions/likelihood/plain-text.ts':
    'names of one question, at every place of it: both have at most 2,000 characters',
  'src/run/environment.ts': 'names of this project’s packages',
};

const sources = (readdirSync('.', { recursive: true }) as string[]).filter(
  (file) => !/^(node_modules|dist|test)\b/.test(file) && file.endsWith('.ts') && layerOf(file) !== undefined,
);

function nodesOf<T extends ts.Node>(file: string, isWanted: (node: ts.Node) => node is T): T[] {
  const found: T[] = [];
  const visit = (node: ts.Node): void => {
    if (isWanted(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
}

const literalsOf = (file: string): string[] => nodesOf(file, ts.isRegularExpressionLiteral).map((node) => node.text);

function expressionOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

const looks = new Script('for (const text of texts) text.search(expression)');
/** Three times, as a busy machine may take long over anything. */
const isSlow = (expression: RegExp, texts: readonly string[], timeout: number): boolean =>
  [1, 2, 3].every(() => {
    try {
      looks.runInNewContext({ expression, texts }, { timeout });
      return false;
    } catch {
      return true;
    }
  });

/** The beginning of a text that takes longer than in proportion to its length; undefined where there is none. */
function hurtBy(expression: RegExp): string | undefined {
  const texts = hardTexts(expression, 40_000);
  if (!isSlow(expression, texts, 1000)) return undefined;
  return texts.find((text) => isSlow(expression, [text], 100))?.slice(0, 12);
}

/** The expressions that a module makes while it is loaded. */
async function madeBy(load: () => Promise<unknown>): Promise<RegExp[]> {
  const made: RegExp[] = [];
  const plain = RegExp;
  globalThis.RegExp = new Proxy(plain, {
    construct(target, [source, flags]: [string, string]) {
      made.push(new target(source, flags));
      return made.at(-1)!;
    },
  });
  try {
    await load();
  } finally {
    globalThis.RegExp = plain;
  }
  return made;
}

describe('regular expressions', () => {
  test('of this program take steps in proportion to the text', () => {
    const places = new Map<string, string[]>();
    for (const file of sources) {
      for (const literal of literalsOf(file)) places.set(literal, [...(places.get(literal) ?? []), file]);
    }
    expect(places.size).toBeGreaterThan(240);
    const hurt = [...places].flatMap(([literal, files]) => {
      const named = files.map((file) => `${file}: ${literal}`).filter((place) => !ownTexts.includes(place));
      const text = named.length === 0 ? undefined : hurtBy(expressionOf(literal));
      return text === undefined ? [] : named.map((place) => `${place} by ${JSON.stringify(text)}`);
    });
    expect(hurt).toEqual([]);
  });

  test('that are put together are known', () => {
    const isMade = (node: ts.Node): node is ts.NewExpression =>
      ts.isNewExpression(node) && node.expression.getText() === 'RegExp';
    expect(sources.filter((file) => nodesOf(file, isMade).length > 0).sort()).toEqual(Object.keys(putTogether));
  });

  test.each([['checkpoints/store.ts', () => import('../../checkpoints/store.js')]])(
    'that %s puts together take no more',
    async (_file, load) => {
      const made = await madeBy(load);
      expect(made.length).toBeGreaterThan(0);
      expect(made.map(hurtBy)).toEqual(made.map(() => undefined));
    },
  );

  test.each([/\s*\([^)]*\)\s*$/, /(?:a+)+$/, /\/+$/, /(\w|\d)+x/, /^a*b?a*$/, /(?<=x.*)y/])(
    'such as %s would be found',
    (bad) => expect(hurtBy(bad)).toBeDefined(),
  );

  test.each([/(?<!\/)\/+$/, /^a*b$/, /x.{0,40}y/, /[^)]/, /^(?:ab|cd)*e/])('such as %s are fine', (good) =>
    expect(hurtBy(good)).toBeUndefined(),
  );
});
