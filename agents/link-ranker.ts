/** Whatever ranks entities as answers of link queries: walks of a policy, scores of an embedding, rules. */
import { linkBeams, type BeamActor, type HeadAndRelation, type LinkLists } from './link-walker/beam.js';
import type { ReachedEntities } from './link-walker/beam.js';

/** What a ranker makes of one question. */
export interface RankedQuestion {
  /** For each of the ranker's rankings float64 [numEntities], higher is better, -Infinity where not reached; valid during the call. */
  scores: readonly Float64Array[];
  /** Where walks were made: what they reached. */
  reached?: ReachedEntities;
  /** Where rules were followed: the relations of the one that stands for an entity, if one leads there; valid during the call. */
  chainTo?: (entity: number) => readonly number[] | undefined;
}

/** Ranks all entities. */
export interface LinkRanker {
  /** Such as `transe` or a run's name. */
  readonly name: string;
  /** What it calls its ways to rank, the one that stands for it first: `max` and `sum` for walks. */
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
 * Ranks by scores. Entities without an edge in train rank last, whatever numbers they started from, and questions about
 * them tell no entity from another: as for walks, which cannot leave or reach them.
 */
export function scorerRanker(scorer: TailScorer, { offsets }: Pick<LinkLists, 'offsets'>): LinkRanker {
  const scores = new Float64Array(scorer.numEntities);
  const isUnseen = (entity: number) => offsets[entity] === offsets[entity + 1];
  const unseen = Int32Array.from(scores.keys()).filter(isUnseen);
  return {
    name: scorer.name,
    rankings: ['score'],
    batchSize: 256,
    rank(questions, take) {
      questions.forEach(({ head, relation }, i) => {
        if (isUnseen(head)) scores.fill(-Infinity);
        else scorer.scoreTails(head, relation, scores);
        for (const entity of unseen) scores[entity] = -Infinity;
        take(i, { scores: [scores] });
      });
    },
  };
}

/** How walks are ranked. */
export interface WalkRankerOptions {
  /** Default `walks`. */
  name?: string;
  /** Walks of a question that go on after each step but the last. */
  beamWidth: number;
  /** Steps of a walk. */
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
