/**
 * The pre-filter: selects the outgoing relations that a language model gets to see. Shared by all prompted agents; ranked by word overlap,
 * sentence vectors or a trained walker, or off. It costs no calls; with one relation left, agents need none either.
 */
import { z } from 'zod';
import { whole } from '../../registry.js';
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type { QuestionAgentResources } from '../../question-agent.js';
import { readableRelation } from '../self-veqa/sub-graph.js';
import { textVectors } from '../../../src/encoder/state-encoder.js';
import { overlapSource, type TextSource, vectorSource } from './text-source.js';

/** To be spread into the `z.strictObject` of an agent's settings. */
export const prefilterSettings = {
  prefilter: z
    .string()
    .regex(/^(?:none|bm25|embedding|walker:.+)$/u, 'expected none, bm25, embedding or walker:RUN')
    .default('none')
    .describe(
      'Relation pre-filter, without model calls: none, word overlap (bm25), sentence vectors (embedding), or a trained relation walker (walker:RUN, walker:RUN@clone).',
    ),
  keep: whole(1, 1000, 3).describe('Relations that the pre-filter leaves, best first.'),
  mass: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe('Of these, as many as have this much probability together, the best at least; 1 leaves them all.'),
};

/** Values of `prefilterSettings`. */
export type PrefilterSettings = z.output<z.ZodObject<typeof prefilterSettings>>;

/** A relation and the probability, in [0, 1], that it is the next one to walk. */
type RankedRelation = { relation: number; share: number };

/** @param walked relations so far, from the topic on @param relations that lead on */
type OfRelations<Result> = (
  task: QuestionTask,
  walked: readonly number[],
  relations: readonly number[],
  signal?: AbortSignal,
) => Promise<Result>;

/** Ranks relations and leaves the best. */
export interface Prefilter {
  /** Encodes what is known before: cheaper for all questions at once. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** All of them, most probable first, equals in the order given; shares sum to 1. */
  rank: OfRelations<RankedRelation[]>;
  /**
   * Those to choose from, most probable first: `keep` at most, `mass` of the probability. All, in the order given, with
   * `prefilter: none` and where the source knows nothing of such long walks.
   */
  keep: OfRelations<number[]>;
}

/** Ranking: shares in the order of the relations, or undefined if it has none. */
interface Source {
  prepare?(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  shares: OfRelations<Float64Array | undefined>;
}

/**
 * To be called in an agent's `create`.
 * @throws WorkbenchError `usage` for a run that there is not, that is of another data set or that walks no relations
 */
export async function openPrefilter(
  resources: Pick<QuestionAgentResources, 'graph' | 'encoder' | 'walker'>,
  { prefilter, keep, mass }: PrefilterSettings,
): Promise<Prefilter> {
  const source = await sourceOf(resources, prefilter);
  const shares: Source['shares'] = async (task, walked, relations, signal) => {
    signal?.throwIfAborted();
    return source && relations.length > 1 ? source.shares(task, walked, relations, signal) : undefined;
  };
  return {
    prepare: async (tasks, signal) => source?.prepare?.(tasks, signal),
    async rank(task, walked, relations, signal) {
      const all = await shares(task, walked, relations, signal);
      return ordered(relations, all ?? new Float64Array(relations.length).fill(1 / relations.length));
    },
    async keep(task, walked, relations, signal) {
      const all = await shares(task, walked, relations, signal);
      if (!all) return [...relations];
      const best = ordered(relations, all).slice(0, keep);
      let sum = 0;
      const needed = best.findIndex(({ share }) => (sum += share) >= mass);
      return best.slice(0, needed < 0 ? best.length : needed + 1).map(({ relation }) => relation);
    },
  };
}

/** Probability that the next relation is among those `kept`, as the pre-filter ranks; 1 where it left none out. */
export async function shareOf(
  prefilter: Prefilter,
  task: QuestionTask,
  walked: readonly number[],
  relations: readonly number[],
  kept: readonly number[],
  signal?: AbortSignal,
): Promise<number> {
  if (kept.length === relations.length) return 1;
  const ranked = await prefilter.rank(task, walked, relations, signal);
  const sum = ranked.reduce((all, { relation, share }) => (kept.includes(relation) ? all + share : all), 0);
  return Math.min(1, sum);
}

function ordered(relations: readonly number[], shares: Float64Array): RankedRelation[] {
  return relations.map((relation, i) => ({ relation, share: shares[i]! })).sort((a, b) => b.share - a.share);
}

const walkerPrefix = 'walker:';

async function sourceOf(
  { graph, encoder, walker }: Pick<QuestionAgentResources, 'graph' | 'encoder' | 'walker'>,
  name: string,
): Promise<Source | undefined> {
  if (name === 'none') return undefined;
  if (name === 'bm25') return ofTexts(graph, overlapSource);
  if (name === 'embedding') {
    const vectors = textVectors(await encoder());
    return {
      ...ofTexts(graph, vectorSource(vectors)),
      prepare: async (tasks, signal) => void (await vectors.of(tasks.map(maskedQuestion), signal)),
    };
  }
  if (walker) return walker(name.slice(walkerPrefix.length));
  throw new WorkbenchError('usage', `expected a pre-filter that needs no run, got ${name}, at prefilter`, {
    hint: 'Runs are opened by the commands alone; a program gives agents a `walker` among their resources.',
  });
}

/** A source of texts, asked about relations by their words. */
function ofTexts(graph: Graph, source: TextSource): Source {
  const text = (relation: number) => {
    const name = graph.relationNames[relation]!;
    return readableRelation(name) || name;
  };
  return { shares: (task, walked, relations) => source(task, relations.map(text), walked.map(text)) };
}
