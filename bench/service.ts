/**
 * Whether kgwalk serves for long: many requests to the library's `ask`, to evaluations in a loop, and to `kgwalk serve`, and what the
 * process holds meanwhile. A line a window of requests, and of the lines a table and two pictures.
 *
 *     node --expose-gc dist/bench/service.js --run RUN [--requests 100000] [--windows 50] [--only ask,evaluate,serve] --lines LINES.jsonl
 *     node dist/bench/service.js --lines LINES.jsonl --table [--pictures DIR]
 *
 * RUN is one on questions; asked are those of its valid split, over and over.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execPath, kill, pid as ownPid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadQuestionRun } from '../agents/question-agents.js';
import { loadQuestionDataset } from '../datasets/questions/question-dataset.js';
import { loadPreset } from '../presets/index.js';
import { pngOf } from '../reports/pictures.js';
import { palette } from '../reports/plots/colors.js';
import { silentProgress } from '../src/run/progress.js';
import { openRun } from '../src/run/run-folder.js';
import { evaluateNamed } from '../tasks/evaluate.js';
import { usualFlags } from '../tasks/flags.js';
import { loadTask } from '../tasks/index.js';

const { values } = parseArgs({
  options: {
    run: { type: 'string', default: '' },
    requests: { type: 'string', default: '100000' },
    windows: { type: 'string', default: '50' },
    only: { type: 'string', default: 'ask,evaluate,serve' },
    lines: { type: 'string', default: 'service.jsonl' },
    table: { type: 'boolean', default: false },
    pictures: { type: 'string' },
  },
});

/** Names of the three kinds of service. */
const kinds = ['ask', 'evaluate', 'serve'] as const;
type Kind = (typeof kinds)[number];

interface Window {
  kind: Kind;
  /** Requests so far. */
  requests: number;
  /** MiB of the process, resident. */
  rss: number;
  /** Open files and sockets of the process. */
  files: number;
  /** Milliseconds of a request in the window, by the clock. */
  median: number;
  /** Milliseconds of the processor a request, all threads of the process together: what else the machine does is not in it. */
  cpu: number;
}

/** One request after the other. @param ask answers one, and says how many samples that were */
async function measure(kind: Kind, pid: number, ask: (i: number) => Promise<number>): Promise<void> {
  const [requests, windows] = [Number(values.requests), Number(values.windows)];
  let done = 0;
  for (let window = 1, i = 0; window <= windows; window++) {
    const times: number[] = [];
    const [before, spent] = [done, cpuOf(pid)];
    while (done < (requests * window) / windows) {
      const begun = performance.now();
      const count = await ask(i++);
      times.push((performance.now() - begun) / count);
      done += count;
    }
    // What is garbage already is not held: without this, heaps saw up and down.
    if (pid === ownPid) globalThis.gc?.();
    else await collected(pid);
    const median = Number(times.sort((a, b) => a - b)[times.length >> 1]!.toFixed(3));
    const cpu = Number(((cpuOf(pid) - spent) / (done - before)).toFixed(3));
    const line: Window = { kind, requests: done, ...held(pid), median, cpu };
    appendFileSync(values.lines, `${JSON.stringify(line)}\n`);
  }
}

/** Has the server collect its garbage, which `collecting` does at a signal. */
async function collected(pid: number): Promise<void> {
  kill(pid, 'SIGUSR2');
  await setTimeout(200);
}

const collecting = 'data:text/javascript,process.on("SIGUSR2", () => globalThis.gc())';

/** Memory of a process, on Linux. */
function held(pid: number): Pick<Window, 'rss' | 'files'> {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return { rss: Math.round((10 * Number(kib)) / 1024) / 10, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** Milliseconds that a process has computed so far; the kernel counts hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** The questions of valid with their topics in brackets, as a user would write them. */
async function questionsOf(folder: string): Promise<string[]> {
  const dataset = loadQuestionDataset((openRun(folder).config.data as { dataset: string }).dataset);
  const samples = dataset.questions(await dataset.loadGraph(), { split: 'valid' });
  return samples.flatMap(({ task: { question, topics } }) => {
    const [topic] = topics;
    return topic && question.includes(topic.name) ? [question.replace(topic.name, `[${topic.name}]`)] : [];
  });
}

async function askLibrary(folder: string, questions: readonly string[]): Promise<void> {
  const walker = await loadQuestionRun(folder);
  await measure('ask', ownPid, async (i) => {
    await walker.ask(questions[i % questions.length]!);
    return 1;
  });
  await walker.close();
}

async function evaluateInLoop(folder: string): Promise<void> {
  const task = await loadTask('questions');
  const work = {
    progress: silentProgress,
    note() {},
    onTruncatedLog() {},
    preset: async (name: string) => loadPreset(name),
  };
  const evaluations = mkdtempSync(join(tmpdir(), 'kgwalk-service-'));
  await measure('evaluate', ownPid, async () => {
    const flags = { ...usualFlags, split: 'valid', evaluations };
    const [one] = await evaluateNamed(task, [{ name: folder, isRun: true }], flags, work);
    return one!.record.n;
  });
  rmSync(evaluations, { recursive: true });
}

async function askServer(folder: string, questions: readonly string[]): Promise<void> {
  const main = resolve(import.meta.dirname, '../cli/main.js');
  const words = ['--expose-gc', '--import', collecting, main, 'serve', folder, '--port', '0', '--json'];
  const server = spawn(execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const text of server.stdout) if ((said += String(text)).includes('}')) break;
  const { url } = JSON.parse(said) as { url: string };
  const { runs } = (await (await fetch(`${url}api/list`)).json()) as { runs: { key: string }[] };
  await measure('serve', server.pid!, async (i) => {
    const body = JSON.stringify({ run: runs[0]!.key, question: questions[i % questions.length] });
    const answer = await fetch(`${url}ask`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    await answer.json();
    return 1;
  });
  const ended = once(server, 'close');
  server.kill('SIGTERM');
  await ended;
}

const linesOf = (): Window[] =>
  readFileSync(values.lines, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Window);

async function draw(folder: string): Promise<void> {
  const all = linesOf();
  const plot = (title: string, unit: string, of: (window: Window) => number) => ({
    ...{ kind: 'lines' as const, title, unit, axes: ['requests'], fromZero: true },
    lines: kinds.map((kind, i) => {
      const own = all.filter((line) => line.kind === kind);
      return { label: kind, color: palette[i]!, x: [own.map(({ requests }) => requests)], seeds: [own.map(of)] };
    }),
  });
  writeFileSync(join(folder, 'service-memory.png'), await pngOf(plot('Resident memory', 'MiB', ({ rss }) => rss)));
  writeFileSync(
    join(folder, 'service-time.png'),
    await pngOf(plot('Processor time a request', 'ms', ({ cpu }) => cpu)),
  );
}

function printTable(): void {
  const head = ['service', 'requests', 'memory, MiB', 'open files', 'median, ms', 'processor, ms'];
  const rows = kinds.flatMap((kind) => {
    const own = linesOf().filter((line) => line.kind === kind);
    if (own.length === 0) return [];
    // The first windows fill caches and compile.
    const [first, last] = [own[Math.floor(own.length / 10)]!, own.at(-1)!];
    const change = (key: 'rss' | 'files' | 'median' | 'cpu') => `${first[key]} → ${last[key]}`;
    return [[kind, String(last.requests), change('rss'), change('files'), change('median'), change('cpu')]];
  });
  console.log([head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n'));
}

if (values.table) {
  printTable();
  if (values.pictures !== undefined) await draw(values.pictures);
} else {
  const folder = resolve(values.run);
  const questions = await questionsOf(folder);
  const chosen = values.only.split(',');
  if (chosen.includes('ask')) await askLibrary(folder, questions);
  if (chosen.includes('evaluate')) await evaluateInLoop(folder);
  if (chosen.includes('serve')) await askServer(folder, questions);
}
