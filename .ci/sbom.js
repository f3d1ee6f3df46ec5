/**
 * `npm run sbom [-- FILE]`: the bill of materials of the lock file, as CycloneDX, without what differs from call to call; and the
 * licences of all packages, which must be on the list. Packages of other platforms that the registry never showed have neither
 * hash nor licence in the lock file: they are counted.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, env, execPath, exit } from 'node:process';

/** Whoever gets kgwalk may use, change and pass on what comes under these; of AND and OR every part must be one. */
const allowed = ['0BSD', 'MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0'];
/** Of development alone: data of browsers, and a reader of command lines. */
const named = ['node_modules/caniuse-lite: CC-BY-4.0', 'node_modules/markdown-it/node_modules/argparse: Python-2.0'];

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { packages } = readJson('package-lock.json');
const counts = new Map();
const others = [];
for (const [place, locked] of Object.entries(packages)) {
  if (!place.startsWith('node_modules/')) continue;
  const file = join(place, 'package.json');
  const licences = [locked.license, existsSync(file) ? readJson(file).license : undefined];
  const known = [...new Set(licences.filter((licence) => licence !== undefined))];
  // An installed package without a licence may be used by nobody; one that was never seen says nothing yet.
  if (known.length === 0) known.push(existsSync(file) ? 'none' : 'not seen');
  counts.set(known[0], (counts.get(known[0]) ?? 0) + 1);
  for (const licence of known) {
    const parts = licence.replace(/[()]/g, '').split(/ (?:AND|OR) /);
    const isOpen = licence === 'not seen' || parts.every((part) => allowed.includes(part));
    if (!isOpen && !named.includes(`${place}: ${licence}`)) others.push(`${place}: ${licence}`);
  }
}
for (const [licence, count] of [...counts].sort(([, a], [, b]) => b - a))
  console.log(`${String(count).padStart(4)}  ${licence}`);
for (const other of others) console.log(`not on the list: ${other}`);

const [, , target] = argv;
if (target !== undefined) {
  const words = [env.npm_execpath, 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const { stdout, stderr, status } = spawnSync(execPath, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) {
    console.log(`expected a bill of materials, got ${JSON.parse(stdout || '{}').error?.summary ?? stderr}`);
    exit(1);
  }
  const bill = JSON.parse(stdout);
  // A number drawn at random, the time, the folder's name and the version of npm: the same lock file gives equal bytes.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  delete bill.metadata.tools;
  bill.metadata.component.name = readJson('package.json').name;
  writeFileSync(target, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`${bill.components.length} components in ${target}`);
}
exit(others.length === 0 ? 0 : 1);
