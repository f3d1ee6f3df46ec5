/**
 * `npm run check:peers -- --python PY`: compares results with those of well-known Python packages from the same
 * numbers, as a table. Exits with 1 where they differ by more than is said. The other half is bench/peers/check.py, which takes the
 * cases on its input; `bench/peers/requirements.txt` says which packages it wants.
 */
import { spawnSync } from 'node:child_process';
import { argv, exit, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cases } from './peer-cases.js';

const { values } = parseArgs({
  args: argv.slice(2),
  options: { python: { type: 'string', default: 'peers/bin/python' }, only: { type: 'string' } },
});
// Python is not compiled: it lies next to the sources, from dist/bench as from bench.
const script = fileURLToPath(
  new URL(import.meta.url.includes('/dist/') ? '../../bench/peers/check.py' : 'peers/check.py', import.meta.url),
);

const chosen = Object.entries(cases).filter(([name]) => values.only === undefined || name.includes(values.only));
const ours = await Promise.all(chosen.map(async ([name, make]) => [name, await make()] as const));
const asked = Object.fromEntries(ours.map(([name, { input }]) => [name, input]));
const python = spawnSync(values.python, [script], {
  input: JSON.stringify(asked),
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
  stdio: ['pipe', 'pipe', 'inherit'],
});
if (python.error || python.status !== 0) {
  stdout.write(`expected a Python with the packages of bench/peers/requirements.txt, got ${values.python}: ${python.error?.message ?? `it ended with ${python.status}`}\n`); // prettier-ignore
  exit(2);
}
const theirs = JSON.parse(python.stdout) as Record<string, { peer: string; numbers: Record<string, number[]> }>;

/** The largest difference, as a share of the largest of their numbers. */
function distance(a: ArrayLike<number>, b: readonly number[]): number {
  if (a.length !== b.length) return Infinity;
  let [most, size] = [0, 0];
  b.forEach((value, i) => {
    most = Math.max(most, a[i] === value ? 0 : Math.abs(a[i]! - value));
    size = Math.max(size, Number.isFinite(value) ? Math.abs(value) : 0);
  });
  // Not a number differs from everything.
  return Number.isNaN(most) ? Infinity : most === 0 ? 0 : most / size;
}

let failed = 0;
const rows = ours.flatMap(([name, { numbers, within }]) =>
  Object.entries(numbers).map(([what, mine]) => {
    const { peer, numbers: other } = theirs[name]!;
    const off = distance(mine, other[what] ?? []);
    if (!(off <= within)) failed++;
    const limit = within === 0 ? 'equal' : `≤ ${within}`;
    return `| ${name}: ${what} | ${peer} | ${mine.length} | ${off === 0 ? 'equal' : off.toExponential(1)} | ${limit} |${off <= within ? '' : ' **differs**'}`;
  }),
);
stdout.write('| what | peer | numbers | largest difference | wanted |\n| --- | --- | ---: | --- | --- |\n');
stdout.write(`${rows.join('\n')}\n${failed === 0 ? 'all agree' : `${failed} differ`}\n`);
exit(failed === 0 ? 0 : 1);
