/** `npm run test:attacks`: every attack that once succeeded and all of their kind; says of each defect whether it is seen again. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, execPath, exit, stdout } from 'node:process';

/** What attacks on earlier versions broke, with the file whose tests would see it again; where not all of them are of it, words of their titles. */
const defects = JSON.parse(readFileSync('test/attacks/defects.json', 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'kgwalk-attacks-'));
const results = join(folder, 'results.json');
const files = [...new Set(defects.map(({ file }) => file))];
spawnSync(
  execPath,
  [
    ...[
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--json',
      `--outputFile=${results}`,
    ],
    ...['test/attacks', 'test/hostile', ...files, ...argv.slice(2)],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
const { testResults, numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
  readFileSync(results, 'utf8'),
);
rmSync(folder, { recursive: true });

let seen = 0;
for (const { id, what, file, title = '' } of defects) {
  const { assertionResults = [] } = testResults.find(({ name }) => name === resolve(file)) ?? {};
  const of = assertionResults.filter(({ fullName }) => fullName.includes(title));
  const held =
    of.length > 0 && of.every(({ status }) => status !== 'failed') && of.some(({ status }) => status === 'passed');
  if (!held) seen++;
  stdout.write(`${id.padEnd(4)} ${held ? 'held' : 'SEEN'}  ${what} (${of.length} tests of ${file})\n`);
}
const failed = numFailedTests + numRuntimeErrorTestSuites;
stdout.write(
  `${defects.length - seen} of ${defects.length} held; of all attacks ${numPassedTests} tests passed, ${failed} failed\n`,
);
exit(seen + failed > 0 ? 1 : 0);
