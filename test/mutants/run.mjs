/**
 * `npm run test:mutants -- [GROUP…]`: how many mutants of the code that must not be wrong are noticed by the tests near it.
 * Prints each survivor and a table; those that change nothing stand, with the reason, in `equal.mjs`. Exits with 1 where a
 * score is below 90 %.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, cpuUsage, env, exit, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { equal } from './equal.mjs';
import { groups } from './groups.mjs';
import { mutantsOf } from './mutate.mjs';

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  options: {
    sample: { type: 'string', default: 'all' }, // mutants of a group, drawn by the seed
    seed: { type: 'string', default: '0' },
    file: { type: 'string' }, // only files whose path holds this
    log: { type: 'string' }, // a line of JSON a mutant is added here; those that are in it are not tried again
    seconds: { type: 'string', default: 'Infinity' }, // of the processor; what is not tried then is left out
    again: { type: 'boolean', default: false }, // but for those that survived
  },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !Object.hasOwn(groups, name));
if (unknown.length > 0) {
  stdout.write(`expected groups of ${Object.keys(groups).join(', ')}, got ${unknown.join(', ')}\n`);
  exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'kgwalk-mutants-'));
const drawnAt = ({ key, start }) => createHash('sha256').update(`${values.seed} ${key} ${start}`).digest('hex');

/** What became of mutants in calls before, by what they are of which source. */
const known = new Map();
if (values.log && existsSync(values.log)) {
  for (const line of readFileSync(values.log, 'utf8').split('\n').filter(Boolean)) {
    const entry = JSON.parse(line);
    known.set(entry.id, entry);
  }
}
const idOf = (source, { key, start }) =>
  createHash('sha256').update(`${source} ${key} ${start}`).digest('hex').slice(0, 16);

/** The process that runs tests, and the seconds of the processor that it took. */
let child;
let spent = 0;
/** Those of this call alone. */
let trying = 0;

async function start() {
  // Two gigabytes: a mutant that collects for ever ends soon.
  const execArgv = ['--experimental-vm-modules', '--no-warnings', '--max-old-space-size=2048'];
  const options = {
    execArgv,
    env: { ...env, KGWALK_MUTANT_TMP: folder },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  };
  child = fork(join(import.meta.dirname, 'worker.mjs'), options);
  await answer(600);
}

/** Processor seconds of the child so far; where the system does not tell, those on the clock. */
function secondsOf({ pid }) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return performance.now() / 1000;
  const fields = readFileSync(file, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** What the child says next; undefined where it dies or takes more seconds than the limit. */
function answer(limit) {
  const from = secondsOf(child);
  return new Promise((resolve) => {
    const settle = (message) => {
      clearInterval(watch);
      child.removeAllListeners();
      resolve(message);
    };
    const watch = setInterval(() => {
      if (child.exitCode === null && secondsOf(child) - from > limit) child.kill('SIGKILL');
    }, 500);
    child.once('message', settle);
    child.once('exit', () => settle(undefined));
  });
}

async function tried(mutant, tests, limit) {
  if (!child) await start();
  const from = secondsOf(child);
  child.send({ mutant, tests });
  const said = await answer(limit);
  const seconds = said ? secondsOf(child) - from : limit;
  spent += seconds;
  trying += seconds;
  // Node keeps the modules of every test file that a process has run.
  if (!said || said.rss > 1.5e9) {
    child.kill('SIGKILL');
    child = undefined;
  }
  return { outcome: !said ? 'time' : said.failed ? 'killed' : 'survived', by: said?.failed, seconds };
}

function tell({ file, line, key }) {
  stdout.write(`survived: ${file}:${line}: ${key.split(' | ').slice(1).join(' | ')}\n`);
}

const lines = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(groups)) {
  const files = groups[name].filter(([file]) => file.includes(values.file ?? ''));
  const testsOf = new Map(files);
  const all = files.flatMap(([file]) => {
    const source = readFileSync(file, 'utf8');
    return mutantsOf(file, source).map((mutant) => ({ ...mutant, id: idOf(source, mutant) }));
  });
  const different = all.filter(({ key }) => !Object.hasOwn(equal, key));
  const keys = new Set(all.map(({ key }) => key));
  const gone = Object.keys(equal).filter((key) => testsOf.has(key.split(' | ')[0]) && !keys.has(key));
  for (const key of gone) stdout.write(`no mutant any more, though equal.mjs names it: ${key}\n`);
  const most = values.sample === 'all' ? different.length : Number(values.sample);
  const drawn = different.sort((a, b) => (drawnAt(a) < drawnAt(b) ? -1 : 1)).slice(0, most);
  drawn.sort((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1));
  const counts = { killed: 0, time: 0, survived: 0 };
  const limits = new Map();
  const began = spent;
  let left = 0;
  for (const mutant of drawn) {
    const before = known.get(mutant.id);
    if (before && !(values.again && before.outcome === 'survived')) {
      counts[before.outcome]++;
      spent += before.seconds;
      if (before.outcome === 'survived') tell(mutant);
      continue;
    }
    if (trying > Number(values.seconds)) {
      left++;
      continue;
    }
    const tests = testsOf.get(mutant.file);
    if (!limits.has(mutant.file)) {
      const { outcome, by, seconds } = await tried(null, tests, 600);
      if (outcome !== 'survived') throw new Error(`expected tests that pass without a mutant, got ${by} failing`);
      limits.set(mutant.file, 10 + 3 * seconds);
    }
    const { outcome, by, seconds } = await tried(mutant, tests, limits.get(mutant.file));
    counts[outcome]++;
    if (outcome === 'survived') tell(mutant);
    if (values.log) appendFileSync(values.log, `${JSON.stringify({ group: name, outcome, by, seconds, ...mutant })}\n`);
  }
  const noticed = counts.killed + counts.time;
  const tries = drawn.length - left;
  const score = tries === 0 ? 1 : noticed / tries;
  lines.push({ name, score, text: `${name}: ${tries} of ${all.length} mutants, ${all.length - different.length} equal; ${counts.killed} killed by a test, ${counts.time} by time, ${counts.survived} survived: ${(100 * score).toFixed(1)} %; ${Math.round(spent - began)} s` }); // prettier-ignore
  stdout.write(`${lines.at(-1).text}\n`);
}
child?.kill('SIGKILL');
rmSync(folder, { recursive: true, force: true });
stdout.write(`${Math.round(spent + (cpuUsage().user + cpuUsage().system) / 1e6)} processor seconds\n`);
exit(lines.some(({ score }) => score < 0.9) ? 1 : 0);
