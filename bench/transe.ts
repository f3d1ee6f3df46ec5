/**
 * TransE beside its Python peers: training rate, quality within a budget of CPU seconds, ranking rate. One JSON line a
 * measurement. A positive is one training triple in one step, whatever its number of negatives.
 *
 *     node dist/bench/transe.js FOLDER [--task train|quality|rank] [--negatives 25] [--seconds 5] [--set loss=margin]
 *     node dist/bench/transe.js FOLDER --task epochs --threads 2 --set epochs=3 --set batchSize=256
 *
 * FOLDER holds train.txt, valid.txt and test.txt with `head TAB relation TAB tail`. `--seconds` counts CPU seconds for
 * quality and wall seconds for the others, after a warm-up. `epochs` trains all epochs of the settings, as `kgwalk pretrain`
 * does, and says the hash of what came out.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { basename, join } from 'node:path';
import { cpuUsage } from 'node:process';
import { parseArgs } from 'node:util';
import { knownAnswers } from '../src/embedding/known-answers.js';
import { evaluateLinks } from '../src/embedding/rank-links.js';
import type { TripleColumns } from '../src/kg/graph.js';
import { loadConfig } from '../src/run/config.js';
import { Rng } from '../src/run/seeds.js';
import { tailCorruptionChance } from '../trainers/transe/corruption.js';
import { transeSettings } from '../trainers/transe/settings.js';
import { createStep } from '../trainers/transe/train-step.js';
import { trainTransE } from '../trainers/transe/train-transe.js';
import { createTransE } from '../trainers/transe/transe-state.js';
import { createTripleSet } from '../trainers/transe/triple-set.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    task: { type: 'string', default: 'train' },
    negatives: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '0' },
    threads: { type: 'string', default: '1' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const folder = positionals[0];
if (folder === undefined) throw new Error('expected the folder of train.txt, valid.txt and test.txt');
const overrides = [`negatives=${values.negatives}`, ...values.set];
const settings = loadConfig(transeSettings, { overrides, source: '--set' });
const seed = Number(values.seed);
const seconds = Number(values.seconds);

const entityIds = new Map<string, number>();
const relationIds = new Map<string, number>();
const [train, valid, test] = ['train', 'valid', 'test'].map((part) => readPart(join(folder, `${part}.txt`))) as [
  TripleColumns,
  TripleColumns,
  TripleColumns,
];
const state = createTransE({ numEntities: entityIds.size, numRelations: relationIds.size, settings, seed });

if (values.task === 'rank') {
  // Random tables, as on the peers' side: almost no early exit. A trained table ranks faster.
  const rng = Rng.named(seed, 'bench/table');
  for (const table of [state.table.entities, state.table.relations]) table.forEach((_, i) => (table[i] = rng.normal()));
  reportRanking();
} else if (values.task === 'quality') {
  const { positives, clock } = trainFor((cpu) => cpu, 0);
  const metrics = evaluateLinks(state.table, subset(), knownAnswers([train, valid, test]));
  const quality = { ...metrics, epochs: Number((positives / train.heads.length).toFixed(1)) };
  emit('transe-quality', positives, 'positives/s', clock, { quality });
  reportRanking();
} else if (values.task === 'epochs') {
  const sizes = { numEntities: entityIds.size, numRelations: relationIds.size };
  const clock = startClock();
  const { table } = await trainTransE({ ...sizes, train, settings, seed, threads: Number(values.threads) });
  const spent = { cpu: clock.cpu(), wall: clock.wall() };
  const quality = evaluateLinks(table, subset(), knownAnswers([train, valid, test]));
  const sha256 = createHash('sha256').update(new Uint8Array(table.entities.buffer)).digest('hex').slice(0, 16);
  emit('transe-epochs', settings.epochs * train.heads.length, 'positives/s', spent, { quality, sha256 });
} else {
  const { positives, clock } = trainFor((_cpu, wall) => wall, 5 * 1024);
  emit('transe-train', positives, 'positives/s', clock);
}

/** Trains until `used(cpu, wall)` reaches the budget; the linear schedule falls with the budget. */
function trainFor(used: (cpu: number, wall: number) => number, warmUp: number) {
  const step = createStep({ state, settings, triples: train, known: createTripleSet(train) });
  const chance = tailCorruptionChance(train, relationIds.size);
  const order = Int32Array.from(train.heads, (_, i) => i);
  const rng = Rng.named(seed, 'bench/train');
  let learningRate = settings.learningRate;
  let next = order.length;
  const run = (count: number) => {
    for (let i = 0; i < count; i++) {
      if (next === order.length) {
        rng.shuffle(order);
        next = 0;
      }
      const index = order[next++]!;
      const tailChance = settings.bernoulli ? chance[train.relations[index]!]! : 0.5;
      step.train(index, rng.uniform() < tailChance, learningRate, rng);
    }
  };
  run(warmUp);
  const clock = startClock();
  let positives = 0;
  for (let spent = 0; spent < seconds; spent = used(clock.cpu(), clock.wall())) {
    if (settings.schedule === 'linear') learningRate = settings.learningRate * Math.max(0.01, 1 - spent / seconds);
    run(1024);
    positives += 1024;
  }
  return { positives, clock: { cpu: clock.cpu(), wall: clock.wall() } };
}

function reportRanking(): void {
  const filter = knownAnswers([train, valid, test]);
  const queries = subset();
  evaluateLinks(state.table, slice(queries, 0, 64), filter);
  const clock = startClock();
  let ranked = 0;
  for (let at = 0; clock.wall() < Math.min(seconds, 5); at = (at + 64) % (queries.heads.length - 64)) {
    ranked += evaluateLinks(state.table, slice(queries, at, at + 64), filter).n;
  }
  emit(
    'link-eval',
    ranked,
    'queries/s',
    { cpu: clock.cpu(), wall: clock.wall() },
    { trained: values.task === 'quality' },
  );
}

function emit(task: string, count: number, unit: string, clock: { cpu: number; wall: number }, more = {}): void {
  const line = {
    system: `kgwalk, node ${process.version}`,
    task,
    settings: { data: basename(folder!), ...settings },
    rate: Number((count / clock.wall).toPrecision(5)),
    unit,
    threads: Number(values.threads),
    seconds: Number(clock.wall.toFixed(2)),
    cpu_seconds: Number(clock.cpu.toFixed(2)),
    rate_per_cpu_second: Number((count / clock.cpu).toPrecision(5)),
    ...more,
    load1: Number(loadavg()[0]!.toFixed(2)),
  };
  console.log(JSON.stringify(line));
}

function startClock() {
  const wall = performance.now();
  const cpu = cpuUsage();
  const cpuSeconds = () => {
    const { user, system } = cpuUsage(cpu);
    return (user + system) / 1e6;
  };
  return { wall: () => (performance.now() - wall) / 1000, cpu: cpuSeconds };
}

function readPart(file: string): TripleColumns {
  const lines = readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean);
  const columns = [0, 1, 2].map(() => new Int32Array(lines.length)) as [Int32Array, Int32Array, Int32Array];
  const ids = [entityIds, relationIds, entityIds] as const;
  lines.forEach((line, i) => {
    line.split('\t').forEach((name, column) => {
      const known = ids[column]!;
      if (!known.has(name)) known.set(name, known.size);
      columns[column]![i] = known.get(name)!;
    });
  });
  return { heads: columns[0], relations: columns[1], tails: columns[2] };
}

/** The peers' test subset: lines 0, s, 2s, …, at most 2,000. */
function subset(): TripleColumns {
  const stride = Math.max(1, Math.floor(test.heads.length / 2000));
  const pick = (column: Int32Array) => column.filter((_, i) => i % stride === 0).slice(0, 2000);
  return { heads: pick(test.heads), relations: pick(test.relations), tails: pick(test.tails) };
}

function slice({ heads, relations, tails }: TripleColumns, from: number, to: number): TripleColumns {
  return { heads: heads.slice(from, to), relations: relations.slice(from, to), tails: tails.slice(from, to) };
}
