/** Row of one dialogue sample, and its columns. Ranks are 1-based, 0 = absent. */
import { z } from 'zod';
import type { Answer } from '../../agents/agent.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Attempt } from '../../evaluation/score.js';
import { isCopied } from '../../evaluation/watch-decisions.js';
import type { Graph } from '../../src/kg/graph.js';
import { arkRanks } from '../../src/metrics/ark-ranks.js';
import { pathRanks, targetRanks } from '../../src/metrics/path-hits.js';
import { arrowFile } from '../../src/run/arrow.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';
import { goldPartRanks, goldPartSchema } from './gold-parts.js';

/** Why the gold path is not in the list; only the last says something about the agent's judgement. */
export const missReasons = [
  'start-without-edges',
  'gold-not-in-graph',
  /** The graph has it; the lists that `env.edgePolicy` made for the agent do not. */
  'gold-edge-cut',
  'agent-failed',
  'not-ranked',
] as const;
/** One of `missReasons`. */
export type MissReason = (typeof missReasons)[number];

const rank = z.int().min(0);

/** A line of `answers.jsonl`. */
export const dialogueRow = openObject({
  id: z.string(),
  dialogue: z.string(),
  hops: z.int(),
  sender: z.enum(['user', 'assistant']),
  /** The gold target is a node of a train gold path. */
  seen: z.boolean(),
  /** First path of its dialogue. */
  first: z.boolean(),
  path: rank,
  entityPath: rank,
  relationPath: rank,
  target: rank,
  summedTarget: rank,
  /** Log-probability of the best path; NaN if there is none. */
  logProb: anyNumber,
  /**
   * ln of the probability that the agent gives the gold among all legal walks. Absent where the gold cannot be walked, was not asked
   * for, or the agent is no distribution over walks.
   */
  goldLogProb: anyNumber.optional(),
  /** For agents with a distribution over walks, also for gold paths that cannot be walked. */
  told: goldPartSchema.optional(),
  /** The agent's own, NaN where it gives none. */
  confidence: anyNumber,
  /** Counts of LLM-ARK's reference, on request. */
  ark: openObject({ path: rank, target: rank, anyTarget: rank }).optional(),
  /** Share of the replies that repeat an example of their prompt, where any could. */
  copied: anyNumber.optional(),
  cost: z.record(z.string(), anyNumber),
  miss: z.enum(missReasons).optional(),
});
/** See `dialogueRow`. */
export type DialogueRow = z.output<typeof dialogueRow>;

/** Context for scoring one sample. */
export interface RowContext {
  /** The whole graph. */
  graph: Graph;
  /** The edges that the agent may walk. */
  walked: Graph;
  beamWidth: number;
  seenTargets: ReadonlySet<number>;
  /** Also count as LLM-ARK's reference does. */
  withArk: boolean;
}

/** Entities on train gold paths: a target among them was seen in training. */
export function seenEntities(train: readonly WalkSample[]): Set<number> {
  const seen = new Set<number>();
  for (const { gold } of train) for (const [head, , tail] of gold.path) seen.add(head).add(tail);
  return seen;
}

/** Scores one sample. Without an attempt the start has no edges. */
export function rowOf(sample: WalkSample, attempt: Attempt<Answer> | undefined, context: RowContext): DialogueRow {
  const { task, gold } = sample;
  const answer = attempt?.answer;
  const paths = answer?.paths.slice(0, context.beamWidth) ?? [];
  const ranks = { path: 0, entityPath: 0, relationPath: 0, target: 0, summedTarget: 0 };
  // A gold that the graph lacks cannot be walked: reaching its target some other way is no success.
  if (answer && gold.inGraph) {
    Object.assign(ranks, pathRanks(paths, gold.path, context.graph.equalRelation));
    const { target, summedTarget } = targetRanks(answer.answers, gold.target);
    if (target <= context.beamWidth) ranks.target = target;
    if (summedTarget <= context.beamWidth) ranks.summedTarget = summedTarget;
  }
  const miss = missReason(sample, attempt, ranks.path, context.walked);
  return {
    id: task.id,
    dialogue: task.dialogueId,
    hops: gold.path.length,
    sender: task.sender,
    seen: context.seenTargets.has(gold.target),
    first: task.earlierPaths.length === 0,
    ...ranks,
    // JSON has no -0, and a row that is read again is to give the same bytes.
    logProb: (paths[0]?.logProb ?? NaN) + 0,
    ...(!Number.isNaN(attempt?.goldLogProb ?? NaN) && { goldLogProb: attempt!.goldLogProb! + 0 }),
    ...(answer && attempt?.goldLogProb !== undefined && { told: goldPartRanks(paths, gold) }),
    confidence: answer?.confidence ?? NaN,
    ...(context.withArk && { ark: arkRanksOf(sample, answer, context.graph) }),
    ...copiedOf(attempt),
    cost: { ...attempt?.answer?.cost },
    ...(miss && { miss }),
  };
}

function copiedOf(attempt: Attempt<Answer> | undefined): Pick<DialogueRow, 'copied'> {
  const copies = attempt?.decisions?.flatMap((one) => isCopied(one) ?? []) ?? [];
  return copies.length > 0 ? { copied: copies.filter(Boolean).length / copies.length } : {};
}

/** The same samples can be hit as in the strict counts, so that the two differ in nothing but the counting. */
function arkRanksOf({ gold }: WalkSample, answer: Answer | undefined, { equalRelation }: Graph) {
  if (!answer?.arkBeam || !gold.inGraph) return { path: 0, target: 0, anyTarget: 0 };
  return { ...arkRanks(answer.arkBeam, gold.path, equalRelation) };
}

function missReason(
  { gold }: WalkSample,
  attempt: Attempt<Answer> | undefined,
  rank: number,
  walked: Graph,
): MissReason | undefined {
  if (rank > 0) return undefined;
  if (!attempt) return 'start-without-edges';
  if (!gold.inGraph) return 'gold-not-in-graph';
  if (!walked.holds(gold.path)) return 'gold-edge-cut';
  return attempt.failure !== undefined ? 'agent-failed' : 'not-ranked';
}

/**
 * One row a sample. Columns: `id`, `dialogue`, `sender`, `miss` (utf8, empty where the gold was ranked), `hops`,
 * `path`, `entity_path`, `relation_path`, `target`, `target_sum` (int32 ranks from 1, 0 = absent), `seen`, `first` (bool),
 * `log_prob`, `confidence` (float64, of the best path; NaN where absent); of agents that are a distribution over walks
 * `gold_log_prob` (float64, NaN where the gold cannot be walked). Where it was counted as LLM-ARK's reference does, also
 * `ark_path`, `ark_target`, `target_any`. Equal rows give equal bytes.
 */
export function dialogueArrow(rows: readonly DialogueRow[]): Uint8Array {
  return arrowFile(rows, ({ words, int32, float64, flags }) => ({
    id: words(({ id }) => id),
    dialogue: words(({ dialogue }) => dialogue),
    sender: words(({ sender }) => sender),
    hops: int32(({ hops }) => hops),
    seen: flags(({ seen }) => seen),
    first: flags(({ first }) => first),
    path: int32(({ path }) => path),
    entity_path: int32(({ entityPath }) => entityPath),
    relation_path: int32(({ relationPath }) => relationPath),
    target: int32(({ target }) => target),
    target_sum: int32(({ summedTarget }) => summedTarget),
    miss: words(({ miss }) => miss ?? ''),
    log_prob: float64(({ logProb }) => logProb),
    confidence: float64(({ confidence }) => confidence),
    ...(rows.some(({ goldLogProb }) => goldLogProb !== undefined) && {
      gold_log_prob: float64(({ goldLogProb }) => goldLogProb ?? NaN),
    }),
    ...(rows[0]?.ark && {
      ark_path: int32(({ ark }) => ark!.path),
      ark_target: int32(({ ark }) => ark!.target),
      target_any: int32(({ ark }) => ark!.anyTarget),
    }),
  }));
}
