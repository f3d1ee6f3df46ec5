/** Row of one dialogue sample, and its columns. Ranks are 1-based, 0 = absent. */
import { z } from 'zod';
import type { Answer, RankedPath, Agent } from '../../agents/agent.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Attempt } from '../../evaluation/score.js';
import { replyCounts } from '../../evaluation/replies.js';
import { isCopied } from '../../evaluation/watch-decisions.js';
import type { Graph, Path } from '../../src/kg/graph.js';
import { arkRanks, arkBeamWidth, pathRanks, targetRanks } from '../../src/metrics/ranks.js';
import { arrowFile } from '../../src/run/arrow.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';
import { WorkbenchError } from '../../src/run/errors.js';

const rank = z.int().min(0);

/** Parts of a gold path, each with a test for a path that shares it. */
const shares = {
  hops: (walk: Path, gold: Path) => walk.length === gold.length,
  relation: (walk: Path, gold: Path) => walk[0]?.[1] === gold[0]?.[1],
  relations: (walk: Path, gold: Path) => walk.length === gold.length && walk.every(([, r], i) => r === gold[i]![1]),
  edge: (walk: Path, gold: Path) => String(walk[0]) === String(gold[0]),
  target: (walk: Path, gold: Path) => walk.at(-1)?.[2] === gold.at(-1)?.[2],
} as const;
/** Part of a gold path: the number of hops, the first relation, all relations, the first edge, the last entity. */
export type GoldPart = keyof typeof shares;
export const goldParts = Object.keys(shares) as GoldPart[];

const goldPartSchema = openObject({
  squares: z.number(),
  ranks: z.object({ hops: rank, relation: rank, relations: rank, edge: rank, target: rank }),
  first: z.array(z.enum(['hops', 'relation', 'relations', 'edge', 'target'])),
});
/**
 * Over ranked paths: the sum of their squared probabilities; for each part, the rank of the gold among the paths that share the part (from 1;
 * 0 if it is not ranked); and the parts that the first path has right.
 */
type GoldPartRanks = z.output<typeof goldPartSchema>;

/**
 * Like the other ranks, counts nothing as right if the graph lacks the gold path.
 * @param paths canonical, best first, of an agent with a distribution over paths
 */
export function goldPartRanks(
  paths: readonly RankedPath[],
  { path: gold, inGraph }: WalkSample['gold'],
): GoldPartRanks {
  const index = inGraph ? paths.findIndex(({ path }) => String(path) === String(gold)) : -1;
  const rankOf = (part: GoldPart) =>
    index < 0 ? 0 : paths.slice(0, index + 1).filter(({ path }) => shares[part](path, gold)).length;
  return {
    squares: paths.reduce((sum, { logProb }) => sum + Math.exp(2 * logProb), 0),
    ranks: Object.fromEntries(goldParts.map((part) => [part, rankOf(part)])) as GoldPartRanks['ranks'],
    first: inGraph && paths.length > 0 ? goldParts.filter((part) => shares[part](paths[0]!.path, gold)) : [],
  };
}

/** Why the gold path is not in the list; only the last says something about the agent's judgement. */
export const missReasons = [
  'start-without-edges',
  'gold-not-in-graph',
  /** The graph has it; the lists that `env.edgePolicy` made for the agent do not. */
  'gold-edge-cut',
  'agent-failed',
  'not-ranked',
] as const;
type MissReason = (typeof missReasons)[number];

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
  /** Replies that were cut or could not be read, where there were any. */
  replies: openObject({ cut: rank, unreadable: rank }).optional(),
  cost: z.record(z.string(), anyNumber),
  miss: z.enum(missReasons).optional(),
});
/** See `dialogueRow`. */
export type DialogueRow = z.output<typeof dialogueRow>;

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
    ...lostOf(attempt),
    cost: { ...attempt?.answer?.cost },
    ...(miss && { miss }),
  };
}

function copiedOf(attempt: Attempt<Answer> | undefined): Pick<DialogueRow, 'copied'> {
  const copies = attempt?.decisions?.flatMap((one) => isCopied(one) ?? []) ?? [];
  return copies.length > 0 ? { copied: copies.filter(Boolean).length / copies.length } : {};
}

function lostOf({ totals }: Attempt<Answer> = {}): Pick<DialogueRow, 'replies'> {
  const { cut, unreadable } = replyCounts(totals ?? { calls: 0, phases: {} });
  return cut + unreadable > 0 ? { replies: { cut, unreadable } } : {};
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
 * One row a sample. Columns: `id`, `dialogue`, `sender`, `miss` (utf8, empty where the gold was ranked), `hops`, `path`, `entity_path`,
 * `relation_path`, `target`, `target_sum` (int32 ranks from 1, 0 = absent), `seen`, `first` (bool), `log_prob`, `confidence` (float64, of
 * the best path; NaN where absent); of agents that are a distribution over walks `gold_log_prob` (float64, NaN where the gold cannot be
 * walked). Where it was counted as LLM-ARK's reference does, also `ark_path`, `ark_target`, `target_any`. Equal rows give equal bytes.
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

export const arkCountWarning =
  `ark columns repeat the published code of LLM-ARK, to compare with its paper alone: a target counts where any slot of a beam of ${arkBeamWidth} held it after either step, ` +
  'and it is the end of the gold’s first hop; no other system’s figures, nor the strict columns, compare with them.';

/**
 * @param horizon steps of a walk. Default 2
 * @throws WorkbenchError `usage` for walks of other lengths or a beam that is narrower than the reference's
 */
export function checkArkCount({ horizon = 2, beamWidth }: { horizon: number | undefined; beamWidth: number }): void {
  if (horizon !== 2) {
    throw new WorkbenchError('usage', `expected walks of two steps, got env.horizon ${horizon}, at --count ark`, {
      hint: 'LLM-ARK’s code compares pairs of triples. Leave --count ark out, or train a run of env.horizon 2.',
    });
  }
  if (beamWidth < arkBeamWidth) {
    throw new WorkbenchError('usage', `expected a beam of at least ${arkBeamWidth}, got ${beamWidth}, at --count ark`, {
      hint: 'LLM-ARK’s beam is taken out of the one that is there: raise --beam-width or evaluation.beamWidth.',
    });
  }
}

/** Agents by what they are called that have no beam of steps: they name walks. @throws WorkbenchError `usage` */
export function refuseArkCount(agent: string): never {
  throw new WorkbenchError('usage', `expected an agent that walks step by step, got ${agent}, at --count ark`, {
    hint: 'Trained walkers and the baselines that score every walk have a beam of two steps; prompted agents name walks.',
  });
}

/** The agent, refused at its first answer without LLM-ARK's beam. */
export const keepingArkBeam = (agent: Agent): Agent => ({
  ...agent,
  async answer(...asked) {
    const answers = await agent.answer(...asked);
    if (answers.some(({ arkBeam }) => !arkBeam)) refuseArkCount(agent.name);
    return answers;
  },
});
