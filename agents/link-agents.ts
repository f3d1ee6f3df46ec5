/** Agents that answer link queries: untrained ones by name, trained ones out of their runs. */
import { z } from 'zod';
import type { LinkLists } from './path-walker/beam.js';
import { type LinkRanker, type LoadedRanker, type LinkOptions, scorerRanker, type TailScorer } from './link-ranker.js';
import { exactMethods } from './exact-walker/train.js';
import type { LinkTraining } from './link-training.js';
import { MethodRegistry } from './method.js';
import { fiskeEntry } from './prompted/fiske/fiske-agent.js';
import { gcrEntry } from './prompted/gcr/gcr-agent.js';
import { rogEntry } from './prompted/rog/rog-agent.js';
import { selfVeqaEntry } from './prompted/self-veqa/self-veqa-agent.js';
import { togEntry } from './prompted/tog/tog-agent.js';
import { linkQuestionAgent, type LinkQuestionResources } from './prompted/turns/link-question.js';
import { pathWalker } from './path-walker/train.js';
import { type AgentEntry, AgentRegistry, choice } from './registry.js';

/** Resources of link agents; costly ones are functions and created on use. */
export interface LinkAgentResources extends LinkQuestionResources {
  /** Edges of train and their inverses. */
  graph: LinkLists;
  horizon: number;
  /** A scorer trained on the graph, and the file of its table. @param imported name of vectors of another program */
  embedding(kind: 'transe' | 'bilinear', imported?: string): Promise<{ scorer: TailScorer; file: string }>;
  /** Rules mined on train, as they rank valid best. @param from another data set of the same relations to mine @returns with what is to be known of them */
  rules(from?: string): Promise<{ ranker: LinkRanker; note: string; source?: string }>;
  /** Weights that suit any graph: of an exported run, or with '' those of the package. @returns with their checksum */
  zeroShot(file: string): Promise<{ ranker: LinkRanker; note: string; source: string }>;
  /** Several rankers as one. @param of runs of exact walkers and agents, with pluses between @returns with what they were made from, hashed */
  ensemble(of: string, weights: EnsembleWeights): Promise<{ ranker: LinkRanker; note: string; source: string }>;
}

/** Weights of an ensemble: fitted on valid, one for each member and direction, and of each relation, or equal. */
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
  weights: choice(['valid', 'relation', 'equal'], 'valid'),
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
  'zero-shot': {
    settings: z.strictObject({ file: z.string().default('') }),
    create: async ({ zeroShot }, { file }) => ({ agent: 'zero-shot', ...(await zeroShot(file)) }),
  },
  random: {
    create({ graph, horizon }) {
      const ranker = scorerRanker(uniformWalk(graph, horizon), graph);
      return { ranker, agent: 'random', note: 'knows no relation' };
    },
  },
  tog: linkQuestionAgent(togEntry),
  fiske: linkQuestionAgent(fiskeEntry),
  'self-veqa': linkQuestionAgent(selfVeqaEntry),
  rog: linkQuestionAgent(rogEntry),
  gcr: linkQuestionAgent(gcrEntry),
});

/** Methods that are trained on link queries: a line each. */
export const linkMethods = new MethodRegistry<LinkTraining, LinkOptions, LoadedRanker>({
  'path-walker': pathWalker,
  ...exactMethods,
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
