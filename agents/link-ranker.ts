/** Rankers of entities for link queries, by scores or by walks. */
import type { LinkDataset } from '../datasets/links/link-dataset.js';
import type { ExecutorName } from '../src/nn/open-executor.js';
import { eventLoopYielder } from '../src/run/stop.js';
import type { Cost } from './agent.js';
import {
  type BeamActor,
  type HeadAndRelation,
  linkBeams,
  type LinkLists,
  type ReachedEntities,
} from './path-walker/beam.js';

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
  /** Rules that lead to an entity, the most precise first, for rules; valid during the call. */
  rulesTo?: (entity: number) => readonly FoundRule[];
  /** Calls and tokens, where the ranker asks a model. */
  cost?: Cost;
}

/** A rule that leads from the head of a question to an entity, and how often it is right in train. */
export interface FoundRule {
  /**
   * `chain`: a chain of relations leads there; `prior`: heads of the relation have it; `head`: those with a feature of the head have it;
   * `answers`: it has what known answers of the question have.
   */
  kind: 'chain' | 'prior' | 'head' | 'answers';
  /** Relation ids. */
  chain?: readonly number[];
  /** An edge of a relation to an entity, or to any (-1). */
  feature?: { relation: number; entity: number };
  /** Cases, and those of them that are right. */
  of: number;
  right: number;
  /** `right` / (`of` + smoothing). */
  precision: number;
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
  /** Meaning of a score in any question; absent: scores compare within a question alone. */
  readonly scale?: 'log-probability' | 'precision';
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
    scale: 'log-probability',
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

/** Options of trained rankers. */
export interface LinkOptions {
  /** Data set whose graph is walked. */
  dataset: LinkDataset;
  /** Default the run's own. */
  beamWidth?: number | undefined;
  backend?: ExecutorName | 'auto' | undefined;
  /** Encoder of names, if moved since the run. */
  modelPath?: string | undefined;
}

/** A trained ranker; close it after use. */
export interface LoadedRanker {
  ranker: LinkRanker;
  /** Which of the ranker's rankings its run was chosen by. */
  pooling: 'max' | 'sum';
  /** For records: seed of a single run, steps of walks or chains, walks that are kept. */
  about: { seed?: number; horizon: number; beamWidth?: number };
  close(): void;
}
