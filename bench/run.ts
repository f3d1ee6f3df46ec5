/**
 * `npm run bench`: every measured row of kgwalk and its Python peer, in turns on the same machine, as JSON and a table.
 *
 *     npm run bench -- [--data DIR] [--model GGUF] [--python PY] [--llama-python PY] [--openke DIR]
 *                      [--only rank-l1,torch-rank-l1] [--rounds 3] [--seconds 4] [--long] [--out DIR]
 *
 * A program whose place was not given is left out, with a line that says so. `--long` runs the programs of minutes, once
 * each, instead of the short ones. Lines are added to OUT/lines.jsonl as they come and the table is of all that is there, so
 * that a bench can be resumed: give another OUT for another machine or another build.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { argv, execPath, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { placesOf, programs, runProgram, type Program } from './programs.js';
import { markdown, others, tableOf, type Line } from './table.js';

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    data: { type: 'string' },
    model: { type: 'string' },
    python: { type: 'string' },
    'llama-python': { type: 'string' },
    openke: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    long: { type: 'boolean', default: false },
    out: { type: 'string', default: 'bench-results' },
  },
});

const places: Record<string, string | undefined> = {
  ...values,
  long: undefined,
  node: execPath,
  rows: fileURLToPath(new URL('rows', import.meta.url)),
  // The peers are not compiled: they lie next to the sources, from dist/bench as from bench.
  peers: fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../bench/peers' : 'peers', import.meta.url)),
};
const out = values.out;
const file = join(out, 'lines.jsonl');
mkdirSync(out, { recursive: true });

const chosen = choose();
const rounds = values.long ? 1 : Number(values.rounds);
for (let i = 0, first = nextRound(); i < rounds; i++) {
  for (const program of chosen) run(program, first + i);
}
const lines = readLines();
const rows = tableOf(lines);
const { model = 'unknown' } = cpus()[0] ?? {};
const machine = { cpu: model, cores: availableParallelism(), gib: Math.round(totalmem() / 2 ** 30), kernel: release() };
writeFileSync(join(out, 'bench.json'), `${JSON.stringify({ machine, node: process.version, rows, lines }, null, 1)}\n`);
const table = `${markdown(rows)}\n\n${others(lines)}`;
writeFileSync(join(out, 'table.md'), `${table}\n`);
stdout.write(`${table}\n`);

/** Selected programs that can run here. */
function choose(): Program[] {
  const only = values.only?.split(',');
  const unknown = only?.find((name) => !programs.some((program) => program.name === name));
  if (unknown) throw new Error(`expected --only with ${programs.map(({ name }) => name).join(', ')}, got ${unknown}`);
  const asked = programs.filter(({ name, long = false }) => (only ? only.includes(name) : long === values.long));
  return asked.filter((program) => {
    const missing = placesOf(program).filter((place) => places[place] === undefined);
    if (missing.length > 0) stderr.write(`${program.name}: left out, no --${missing.join(', --')}\n`);
    return missing.length === 0;
  });
}

/** Runs one program to its end and keeps its lines; a program that fails is reported and costs only its row. */
function run(program: Program, round: number): void {
  const { name, long } = program;
  // One thread against one thread; the peers set theirs by themselves.
  const env = { TF_NUM_INTRAOP_THREADS: '1', TF_NUM_INTEROP_THREADS: '1' };
  const { lines, seconds, failure } = runProgram(program, places, { seconds: long ? 3600 : 600, env });
  const exit = failure === undefined ? '' : `, exit ${failure.exit}`;
  stderr.write(`${name}, round ${round}: ${lines.length} lines, ${Math.round(seconds)} s${exit}\n`);
  if (failure !== undefined) stderr.write(`${failure.said.slice(-1000)}\n`);
  for (const line of lines) appendFileSync(file, `${JSON.stringify({ program: name, round, ...line })}\n`);
}

function readLines(): Line[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

function nextRound(): number {
  return Math.max(0, ...readLines().map(({ round }) => round)) + 1;
}
