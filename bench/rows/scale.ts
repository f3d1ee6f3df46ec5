/**
 * Graphs of any size: building from a file of triples, loading what was stored, and walking. One JSON line a task; each
 * task is a separate process, so that its peak of memory is its own.
 *
 *     node dist/bench/rows/scale.js --triples 1e6 [--seconds 2] [--seed 0] [--folder FOLDER]
 *
 * The triples are generated (bench/generated-triples.ts), inverses are added. Needs some 60 bytes of disk a triple in
 * FOLDER (default: a temporary one, removed afterwards).
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, execPath, exit, resourceUsage } from 'node:process';
import { parseArgs } from 'node:util';
import { applyAction, initialState, numActions, type WalkRules } from '../../envs/dialogue-walk/rules.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { initialFrontier, stepFrontier } from '../../src/kg/frontier.js';
import { readGraphFile, writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { generatedSizes, writeGeneratedTriples } from '../generated-triples.js';
import { emitRate, startClock } from '../measure.js';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    triples: { type: 'string', default: '1e6' },
    seconds: { type: 'string', default: '2' },
    seed: { type: 'string', default: '0' },
    threads: { type: 'string', default: '1' },
    folder: { type: 'string' },
    task: { type: 'string' },
  },
});
const sizes = generatedSizes(Number(values.triples));
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];

if (values.task === undefined) runTasks();
else await runTask(values.task, values.folder!);

function runTasks(): void {
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'kgwalk-bench-'));
  mkdirSync(folder, { recursive: true });
  try {
    writeGeneratedTriples(join(folder, 'triples.tsv'), sizes, seed);
    for (const task of ['graph-build', 'graph-load', 'walk-step', 'frontier-step']) {
      const args = [...argv.slice(1), '--task', task, '--folder', folder];
      const { status } = spawnSync(execPath, args, { stdio: 'inherit' });
      if (status !== 0) exit(status ?? 1);
    }
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function runTask(task: string, folder: string): Promise<void> {
  const stored = join(folder, 'graph.bin');
  if (task === 'graph-build') {
    const file = join(folder, 'triples.tsv');
    const clock = startClock();
    const builder = new GraphBuilder();
    await builder.addFile(file, {});
    const read = clock.cpu();
    const graph = builder.build('generated', { addInverses: true });
    const spent = { wall: clock.wall(), cpu: clock.cpu() };
    const peak = { read_cpu_s: read, file_bytes: statSync(file).size, peak_rss_mb: peakRss() };
    emitRate({
      task,
      settings: { ...sizes },
      count: sizes.triples,
      unit: 'triples/s',
      spent,
      quality: { ...memoryOf(graph), ...peak },
    });
    writeGraphFile(stored, graph);
    return;
  }
  const clock = startClock();
  const graph = await readGraphFile(stored);
  const spent = { wall: clock.wall(), cpu: clock.cpu() };
  if (task === 'graph-load') {
    const quality = { ...memoryOf(graph), file_bytes: statSync(stored).size, peak_rss_mb: peakRss() };
    emitRate({ task, settings: { ...sizes }, count: sizes.triples, unit: 'triples/s', spent, quality });
  } else if (task === 'walk-step') measure(task, 'steps/s', graph, walker(graph));
  else measure(task, 'frontiers/s', graph, frontierWalker(graph));
}

/** Bytes of the graph by part, and what numbering tails and relations alone would need: log2 of how many there are, an edge. */
function memoryOf(graph: Graph) {
  const { offsets, relations, tails, numEdges, numEntities, numRelations } = graph;
  const { bytes, ends } = graph.shared().entities;
  const edgeBytes = relations.byteLength + tails.byteLength + offsets.byteLength;
  const nameBytes = bytes.byteLength + ends.byteLength;
  let largest = 0;
  for (let entity = 0; entity < numEntities; entity++) largest = Math.max(largest, graph.degree(entity));
  return {
    entities: numEntities,
    edges: numEdges,
    largest_hub: largest,
    bytes_per_triple: rounded((edgeBytes + nameBytes) / sizes.triples),
    edge_bits: rounded((8 * edgeBytes) / numEdges),
    limit_edge_bits: rounded(Math.log2(numEntities) + Math.log2(numRelations)),
    name_bytes_per_entity: rounded(nameBytes / numEntities),
  };
}

/** One step of a random policy: the legal actions, a draw, the next state; a new start where a walk ended. */
function walker(graph: Graph): () => number {
  const rng = Rng.named(seed, 'bench/walks');
  const rules: WalkRules = { horizon: 4, equalAtStep1: false };
  let state = initialState(graph, 0, rules);
  return () => {
    if (state.done) state = initialState(graph, rng.integer(graph.numEntities), rules);
    else state = applyAction(graph, state, rng.integer(numActions(graph, state, rules)), rules);
    return 1;
  };
}

/** A whole frontier's step: all tails of a relation drawn by an edge of a random entity, then of another from there. */
function frontierWalker(graph: Graph): () => number {
  const rng = Rng.named(seed, 'bench/frontiers');
  let frontier = initialFrontier([0]);
  let hop = 2;
  return () => {
    if (hop === 2 || frontier.entities.length === 0)
      [frontier, hop] = [initialFrontier([rng.integer(graph.numEntities)]), 0];
    const from = frontier.entities[rng.integer(frontier.entities.length)]!;
    if (graph.degree(from) > 0) {
      const relation = graph.relations[graph.offsets[from]! + rng.integer(graph.degree(from))]!;
      frontier = stepFrontier(graph, frontier, relation, []);
    }
    hop++;
    return 1;
  };
}

/** The rate of steps without a clock between them, then the times of single ones, the clock's own 0.05 to 0.1 µs in them. */
function measure(task: string, unit: string, graph: Graph, step: () => number): void {
  for (let i = 0; i < 20_000; i++) step();
  const clock = startClock();
  let count = 0;
  do for (let i = 0; i < 1000; i++) count += step();
  while (clock.wall() < seconds);
  const spent = { wall: clock.wall(), cpu: clock.cpu() };
  const times = new Float64Array(200_000);
  for (let i = 0; i < times.length; i++) {
    const before = performance.now();
    step();
    times[i] = 1000 * (performance.now() - before);
  }
  times.sort();
  const at = (share: number) => rounded(times[Math.floor(share * times.length)]!);
  const quality = { p50_us: at(0.5), p99_us: at(0.99), edges: graph.numEdges, peak_rss_mb: peakRss() };
  emitRate({ task, settings: { ...sizes }, count, unit, spent, quality });
}

function peakRss(): number {
  return Math.round(resourceUsage().maxRSS / 1024);
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
