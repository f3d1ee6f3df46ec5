/**
 * Training of one query relation: mine its chains, compute end probabilities of train queries, fit the policy. Relations are independent.
 */
import { Graph, type SharedGraph, type TripleColumns } from '../../../src/kg/graph.js';
import {
  numTails,
  type RelationRows,
  relationRows,
  rowOf,
  triplesByRelation,
  type TriplesByRelation,
} from '../../../src/kg/relation-rows.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { Rng } from '../../../src/run/seeds.js';
import { serveJobs } from '../../../src/run/worker-pool.js';
import type { ChainSettings } from '../settings.js';
import { mostRelations } from './chain-counts.js';
import { ChainWalk, endMarks, type HiddenEdges, mostHops } from './chain-walk.js';
import { mineChains, type RelationQueries } from './mine-chains.js';
import { fitMixture, meanLoss, type MixtureTable } from './mixture.js';

/** Initial logit of the prior; chains start at their log confidence. */
const priorStart = -3;
const leastConfidence = 1e-4;
/** Weight of the degree, which orders answers that no chain reaches. */
const degreeShare = 1e-4;
/** Minimum prior mass of other answers, for relations with one dominant answer. */
const leastPriorMass = 0.01;

/** Shared-memory inputs of all relations. */
export interface ChainWork {
  graph: SharedGraph;
  rows: RelationRows;
  queries: TriplesByRelation;
  settings: ChainSettings;
  seed: number;
  hops: number;
  /** True: hide every edge between the ends of a train query; false: only its own. */
  pairs: boolean;
}

/** Result of one relation. */
export interface LearnedRelation {
  /** int32 [n, mostHops], sorted. */
  chains: Int32Array;
  /** float32 [n + 1]: logits of the chains, then of the prior. */
  theta: Float32Array;
  /** Train queries used, and their mean loss before and after. */
  queries: number;
  firstLoss: number;
  loss: number;
}

/** @param queries relations with inverses; any may have none */
export function chainWork(
  graph: Graph,
  queries: TripleColumns,
  facts: Pick<ChainWork, 'settings' | 'seed' | 'hops' | 'pairs'>,
): ChainWork {
  requireCountable(graph, facts.hops);
  const byRelation = triplesByRelation(queries, graph.numRelations);
  return { graph: graph.shared(), rows: relationRows(graph), queries: byRelation, ...facts };
}

/** @throws WorkbenchError `data` if the graph has too many relations for exact chain keys */
function requireCountable({ name, numRelations }: Graph, hops: number): void {
  const most = mostRelations(hops);
  if (numRelations <= most) return;
  throw new WorkbenchError(
    'data',
    `expected at most ${most} relations, inverses included, for chains of ${hops}, got ${numRelations} at graph ${name}`,
    { hint: 'Lower linkWalk.horizon.' },
  );
}

/** Count of each entity as an answer of a relation in train, plus a small multiple of its degree. */
export const priorOf = (
  { rows, degrees }: { rows: RelationRows; degrees: Int32Array },
  inverse: number,
  entity: number,
  own: 0 | 1,
): number => Math.max(0, numTails(rows, inverse, entity) - own) + degreeShare * Math.max(0, degrees[entity]! - own);

/** Number of triples of a relation. */
export function triplesOf({ begins, edges }: RelationRows, relation: number): number {
  return edges[begins[relation + 1]!]! - edges[begins[relation]!]!;
}

/** Out-degrees, int32 [numEntities]. */
export function degreesOf({ offsets }: Pick<Graph, 'offsets'>): Int32Array {
  return Int32Array.from({ length: offsets.length - 1 }, (_, entity) => offsets[entity + 1]! - offsets[entity]!);
}

/** Trainer with the scratch of one thread. @param pause awaited every few milliseconds; if it throws, the relation is aborted */
export function relationTrainer(
  work: ChainWork,
  pause: () => Promise<void> = async () => {},
): (relation: number) => Promise<LearnedRelation> {
  const { rows, queries, settings, seed, pairs, hops } = work;
  const graph = Graph.fromShared(work.graph);
  const walk = new ChainWalk(rows, graph.numEntities);
  const marks = new Int32Array(graph.numEntities).fill(endMarks.free);
  const degrees = degreesOf(graph);
  const markAll = (relation: number) => (head: number, tail: number, on: boolean) => {
    const row = rowOf(rows, relation, head);
    const mark = on ? endMarks.out : endMarks.free;
    if (row >= 0)
      for (let edge = rows.edges[row]!; edge < rows.edges[row + 1]!; edge++) marks[rows.tails[edge]!] = mark;
    marks[tail] = on ? endMarks.answer : mark;
    marks[head] = mark;
  };

  const tableOf = async (
    relation: number,
    inverse: number,
    chains: Int32Array,
    own: RelationQueries,
    indices: Int32Array,
  ) => {
    const columns = chains.length / mostHops + 1;
    const table: MixtureTable = {
      queries: indices.length,
      columns,
      answer: new Float32Array(indices.length * columns),
      free: new Float32Array(indices.length * columns),
    };
    const mark = markAll(relation);
    const out = new Float64Array(2);
    const triples = triplesOf(rows, relation);
    for (const [query, index] of indices.entries()) {
      const [head, tail] = [own.heads[index]!, own.tails[index]!];
      const base = query * columns;
      mark(head, tail, true);
      walk.begin(head, { tail, relation, inverse, pairs });
      walk.each(chains, (chain, length, last) => {
        walk.ends(length, last, marks, out);
        table.answer[base + chain] = out[0]!;
        table.free[base + chain] = out[1]!;
      });
      mark(head, tail, false);
      table.answer[base + columns - 1] = priorOf({ rows, degrees }, inverse, tail, 1) / triples;
      table.free[base + columns - 1] = Math.max(
        leastPriorMass,
        1 - knownShare(relation, inverse, head, tail) / triples,
      );
      await pause();
    }
    return table;
  };

  /** Triples of a relation whose answer is another known answer of the head. */
  const knownShare = (relation: number, inverse: number, head: number, tail: number) => {
    const row = rowOf(rows, relation, head);
    let share = 0;
    if (row < 0) return share;
    for (let edge = rows.edges[row]!; edge < rows.edges[row + 1]!; edge++) {
      if (rows.tails[edge] === tail) continue;
      const back = rowOf(rows, inverse, rows.tails[edge]!);
      share += rows.edges[back + 1]! - rows.edges[back]!;
    }
    return share;
  };

  return async (relation) => {
    const [begin, end] = [queries.offsets[relation]!, queries.offsets[relation + 1]!];
    const own = { heads: queries.heads.subarray(begin, end), tails: queries.tails.subarray(begin, end) };
    const inverse = graph.inverseOf[relation]!;
    const rngOf = (what: string) => Rng.named(seed, `chains/${what}`, relation);
    const hide = (tail: number): HiddenEdges => ({ tail, relation, inverse, pairs });
    const world = { graph, walk, marks, settings, hops };
    const { chains, confidence } = await mineChains(world, own, hide, markAll(relation), rngOf('mined'), pause);
    const order = rngOf('queries').shuffle(Int32Array.from({ length: end - begin }, (_, i) => i));
    const table = await tableOf(relation, inverse, chains, own, order.slice(0, settings.queries));
    const theta = Float64Array.from(
      [...confidence].map((value) => Math.log(value + leastConfidence)).concat(priorStart),
    );
    const firstLoss = meanLoss(table, theta);
    await fitMixture(table, theta, settings, rngOf('fit'), pause);
    const kept = Float32Array.from(theta);
    return { chains, theta: kept, queries: table.queries, firstLoss, loss: meanLoss(table, Float64Array.from(kept)) };
  };
}

serveJobs(import.meta.url, (work: ChainWork) => Promise.resolve(relationTrainer(work)));
