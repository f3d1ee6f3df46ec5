/**
 * Gradients of a batch of train queries. Parts of a batch are summed in a fixed order, so results do not depend on the number of threads.
 */
import { Graph, type SharedGraph, type TripleColumns } from '../../../src/kg/graph.js';
import { numTails, type RelationRows, relationRows, rowOf, triplesByRelation } from '../../../src/kg/relation-rows.js';
import { Rng } from '../../../src/run/seeds.js';
import { serveJobs } from '../../../src/run/worker-pool.js';
import type { MessageSettings } from '../settings.js';
import { MessageNetwork } from './message-network.js';
import { generatedGraph } from './generated-graphs.js';
import { type TrainedOn, viewsOf } from './views.js';

/** Parts of a batch, which bounds the useful number of threads. */
export const mostParts = 8;

/** Shared-memory inputs of all threads. */
export interface MessageWork {
  graph: SharedGraph;
  rows: RelationRows;
  queries: TripleColumns;
  settings: MessageSettings;
  hops: number;
  seed: number;
  /** True: hide every edge between the ends of a train query; false: only its own and its inverse. */
  pairs: boolean;
  /** float32 [all parameters] at the start of a step. */
  values: Float32Array;
  /** float32 [all parameters] per part: gradients, overwritten. */
  grads: readonly Float32Array[];
}

/** Job of a thread. */
export type BatchPart = { step: number; part: number };

/** Function with the scratch of one thread that writes the gradients of a part and returns its share of the batch loss. */
export function partGradients(work: MessageWork, network?: MessageNetwork): (asked: BatchPart) => number {
  const { settings, seed, grads: gradsOfParts } = work;
  const { batchSize } = settings;
  const whole = { graph: Graph.fromShared(work.graph), queries: work.queries, pairs: work.pairs };
  const sizes = { hops: work.hops, ...settings };
  const own = network ?? new MessageNetwork(whole.graph, sizes, seed);
  const { parameters } = own;
  const { values, grads } = parameters;
  const { views, generated: count = 0 } = settings.relations === 'graph' ? settings : { views: 0 };
  const added = (one: TrainedOn) =>
    queryLearner(one, relationRows(one.graph), new MessageNetwork(one.graph, sizes, parameters), settings);
  const given = [queryLearner(whole, work.rows, own, settings), ...viewsOf(whole, views, seed).map(added)];
  const generated = Array.from({ length: count }, (_, index) => added(generatedGraph(seed, index)));
  const none = work.queries.heads.length === 0;
  let known = -1;
  return ({ step, part }) => {
    if (network === undefined && known !== step) {
      values.set(work.values);
      parameters.version++;
    }
    known = step;
    grads.fill(0);
    const parts = gradsOfParts.length;
    const [begin, end] = [part, part + 1].map((at) => Math.floor((at * batchSize) / parts)) as [number, number];
    const turn = Rng.named(seed, 'messages/view', step * parts + part);
    const from = count > 0 && (turn.uniform() < 0.5 || none) ? generated : given;
    const learner = from[turn.integer(from.length)]!;
    let loss = 0;
    for (let i = begin; i < end; i++) {
      const rng = Rng.named(seed, 'messages/query', step * batchSize + i);
      loss += learner.learn(rng, i === begin);
    }
    learner.flush();
    gradsOfParts[part]!.set(grads);
    return loss;
  };
}

/** Draws queries of a graph and takes their gradients. */
function queryLearner(
  { graph, queries, pairs, known }: TrainedOn,
  rows: RelationRows,
  network: MessageNetwork,
  settings: MessageSettings,
) {
  const { batchSize } = settings;
  const candidatesOf = candidateDrawer(graph, known ? relationRows(known) : rows, settings);
  // The graph of relations is walked once for queries of one relation.
  const grouped = settings.relations === 'graph' ? triplesByRelation(queries, graph.numRelations) : undefined;
  let last = 0;
  return {
    /** @param first true at the start of a part: the others may keep its relation */
    learn(rng: Rng, first: boolean): number {
      const keeps = grouped && !first;
      const { heads, tails } = keeps ? grouped : queries;
      const [begin, end] = keeps ? [grouped.offsets[last]!, grouped.offsets[last + 1]!] : [0, heads.length];
      const index = begin + rng.integer(end - begin);
      const [head, tail] = [heads[index]!, tails[index]!];
      const relation = keeps ? last : queries.relations[index]!;
      last = relation;
      const inverse = graph.inverseOf[relation]!;
      const entities = candidatesOf(head, relation, tail, rng);
      const scores = new Float64Array(entities.length);
      const frequency = (entity: number) => numTails(rows, inverse, entity) - Number(!known && entity === tail);
      network.score(head, relation, { tail, relation, inverse, pairs }, entities, frequency, scores);
      const loss = softmaxLoss(scores, batchSize);
      network.back(entities, scores);
      return loss / batchSize;
    },
    flush: () => network.flush(),
  };
}

/** Cross-entropy of the first candidate. @param scores replaced by their gradients, averaged over the batch */
function softmaxLoss(scores: Float64Array, batchSize: number): number {
  const most = scores.reduce((all, one) => Math.max(all, one), -Infinity);
  const sum = scores.reduce((all, one) => all + Math.exp(one - most), 0);
  const loss = most + Math.log(sum) - scores[0]!;
  for (let i = 0; i < scores.length; i++) scores[i] = (Math.exp(scores[i]! - most) / sum - Number(i === 0)) / batchSize;
  return loss;
}

/** The answer, then distinct negatives; other known answers are excluded. */
function candidateDrawer(
  { numEntities, numEdges, tails, inverseOf }: Graph,
  rows: RelationRows,
  settings: MessageSettings,
) {
  const taken = new Uint8Array(numEntities);
  return (head: number, relation: number, tail: number, rng: Rng): Int32Array => {
    const row = rowOf(rows, relation, head);
    const known = row < 0 ? [] : rows.tails.subarray(rows.edges[row], rows.edges[row + 1]);
    for (const entity of known) taken[entity] = 1;
    taken[tail] = 1;
    const chosen = [tail];
    const add = (entity: number) => {
      if (taken[entity] === 1) return;
      taken[entity] = 1;
      chosen.push(entity);
    };
    const inverse = inverseOf[relation]!;
    const [begin, end] = [rows.begins[inverse]!, rows.begins[inverse + 1]!];
    for (let i = 0; i < settings.answers && end > begin; i++) add(rows.heads[begin + rng.integer(end - begin)]!);
    for (let i = 0; i < settings.ends; i++) add(tails[rng.integer(numEdges)]!);
    for (let i = 0; i < settings.others; i++) add(rng.integer(numEntities));
    for (const entity of chosen) taken[entity] = 0;
    for (const entity of known) taken[entity] = 0;
    return Int32Array.from(chosen);
  };
}

serveJobs(import.meta.url, (work: MessageWork) => Promise.resolve(partGradients(work)));
