#!/usr/bin/env node
/** The entry: starts the program unless Node is too old, or a limit of the system is so low that modules or native parts would not load. */
import { existsSync, readFileSync } from 'node:fs';
import { argv, exit, stderr, versions } from 'node:process';

/** Limits by their name in `/proc/self/limits`: the least value, its unit, and the command that raises it. */
const limits: [name: string, least: number, unit: string, command: string][] = [
  ['Max open files', 512, 'open files', 'ulimit -n 1024'],
  ['Max address space', 2 ** 32, 'bytes of address space', 'ulimit -v unlimited'],
];
const file = '/proc/self/limits';
const known = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
for (const [name, least, unit, command] of limits) {
  const line = known.find((one) => one.startsWith(name)) ?? '';
  // The soft limit comes first; `unlimited` is no number.
  const limit = Number(line.slice(name.length).trim().split(' ')[0] || Infinity);
  if (!(limit < least)) continue;
  const hint = `Raise it, such as with \`${command}\` in a new shell.`;
  refuse(`expected a limit of at least ${least} ${unit}, got ${limit}`, hint);
}

const { tooOld, range } = (await import('../src/run/environment.js')).nodeSupport();
if (tooOld)
  refuse(`expected Node ${range}, got ${versions.node}`, 'Install one of them: https://nodejs.org/en/download');

await import('./program.js');

function refuse(message: string, hint: string): never {
  const asJson = argv.includes('--json') && JSON.stringify({ error: { code: 'failure', message, hint } });
  stderr.write(`${asJson || `error: ${message}\nhint: ${hint}`}\n`);
  exit(1);
}
