/** Runs the examples of a page in order, in a temporary folder and home, as a reader would. */
import { readFileSync } from 'node:fs';
import { chdir, cwd, env } from 'node:process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { examplesOf } from './examples.js';
import { reasonNotToRun } from './not-run.js';
import { parseCommand } from './parse-command.js';
import { commandLines, isBeyondUs, kgwalkWords, shellWords } from './shell-lines.js';
import { save, shrink, shrinkCode, withStandIns, type Surroundings } from './stand-ins.js';
import { successLineOf } from './success-lines.js';
import { overSources, runTypeScript } from './typescript-examples.js';

export interface PageOptions {
  /** Commands of other pages that this one builds on. */
  before?: readonly string[];
  /** Output of the code under a heading. */
  prints?: Readonly<Record<string, RegExp>>;
  /** The files that blocks of data and plugins under a heading become, in order. */
  saves?: Readonly<Record<string, readonly string[]>>;
}

const packageFile = join(cwd(), 'package.json');

/** Call at the top of a file. */
export function runsAsWritten(page: string, { before = [], prints = {}, saves = {} }: PageOptions = {}): void {
  const previousFolder = cwd();
  const here: Surroundings = { folder: folderWith({}), given: {} };
  describe(`the examples of ${page}`, () => {
    beforeAll(async () => {
      env.KGWALK_HOME = join(here.folder, 'home');
      delete env.KGWALK_RUNS;
      chdir(here.folder);
      for (const line of before) await runLine(line, here);
    });

    afterAll(() => {
      chdir(previousFolder);
    });

    const saved: Record<string, number> = {};
    for (const { language, text, line, heading } of examplesOf(page)) {
      const at = `line ${line}`;
      if (language === 'bash') {
        for (const command of commandLines(text)) test(`${at}: ${command}`, () => tryLine(command, page, here));
      } else if (language === 'ts') {
        test(`${at}: the code under “${heading}”`, async () => {
          expect(Object.keys(prints)).toContain(heading);
          expect(await runTypeScript(shrinkCode(text))).toMatch(prints[heading]!);
        });
      } else if (language === '') {
        test(`${at}: a block without a language holds no command`, () =>
          expect(text).not.toMatch(/^\s*(npx )?kgwalk /m));
      } else {
        const index = (saved[heading] = (saved[heading] ?? -1) + 1);
        test(`${at}: a file that the commands below it use`, () => {
          expect(Object.keys(saves)).toContain(heading);
          save(saves[heading]![index]!, language === 'js' ? overSources(text) : text, here);
        });
      }
    }
  });
}

async function tryLine(line: string, page: string, here: Surroundings): Promise<void> {
  if (reasonNotToRun(line, page) === undefined) return runLine(line, here);
  const words = kgwalkWords(line);
  if (words) await parseCommand(words);
}

async function runLine(line: string, here: Surroundings): Promise<void> {
  const words = kgwalkWords(line);
  if (!words) return expectScript(line);
  expect(isBeyondUs(line)).toBe(false);
  await parseCommand(words);
  const { exitCode, out, err } = await kgwalk(...shrink(withStandIns(words, here)));
  expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, '']);
  const successLine = successLineOf(words);
  expect(successLine).toBeDefined();
  expect(out).toMatch(successLine!);
}

/** A script of the package exists: it is not run here. */
function expectScript(line: string): void {
  const { scripts } = JSON.parse(readFileSync(packageFile, 'utf8')) as { scripts: Record<string, string> };
  const [npm, command, script] = shellWords(line);
  expect([npm, line]).toEqual(['npm', line]);
  expect([...Object.keys(scripts), 'ci', 'pack', 'install']).toContain(command === 'run' ? script : command);
}
