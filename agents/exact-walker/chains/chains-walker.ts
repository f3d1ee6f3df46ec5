/**
 * Chain mixture: for each query relation a policy over relation chains, plus a prior over the relation's known answers. S(e) = Σ_p π_p
 * f_p(e) is the probability that a walk ends on e, and its score; π_p f_p(e) / S(e) is the share of a chain. There are no entity vectors.
 * Relations are trained independently: one per training step.
 */
import type { Graph } from '../../../src/kg/graph.js';
import { relationRows } from '../../../src/kg/relation-rows.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { eventLoopYielder } from '../../../src/run/stop.js';
import { startWorkers } from '../../../src/run/worker-pool.js';
import type { StoredTensors } from '../../../src/nn/parameters.js';
import { type LinkRanker, type Reason, scorerRanker } from '../../link-ranker.js';
import type { HeadAndRelation } from '../../path-walker/beam.js';
import type {
  ExactTrainerOptions,
  ExactFacts,
  ExactTrainer,
  ExactWalker,
  ExactWalkerKind,
  WalkFinder,
} from '../exact-walker.js';
import { ChainWalk, endMarks, mostHops, noRelation, nothingHidden } from './chain-walk.js';
import {
  type ChainWork,
  chainWork,
  degreesOf,
  type LearnedRelation,
  priorOf,
  relationTrainer,
  triplesOf,
} from './learn-relation.js';
import { mixtureOf } from './mixture.js';

type ChainPolicy = Pick<LearnedRelation, 'chains' | 'theta'>;

/** Unlearned relations have only the prior. */
const unlearned: ChainPolicy = { chains: new Int32Array(0), theta: Float32Array.of(0) };

/** The kind `chains`. */
export const chainWalker: ExactWalkerKind = {
  title: 'chains',
  mostHops,
  readsNames: () => false,
  suitsOthers: () => false,
  create: (facts) => createChainWalker(facts),
  plan: ({ graph, settings: { chains } }) =>
    `${graph.numRelations} relations, ${chains.chains} chains and ${chains.queries} train queries of each at most`,
};

function createChainWalker({ graph, settings, hops, seed }: ExactFacts): ExactWalker {
  const order = mostTriplesFirst(graph);
  let learned = new Map<number, ChainPolicy>();
  return {
    ranker: (name) => chainRanker(name, graph, (relation) => learned.get(relation) ?? unlearned),
    walks: (pairs) => posteriorWalks(graph, pairs, (relation) => learned.get(relation) ?? unlearned),
    trainer({ queries, pairs, threads, signal }) {
      const work = chainWork(graph, queries, { settings: settings.chains, seed, hops, pairs });
      return chainTrainer(work, order, { threads, signal }, (relation, own) => learned.set(relation, own));
    },
    state() {
      const relations = [...learned.keys()].sort((a, b) => a - b);
      const parts = relations.map((relation) => learned.get(relation)!);
      const counts = new Int32Array(graph.numRelations).fill(-1);
      relations.forEach((relation, i) => (counts[relation] = parts[i]!.chains.length / mostHops));
      const [rows, logits] = [parts.map((part) => part.chains), parts.map((part) => part.theta)];
      const [chains, theta] = [joined(rows, Int32Array), joined(logits, Float32Array)];
      return Promise.resolve({
        steps: relations.length,
        tensors: {
          'chains.counts': { shape: [counts.length], data: counts },
          'chains.relations': { shape: [chains.length / mostHops, hops], data: widened(chains, mostHops, hops) },
          'chains.theta': { shape: [theta.length], data: theta },
        },
      });
    },
    restore: (tensors) => (learned = restored(tensors, graph)),
  };
}

/** Ranker of weights that `state` gave. @throws WorkbenchError `data` for those of another graph */
export function restoredRanker(name: string, graph: Graph, tensors: StoredTensors): LinkRanker {
  const learned = restored(tensors, graph);
  return chainRanker(name, graph, (relation) => learned.get(relation) ?? unlearned);
}

function joined<T extends Int32Array | Float32Array>(parts: readonly T[], type: new (length: number) => T): T {
  const all = new type(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Pads or truncates rows to another width. */
function widened(rows: Int32Array, from: number, to: number): Int32Array {
  const out = new Int32Array((rows.length / from) * to).fill(noRelation);
  for (let row = 0; row * from < rows.length; row++) {
    out.set(rows.subarray(row * from, row * from + Math.min(from, to)), row * to);
  }
  return out;
}

/** Learned relations by id, from the tensors of `state`. */
function restored(tensors: StoredTensors, { numRelations }: Graph) {
  const column = <T>(name: string, type: new (length: number) => T): T => {
    const data = tensors[name]?.data;
    if (data instanceof type) return data;
    throw unfit(`${type.name} at ${name}`, data ? data.constructor.name : 'none');
  };
  const counts = column('chains.counts', Int32Array);
  const kept = column('chains.relations', Int32Array);
  const hops = tensors['chains.relations']!.shape[1]!;
  const chains = widened(kept, hops, mostHops);
  const theta = column('chains.theta', Float32Array);
  const learned = [...counts.keys()].filter((relation) => counts[relation]! >= 0);
  const total = learned.reduce((sum, relation) => sum + counts[relation]!, 0);
  const fits = counts.length === numRelations && kept.length === total * hops && hops <= mostHops;
  if (!fits || theta.length !== total + learned.length) {
    throw unfit(
      `chains of ${numRelations} relations`,
      `${counts.length} relations, ${kept.length / hops} chains and ${theta.length} weights`,
    );
  }
  if (!chains.every((relation) => relation >= noRelation && relation < numRelations)) {
    throw unfit(`relations below ${numRelations} in chains`, 'others');
  }
  let at = 0;
  return new Map(
    learned.map((relation, i) => {
      const end = at + counts[relation]!;
      const own = { chains: chains.slice(at * mostHops, end * mostHops), theta: theta.slice(at + i, end + i + 1) };
      at = end;
      return [relation, own] as const;
    }),
  );
}

const unfit = (expected: string, got: string) =>
  new WorkbenchError('data', `expected ${expected}, got ${got}, in the weights of a chain walker`, {
    hint: 'Train it again.',
  });

/** Largest relations first: curves show early what most queries get, and no thread ends with a large one. */
function mostTriplesFirst(graph: Graph): Int32Array {
  const counts = new Int32Array(graph.numRelations);
  for (const relation of graph.relations) counts[relation]!++;
  return Int32Array.from(counts.keys()).sort((a, b) => counts[b]! - counts[a]! || a - b);
}

const ahead = 2;

function chainTrainer(
  work: ChainWork,
  order: Int32Array,
  { threads, signal }: Pick<ExactTrainerOptions, 'threads' | 'signal'>,
  keep: (relation: number, learned: LearnedRelation) => void,
): ExactTrainer {
  const pool =
    threads === 1
      ? undefined
      : startWorkers<number, LearnedRelation>({
          work: 'learning chains',
          module: new URL('./learn-relation.js', import.meta.url),
          threads,
          data: work,
          memoryHint: 'Lower --threads or exactWalker.chains.queries.',
          signal,
        });
  const alone = pool ? undefined : relationTrainer(work, eventLoopYielder(signal));
  const asked = new Map<number, Promise<LearnedRelation>>();
  const learn = (at: number) => {
    if (!pool) return alone!(order[at]!);
    for (let next = at; next < Math.min(at + ahead * threads, order.length); next++) {
      if (!asked.has(next)) asked.set(next, pool.run(order[next]!));
    }
    const own = asked.get(at)!;
    asked.delete(at);
    return own;
  };
  return {
    steps: order.length,
    unit: 'relations',
    async step(at) {
      const learned = await learn(at);
      keep(order[at]!, learned);
      const { chains, queries, firstLoss, loss } = learned;
      const counts = { 'train/chains': chains.length / mostHops, 'train/queries': queries };
      return { loss, figures: { 'train/first_loss': firstLoss, ...counts } };
    },
    close: async () => pool?.close(),
  };
}

/** Walks by posterior: a chain by π f(answer), then each hop by its share of that probability. */
function posteriorWalks(graph: Graph, pairs: boolean, learnedOf: (relation: number) => ChainPolicy): WalkFinder {
  const { numEntities, inverseOf } = graph;
  const walk = new ChainWalk(relationRows(graph), numEntities);
  const marks = new Int32Array(numEntities).fill(endMarks.free);
  const out = new Float64Array(2);
  return ({ head, relation, tail }, most, rng) => {
    if (head === tail) return [new Int32Array(0)];
    const { chains, theta } = learnedOf(relation);
    const pi = weightsOf(theta);
    const hidden = { tail, relation, inverse: inverseOf[relation]!, pairs };
    const shares = new Float64Array(chains.length / mostHops);
    marks[tail] = endMarks.answer;
    walk.begin(head, hidden);
    let sum = 0;
    walk.each(chains, (chain, hops, last) => {
      walk.ends(hops, last, marks, out);
      sum += shares[chain] = pi[chain]! * out[0]!;
    });
    marks[tail] = endMarks.free;
    if (sum === 0) return [];
    const counts = new Map<number, number>();
    for (let drawn = 0; drawn < most; drawn++) {
      let left = rng.uniform() * sum;
      const chain = shares.findIndex((share) => share > 0 && (left -= share) < 0);
      if (chain >= 0) counts.set(chain, (counts.get(chain) ?? 0) + 1);
    }
    const chosen = [...counts.keys()].sort((a, b) => a - b);
    const rows = chosen.map((chain) => chains.subarray(chain * mostHops, (chain + 1) * mostHops));
    const walks = new Map<string, Int32Array>();
    walk.begin(head, hidden);
    walk.each(joined(rows, Int32Array), (index, hops, last) => {
      for (let drawn = 0; drawn < counts.get(chosen[index]!)!; drawn++) {
        const steps = walk.drawn(hops, last, tail, inverseOf, rng);
        walks.set(steps.join(), steps);
      }
    });
    return [...walks.values()];
  };
}

function weightsOf(theta: Float32Array): Float64Array {
  const pi = new Float64Array(theta.length);
  mixtureOf(Float64Array.from(theta), pi);
  return pi;
}

function chainRanker(name: string, graph: Graph, learnedOf: (relation: number) => ChainPolicy): LinkRanker {
  const { numEntities } = graph;
  const rows = relationRows(graph);
  const walk = new ChainWalk(rows, numEntities);
  const degrees = degreesOf(graph);
  const prior = (relation: number, entity: number) =>
    priorOf({ rows, degrees }, graph.inverseOf[relation]!, entity, 0) / Math.max(1, triplesOf(rows, relation));

  const scoreTails = (head: number, relation: number, out: Float64Array) => {
    const learned = learnedOf(relation);
    const pi = weightsOf(learned.theta);
    out.fill(0);
    walk.begin(head, nothingHidden);
    walk.each(learned.chains, (chain, hops, last) => walk.spread(hops, last, pi[chain]!, out));
    // Walks do not return to the head.
    out[head] = 0;
    const own = pi.at(-1)!;
    for (let entity = 0; entity < numEntities; entity++) {
      out[entity] = Math.log(out[entity]! + own * prior(relation, entity));
    }
  };

  const marks = new Int32Array(numEntities).fill(endMarks.free);
  const reasonsOf = ({ head, relation }: HeadAndRelation, entity: number): Reason[] => {
    const { chains, theta } = learnedOf(relation);
    const pi = weightsOf(theta);
    const out = new Float64Array(2);
    const reasons: Reason[] = [{ chain: undefined, share: pi.at(-1)! * prior(relation, entity) }];
    if (entity !== head) {
      marks[entity] = endMarks.answer;
      walk.begin(head, nothingHidden);
      walk.each(chains, (chain, hops, last) => {
        walk.ends(hops, last, marks, out);
        if (out[0] === 0) return;
        const begin = chain * mostHops;
        reasons.push({ chain: [...chains.subarray(begin, begin + hops)], share: pi[chain]! * out[0]! });
      });
      marks[entity] = endMarks.free;
    }
    const sum = reasons.reduce((all, { share }) => all + share, 0);
    return reasons
      .map(({ chain, share }) => ({ chain, share: sum > 0 ? share / sum : 0 }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share);
  };

  const ranker = scorerRanker({ name, numEntities, scoreTails }, graph);
  return {
    ...ranker,
    scale: 'log-probability',
    rank: (questions, take) =>
      ranker.rank(questions, (i, ranked) => {
        const reasons = (entity: number) => reasonsOf(questions[i]!, entity);
        take(i, { ...ranked, reasons, chainTo: (entity) => reasons(entity)[0]?.chain });
      }),
  };
}
