/**
 * `npm run test:changed`: the tests of what differs from `main`, or from another commit (`--since COMMIT`): of every changed
 * file those of its folder, which mirror it, and the rules of imports; with `--related` all tests that reach it by imports.
 * What stands after a second `--` goes to jest. Nothing is built: tests of the built program take the last build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { since: { type: 'string', default: 'main' }, related: { type: 'boolean', default: false } },
  allowPositionals: true,
});

function git(...words) {
  const { status, stdout: text, stderr } = spawnSync('git', words, { encoding: 'utf8' });
  if (status === 0) return text.split('\n').filter(Boolean);
  stdout.write(`expected a commit to compare with, got ${JSON.stringify(values.since)}: ${stderr}`);
  return exit(1);
}

const [base] = git('merge-base', values.since, 'HEAD');
// Deleted files have no tests left; those of their folder are run anyway.
const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
const isTest = (file) => file.endsWith('.test.ts');
const code = changed.filter((file) => /\.(ts|mjs|js)$/.test(file));

/** A test is itself; other files have the tests of the nearest folder that mirrors theirs, without folders in it. */
function testsOf(file) {
  if (isTest(file)) return existsSync(file) ? [file] : [];
  const inTests = file.startsWith('test/');
  for (
    let folder = inTests ? dirname(file) : join('test', dirname(file));
    folder !== 'test';
    folder = dirname(folder)
  ) {
    if (existsSync(folder) && readdirSync(folder).some(isTest)) return [`${folder}/[^/]+$`];
  }
  return [];
}

const chosen = ['test/architecture.test.ts', ...new Set(code.flatMap(testsOf))].sort();
const words = values.related ? ['--findRelatedTests', ...code.filter(existsSync)] : chosen;
stdout.write(`${changed.length} changed files since ${values.since}; tests: ${words.join(' ')}\n`);
const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
exit(spawnSync(execPath, [...jest, ...words, ...positionals], { stdio: 'inherit' }).status ?? 1);
