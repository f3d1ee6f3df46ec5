/** Rankers of entities for link queries: walks, embedding scores, rules; those without a run are available by name. */
import { z } from 'zod';
import { eventLoopYielder } from '../src/run/stop.js';
import {
  type BeamActor,
  type HeadAndRelation,
  linkBeams,
  type LinkLists,
  type ReachedEntities,
} from './link-walker/beam.js';
import { type AgentEntry, AgentRegistry, choice } from './registry.js';

/** Ranking of one question. */
export interface RankedQuestion {
  /** For each of the ranker's rankings float64 [numEntities], higher is better, -Infinity where not reached; valid during the call. */
  scores: readonly Float64Array[];
  /** Entities reached by walks, for walkers. */
  reached?: ReachedEntities;
  /** Relations of the rule that supports an entity, for rules; valid during the call. */
  chainTo?: (entity: number) => readonly number[] | undefined;
  /** Reasons for an entity, largest share first, summing to 1, for weighted chains; valid during the call. */
  reasons?: (entity: number) => readonly Reason[];
}

/** A chain of relations that leads to an entity, or that the entity is an answer elsewhere, and its share in the entity's score. */
export interface Reason {
  /** Relation ids; undefined: how often the entity answers the relation. */
  chain: readonly number[] | undefined;
  /** In (0, 1]. */
  share: number;
}

/** Ranks all entities. */
export interface LinkRanker {
  /** Such as `transe` or a run's name. */
  readonly name: string;
  /** Names of its rankings, the main one first: `max` and `sum` for walks. */
  readonly rankings: readonly string[];
  /** Questions that it likes to get at once: more make no difference but in memory. */
  readonly batchSize: number;
  /** @param take called once a question, in their order */
  rank(
    questions: readonly HeadAndRelation[],
    take: (question: number, ranked: RankedQuestion) => void,
  ): void | Promise<void>;
}

/** The part of a scorer that ranks; higher is better, -Infinity where nothing speaks for an entity. */
export interface TailScorer {
  readonly name: string;
  readonly numEntities: number;
  scoreTails(head: number, relation: number, out: Float64Array): void;
}

/**
 * Ranks by scores. Entities without an edge in train rank last, regardless of their initial vectors, and questions about
 * them rank all entities equal: as for walks, which cannot leave or reach them.
 */
export function scorerRanker(scorer: TailScorer, { offsets }: Pick<LinkLists, 'offsets'>): LinkRanker {
  const scores = new Float64Array(scorer.numEntities);
  const isUnseen = (entity: number) => offsets[entity] === offsets[entity + 1];
  const unseen = Int32Array.from(scores.keys()).filter(isUnseen);
  return {
    name: scorer.name,
    rankings: ['score'],
    batchSize: 256,
    async rank(questions, take) {
      const turn = eventLoopYielder();
      for (const [i, { head, relation }] of questions.entries()) {
        if (isUnseen(head)) scores.fill(-Infinity);
        else scorer.scoreTails(head, relation, scores);
        for (const entity of unseen) scores[entity] = -Infinity;
        take(i, { scores: [scores] });
        await turn();
      }
    },
  };
}

/** Options of `walkRanker`. */
export interface WalkRankerOptions {
  /** Default `walks`. */
  name?: string;
  /** Walks of a question that are kept after each step but the last. */
  beamWidth: number;
  horizon: number;
  /** Questions walked side by side. Default 32. */
  batchSize?: number;
}

/** Ranks by the walks of a policy: `max` by the best walk to an entity, `sum` by the probability of all that were met. */
export function walkRanker(
  actor: BeamActor,
  graph: LinkLists,
  { name = 'walks', beamWidth, horizon, batchSize = 32 }: WalkRankerOptions,
): LinkRanker {
  const numEntities = graph.offsets.length - 1;
  const unreached = () => new Float64Array(numEntities).fill(-Infinity);
  const [max, sum] = [unreached(), unreached()];
  return {
    name,
    rankings: ['max', 'sum'],
    batchSize,
    async rank(questions, take) {
      const beams = await linkBeams(actor, graph, questions, { beamWidth, horizon });
      beams.forEach((reached, i) => {
        const { entities, best, sum: summed } = reached;
        for (let k = 0; k < entities.length; k++) {
          max[entities[k]!] = best[k]!;
          sum[entities[k]!] = summed[k]!;
        }
        take(i, { scores: [max, sum], reached });
        for (const entity of entities) max[entity] = sum[entity] = -Infinity;
      });
    },
  };
}

/** Resources of link agents; costly ones are functions and created on use. */
export interface LinkAgentResources {
  /** Edges of train and their inverses. */
  graph: LinkLists;
  horizon: number;
  /** A scorer trained on the graph, and the file of its table. @param imported name of vectors of another program */
  embedding(kind: 'transe' | 'bilinear', imported?: string): Promise<{ scorer: TailScorer; file: string }>;
  /** Rules mined on train, as they rank valid best. @param from another data set of the same relations to mine @returns with what is to be known of them */
  rules(from?: string): Promise<{ ranker: LinkRanker; note: string; source?: string }>;
  /** Several rankers as one. @param of runs of exact walkers and agents, with pluses between @returns with what they were made from, hashed */
  ensemble(of: string, weights: EnsembleWeights): Promise<{ ranker: LinkRanker; note: string; source: string }>;
}

/** Weights of an ensemble: fitted on valid, one for each member and direction, or equal. */
export type EnsembleWeights = z.output<typeof ensembleSwitches>['weights'];

/** A ranker with its metadata. */
export interface LinkAgent {
  ranker: LinkRanker;
  /** Kind: `transe`, `distmult`, `complex`, `rules`, `random`. */
  agent: string;
  note?: string;
  /** File of its table. */
  table?: string;
  /** Hash of what it was made from: another data set, other agents. */
  source?: string;
}

/** Vectors of another program take the place of those that the settings train. */
const embeddingSwitches = z.strictObject({ imported: z.string().default('') });

/** Rules of another data set with the same relations take the place of the graph's own. */
const ruleSwitches = z.strictObject({ from: z.string().default('') });

const ensembleSwitches = z.strictObject({
  of: z.string().default(''),
  weights: choice(['valid', 'equal'], 'valid'),
});

/** Rankers without a run; an embedding that is not cached is trained. */
export const linkAgents = new AgentRegistry<LinkAgentResources, LinkAgent>({
  transe: embeddingEntry('transe'),
  bilinear: embeddingEntry('bilinear'),
  rules: {
    needs: ['train'],
    settings: ruleSwitches,
    create: async ({ rules }, { from }) => ({ agent: 'rules', ...(await rules(from || undefined)) }),
  },
  ensemble: {
    needs: ['train', 'embedding'],
    settings: ensembleSwitches,
    required: ['of'],
    create: async ({ ensemble }, { of, weights }) => ({ agent: 'ensemble', ...(await ensemble(of, weights)) }),
  },
  random: {
    create({ graph, horizon }) {
      const ranker = scorerRanker(uniformWalk(graph, horizon), graph);
      return { ranker, agent: 'random', note: 'knows no relation' };
    },
  },
});

function embeddingEntry(
  kind: 'transe' | 'bilinear',
): AgentEntry<LinkAgentResources, LinkAgent, typeof embeddingSwitches> {
  return {
    needs: ['train', 'embedding'],
    settings: embeddingSwitches,
    async create({ graph, embedding }, { imported }) {
      const { scorer, file } = await embedding(kind, imported || undefined);
      return { ranker: scorerRanker(scorer, graph), agent: scorer.name, table: file };
    },
  };
}

/**
 * Scores by the log-probability that a random walk ends at an entity, regardless of relations: uniform over the out-edges
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
