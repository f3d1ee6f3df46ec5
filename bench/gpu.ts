/**
 * `npm run bench:gpu`: everything that a graphics card could compute, compared with the processor of the same machine, in one run with one
 * table at the end: PPO's update and whole rounds of PPO at three sizes of network, LLM-ARK's, texts through a language model, and the size of
 * product from which on the card is ahead, which is what `--backend auto` goes by.
 *
 *     npm run bench:gpu -- [--data DIR] [--model GGUF] [--python PY] [--only update,training,llm-ark,encoding,crossing]
 *       [--sizes small,middle,large] [--computers webgpu,simd] [--widths 64,256] [--batches 64,1024] [--seconds 2] [--most 120]
 *       [--out bench-gpu]
 *
 * DIR holds `umls` (train.txt, valid.txt and test.txt), PY is a Python with torch. Without GGUF a model with random weights is written
 * for the time of the run. A program that takes longer than `--most` seconds is ended. What cannot run here says why in the table. OUT gets gpu.json and gpu.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { argv, execPath, stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { computers, type GpuProgram, gpuPrograms, sizes, tasks } from './gpu-programs.js';
import { type GpuResult, gpuTables } from './gpu-table.js';
import { placesOf, runProgram } from './programs.js';
import { writeRandomModel } from './random-model.js';

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    data: { type: 'string' },
    model: { type: 'string' },
    python: { type: 'string' },
    only: { type: 'string', default: tasks.join() },
    sizes: { type: 'string', default: sizes.join() },
    computers: { type: 'string', default: computers.join() },
    widths: { type: 'string', default: '64,256,1024,2048' },
    batches: { type: 'string', default: '64,256,1024' },
    seconds: { type: 'string', default: '2' },
    most: { type: 'string', default: '120' },
    out: { type: 'string', default: 'bench-gpu' },
  },
});
const chosen = {
  only: listed('only', values.only, tasks),
  sizes: listed('sizes', values.sizes, sizes),
  computers: listed('computers', values.computers, computers),
};
const seconds = positive('seconds', values.seconds);
const most = positive('most', values.most);
for (const name of ['widths', 'batches'] as const) for (const word of values[name].split(',')) positive(name, word);

const programs = gpuPrograms.filter(
  ({ task, size, computer }) =>
    chosen.only.includes(task) &&
    chosen.computers.includes(computer) &&
    (size === undefined || chosen.sizes.includes(size)),
);
mkdirSync(values.out, { recursive: true });
const scratch = mkdtempSync(join(tmpdir(), 'kgwalk-gpu-'));
try {
  const model = values.model ?? join(scratch, 'random-135m.gguf');
  if (values.model === undefined && programs.some(({ task }) => task === 'encoding')) writeRandomModel(model);
  const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const places: Record<string, string | undefined> = {
    ...{ node: execPath, bench: folder('.'), rows: folder('rows'), model, data: values.data, python: values.python },
    peers: folder(import.meta.url.includes('/dist/') ? '../../bench/peers' : 'peers'),
    ...{ widths: values.widths, batches: values.batches },
    ...{ seconds: String(seconds), short: String(seconds / 10), long: String(4 * seconds) },
  };
  const { model: cpu = 'unknown' } = cpus()[0] ?? {};
  const machine = {
    ...{ card: card(), cpu, cores: availableParallelism(), gib: Math.round(totalmem() / 2 ** 30) },
    ...{ kernel: release(), node: process.version },
  };
  const results: GpuResult[] = [];
  for (const program of programs) {
    results.push(measured(program, places));
    // After each, so that a bench that is ended leaves what it had.
    const text = `${machineLine(machine)}\n\n${gpuTables(results)}\n`;
    writeFileSync(join(values.out, 'gpu.json'), `${JSON.stringify({ machine, results }, null, 1)}\n`);
    writeFileSync(join(values.out, 'gpu.md'), text);
    if (program === programs.at(-1)) stdout.write(text);
  }
} finally {
  rmSync(scratch, { recursive: true });
}

/** Runs a program, or says what it lacks. */
function measured(program: GpuProgram, places: Record<string, string | undefined>): GpuResult {
  const { task, size, computer } = program;
  const missing = placesOf(program).filter((place) => places[place] === undefined);
  if (missing.length > 0)
    return { task, ...(size && { size }), computer, lines: [], reason: `no --${missing.join(', --')}` };
  const { lines, seconds: spent, failure } = runProgram(program, places, { seconds: most });
  const reason = failure && reasonIn(failure.said);
  stderr.write(`${task} ${size ?? ''} on ${computer}: ${reason ?? `${lines.length} lines`}, ${Math.round(spent)} s\n`);
  return { task, ...(size && { size }), computer, lines, ...(reason !== undefined && { reason }) };
}

/** The error that ended a program, without where it was thrown. */
function reasonIn(said: string): string {
  const lines = said.split('\n');
  const error =
    lines.findLast((line) => /^(\w*Error|Error)\b.*: /.test(line)) ?? lines.findLast((line) => line.trim() !== '');
  return (error ?? 'it said nothing')
    .replace(/^\w*Error( \[\w+\])?: (expected a working tensor backend, got none: )?/, '')
    .slice(0, 200);
}

/** Name by the driver, if NVIDIA's program is installed. */
function card(): string {
  const asked = ['--query-gpu=name,driver_version,memory.total', '--format=csv,noheader'];
  const { stdout: said, status } = spawnSync('nvidia-smi', asked, { encoding: 'utf8' });
  return status === 0 ? said.trim().replaceAll('\n', '; ') : 'none that nvidia-smi shows';
}

function machineLine(of: Record<string, string | number>): string {
  return `Card: ${of.card}. Processor: ${of.cpu}, ${of.cores} cores, ${of.gib} GiB; Linux ${of.kernel}, Node ${of.node}.`;
}

function listed<Name extends string>(option: string, words: string, known: readonly Name[]): Name[] {
  return words.split(',').map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new TypeError(`expected --${option} with some of ${known.join(', ')}, got ${word}`);
    return name;
  });
}

function positive(option: string, word: string): number {
  const number = Number(word);
  if (number > 0) return number;
  throw new TypeError(`expected --${option} with numbers above 0, got ${word}`);
}
