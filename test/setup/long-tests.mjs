/** `npm run test:faults`: every kill point, every fault and all inputs, and how many there were. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, env, execPath, exit, stdout } from 'node:process';

const folder = mkdtempSync(join(tmpdir(), 'kgwalk-tally-'));
const [tally, results] = [join(folder, 'tally.tsv'), join(folder, 'results.json')];
writeFileSync(tally, '');
const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
/** Every test that repeats something, of whatever it is. */
const repeating = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('fixtures/long-tests.js'));
const chosen = argv.length > 2 ? argv.slice(2) : ['test/faults', 'test/hostile', ...repeating];
const { status } = spawnSync(execPath, [...jest, '--json', `--outputFile=${results}`, ...chosen], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...env, KGWALK_TEST_LONG: '1', KGWALK_TEST_TALLY: tally },
});

const sums = new Map(
  ['moments killed', 'faults injected', 'inputs tried', 'interleavings tried'].map((what) => [what, 0]),
);
for (const line of readFileSync(tally, 'utf8').split('\n').filter(Boolean)) {
  const [what, count] = line.split('\t');
  sums.set(what, sums.get(what) + Number(count));
}
const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(results, 'utf8'));
const losses = numFailedTests + numRuntimeErrorTestSuites;
rmSync(folder, { recursive: true });
for (const [what, sum] of sums) stdout.write(`${what}: ${sum.toLocaleString('en')}\n`);
stdout.write(`losses: ${losses} (${numPassedTests} tests passed)\n`);
exit(status ?? 1);
