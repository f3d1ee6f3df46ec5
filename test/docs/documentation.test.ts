/** Rules for every page of the documentation. The examples are run by the other tests of this folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { commands } from '../../cli/commands.js';
import { Command } from 'commander';
import { documentationPages, examplesOf, pagesWithExamples } from './examples.js';
import { forgottenExceptions } from './not-run.js';
import { parseCommand } from './parse-command.js';
import { commandLines, kgwalkWords } from './shell-lines.js';

const pages = documentationPages();
/** Bash that reads each text that it is given by itself, without doing it. */
const readAlone = `for text; do (eval "set -n
$text"); done`;
const isOfFile = (words: string[]) => words.some((word) => /^[\w./-]+\.(yaml|mjs)$/.test(word));
const blocksOf = (page: string, language: string) =>
  examplesOf(page).filter((example) => example.language === language);

describe('every example', () => {
  test('is run by a test of its page', () => {
    const tests = readdirSync('test/docs').filter((name) => name.endsWith('.test.ts'));
    const sources = tests.map((name) => readFileSync(join('test/docs', name), 'utf8'));
    const run = sources.flatMap((text) => [...text.matchAll(/runsAsWritten\('([^']+)'/g)].map(([, page]) => page!));
    expect([...new Set(run)].sort()).toEqual(pagesWithExamples().sort());
  });

  test('that is not run stands on a page', () => {
    const linesOf = (page: string) => blocksOf(page, 'bash').flatMap(({ text }) => commandLines(text));
    expect(forgottenExceptions(linesOf)).toEqual([]);
  });

  test.each(pages.filter((page) => blocksOf(page, 'bash').length > 0))('of %s is a shell’s', (page) => {
    const texts = blocksOf(page, 'bash').map(({ text }) => text);
    const { error, stderr } = spawnSync('bash', ['-c', readAlone, 'bash', ...texts], { encoding: 'utf8' });
    // A machine without bash has nothing to say.
    expect(error ? '' : stderr).toBe('');
  });
});

test.each(pages)('every command line of %s parses', async (page) => {
  for (const line of blocksOf(page, 'bash').flatMap(({ text }) => commandLines(text))) {
    const words = kgwalkWords(line);
    // The settings of a file are checked where the page runs.
    if (words && !isOfFile(words)) await parseCommand(words);
  }
});

describe('a name inside a sentence', () => {
  const program = new Command('kgwalk');
  for (const register of commands) register(program);

  test.each(pages)('that begins with kgwalk is a command with its options: %s', (page) => {
    const named = [...readFileSync(page, 'utf8').matchAll(/`kgwalk ([^`]+)`/g)].map((match) => match[1]!);
    for (const words of named.map((text) => text.split(/\s+/))) {
      let command = program.commands.find((one) => one.name() === words[0]);
      command = command?.commands.find((one) => one.name() === words[1]) ?? command;
      expect([words.join(' '), command?.name()]).toEqual([words.join(' '), expect.any(String)]);
      const options = command!.options.flatMap(({ long, negate }) => [long, negate ? long?.replace('no-', '') : long]);
      const given = words.flatMap((word) => /--[a-z-]+/.exec(word)?.[0] ?? []);
      expect([...options, '--help']).toEqual(expect.arrayContaining(given));
    }
  });

  test.each(pages)('that begins with npm is a script of the package: %s', (page) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const named = [...readFileSync(page, 'utf8').matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]!);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

test.each(pages)('tests that %s names exist', (page) => {
  const text = readFileSync(page, 'utf8');
  for (const [file] of text.matchAll(/\btest\/[\w./-]+\.test\.ts\b/g))
    expect([file, existsSync(file)]).toEqual([file, true]);
});

describe('links', () => {
  /** Anchors in the form that GitHub makes from headings. */
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
  const anchorsOf = (page: string) =>
    [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1]!));

  test.each(pages)('lead to a file, and to a heading in it: %s', (page) => {
    const text = readFileSync(page, 'utf8');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(
      ([, plain, html]) => plain ?? html!,
    );
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [path, anchor] = link.split('#') as [string, string?];
      const file = path === '' ? page : normalize(join(dirname(page), path));
      expect([link, existsSync(file)]).toEqual([link, true]);
      if (anchor !== undefined) expect(anchorsOf(file)).toContain(anchor);
    }
  });
});
