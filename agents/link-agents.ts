/** What ranks entities as answers of link queries without a run, by name. */
import { scorerRanker, type LinkRanker, type TailScorer } from './link-ranker.js';
import type { LinkLists } from './link-walker/beam.js';
import { AgentRegistry, type AgentEntry } from './registry.js';

/** What link agents may ask for; costly parts are functions, so that only those who need them pay. */
export interface LinkAgentResources {
  /** Edges of train and their inverses. */
  graph: LinkLists;
  /** Steps of a walk. */
  horizon: number;
  /** A scorer trained on the graph, the seed it was trained by, and the file of its table. */
  embedding(kind: 'transe' | 'bilinear'): Promise<{ scorer: TailScorer; seed: number; file: string }>;
  /** Rules mined on train, as they rank valid best. @returns with what is to be known of them */
  rules(): Promise<{ ranker: LinkRanker; note: string }>;
}

/** A ranker and what is to be known of it. */
export interface LinkAgent {
  ranker: LinkRanker;
  /** What was made: `transe`, `distmult`, `complex`, `rules`, `random`. */
  agent: string;
  note?: string;
  seed?: number;
  /** Of what follows walks: their steps. */
  horizon?: number;
  /** File of its table. */
  table?: string;
}

/** What ranks without a run; an embedding that is not kept yet is trained. */
export const linkAgents = new AgentRegistry<LinkAgentResources, LinkAgent>({
  transe: embeddingEntry('transe'),
  bilinear: embeddingEntry('bilinear'),
  rules: {
    needs: ['train'],
    create: async ({ horizon, rules }) => ({ agent: 'rules', seed: 0, horizon, ...(await rules()) }),
  },
  random: {
    create({ graph, horizon }) {
      const ranker = scorerRanker(uniformWalk(graph, horizon), graph);
      return { ranker, agent: 'random', horizon, note: 'knows no relation' };
    },
  },
});

function embeddingEntry(kind: 'transe' | 'bilinear'): AgentEntry<LinkAgentResources, LinkAgent> {
  return {
    needs: ['train', 'embedding'],
    async create({ graph, embedding }) {
      const { scorer, seed, file } = await embedding(kind);
      return { ranker: scorerRanker(scorer, graph), agent: scorer.name, seed, table: file };
    },
  };
}

/**
 * Scores by the log-probability that a walk at random ends at an entity, whatever the relation: uniform over the out-edges
 * and staying, at every step. Exact, O(edges met) a query.
 */
export function uniformWalk({ offsets, tails }: LinkLists, horizon: number): TailScorer {
  const numEntities = offsets.length - 1;
  let now = new Float64Array(numEntities);
  let next = new Float64Array(numEntities);
  return {
    name: 'random',
    numEntities,
    scoreTails(head, _relation, out) {
      now.fill(0);
      now[head] = 1;
      for (let step = 0; step < horizon; step++) {
        next.fill(0);
        for (let entity = 0; entity < numEntities; entity++) {
          if (now[entity] === 0) continue;
          const [begin, end] = [offsets[entity]!, offsets[entity + 1]!];
          const each = now[entity]! / (end - begin + 1);
          next[entity]! += each;
          for (let edge = begin; edge < end; edge++) next[tails[edge]!]! += each;
        }
        [now, next] = [next, now];
      }
      for (let entity = 0; entity < numEntities; entity++) out[entity] = Math.log(now[entity]!);
    },
  };
}
