/**
 * `npm run test:long [-- FILE …]`: the tests that `npm test` leaves out (`*.long.test.ts`) and the long versions of those
 * that repeat something, with the counts of what was tried and the state of every defect that an attack once found.
 * Then commands that write are killed at a hundred moments (`test/kills/run.mjs`).
 * `--since COMMIT` runs only the long files near what changed, once each; jest's figures go to `--outputFile FILE`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { argv, env, execPath, exit, stdout } from 'node:process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: { since: { type: 'string' }, outputFile: { type: 'string' } },
  allowPositionals: true,
});
const folder = mkdtempSync(join(tmpdir(), 'kgwalk-tally-'));
const tally = join(folder, 'tally.tsv');
const results = values.outputFile ?? join(folder, 'results.json');
writeFileSync(tally, '');

const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((file) => file.endsWith('.test.ts'));
const isLong = (file) => file.endsWith('.long.test.ts');
const repeats = (file) => /fixtures\/(blank-pictures|long-tests|property|hostile)\.js/.test(readFileSync(file, 'utf8'));
/** Former defects with the file that tests them and, if not all of its tests do, words of their titles. */
const defects = JSON.parse(readFileSync('test/attacks/defects.json', 'utf8'));

/** Checks of the package itself: run after every change. */
const always = ['test/packaging.long.test.ts', 'test/audit.long.test.ts', 'test/dependencies.long.test.ts'];

/** Long files that changed, of the folder that mirrors a changed file, or with the examples of a changed page. */
function near(commit) {
  const { status, stdout: text } = spawnSync('git', ['diff', '--name-only', commit], { encoding: 'utf8' });
  if (status !== 0) {
    stdout.write(`no commit ${commit} to compare with: only the checks of the package\n`);
    return always;
  }
  const changed = text.split('\n').filter(Boolean);
  const folders = new Set(changed.flatMap((file) => [dirname(file), join('test', dirname(file))]));
  const pages = changed.filter((file) => file.endsWith('.md'));
  const runsPage = (file) => pages.some((page) => readFileSync(file, 'utf8').includes(`runsAsWritten('${page}'`));
  const chosen = files.filter((file) => isLong(file) && (changed.includes(file) || runsPage(file)));
  const mirrored = files.filter((file) => isLong(file) && folders.has(dirname(file)) && !file.startsWith('test/docs/'));
  return [...new Set([...always, ...chosen, ...mirrored])].filter((file) => existsSync(file));
}

/** The first files that take about five minutes together on two cores; the others are left to `npm run test:long`. */
function withinBudget(wanted) {
  const known = JSON.parse(readFileSync(join(import.meta.dirname, 'long-files.json'), 'utf8'));
  let seconds = 0;
  const kept = wanted.filter((file) => (seconds += known[file] ?? 10) <= 400);
  const left = wanted.length - kept.length;
  if (left > 0) stdout.write(`${left} more files near the change are left to npm run test:long\n`);
  return kept;
}

const all = () => [
  ...new Set([...files.filter((file) => isLong(file) || repeats(file)), ...defects.map(({ file }) => file)]),
];
const isWhole = values.since === undefined && positionals.length === 0;
const chosen = values.since === undefined ? (isWhole ? all() : positionals) : withinBudget(near(values.since));
if (!isWhole) stdout.write(`${chosen.join('\n')}\n`);
const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
const { status } = spawnSync(execPath, [...jest, '--json', `--outputFile=${results}`, ...chosen], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...env, KGWALK_TEST_LONG: values.since === undefined ? '1' : 'once', KGWALK_TEST_TALLY: tally },
});

const { testResults, numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
  readFileSync(results, 'utf8'),
);
let seen = 0;
for (const { id, what, file, title = '' } of isWhole ? defects : []) {
  const { assertionResults = [] } = testResults.find(({ name }) => name === resolve(file)) ?? {};
  const of = assertionResults.filter(({ fullName }) => fullName.includes(title));
  const passed = of.filter((one) => one.status === 'passed').length;
  const held = passed > 0 && of.every((one) => one.status !== 'failed');
  if (!held) seen++;
  stdout.write(`${id.padEnd(4)} ${held ? 'held' : 'SEEN'}  ${what} (${of.length} tests of ${file})\n`);
}
if (isWhole) stdout.write(`defects: ${defects.length - seen} of ${defects.length} held\n`);

const sums = new Map();
for (const line of readFileSync(tally, 'utf8').split('\n').filter(Boolean)) {
  const [what, count] = line.split('\t');
  sums.set(what, (sums.get(what) ?? 0) + Number(count));
}
rmSync(folder, { recursive: true });
for (const [what, sum] of sums) stdout.write(`${what}: ${sum.toLocaleString('en')}\n`);
const losses = numFailedTests + numRuntimeErrorTestSuites;
stdout.write(`losses: ${losses} (${numPassedTests} tests passed)\n`);
const killed = isWhole ? spawnSync(execPath, ['test/kills/run.mjs', '--kills', '100'], { stdio: 'inherit' }).status : 0;
exit(status || killed || Number(losses + seen > 0));
