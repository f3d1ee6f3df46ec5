/** What one agent made of one sample. */
import type { Answer } from '../agents/agent.js';
import type { Sender } from '../datasets/dialogue.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import type { Graph } from '../src/kg/graph.js';
import { arkRanks, type ArkRanks } from '../src/metrics/ark-ranks.js';
import { pathRanks, type PathRanks, targetRanks, type TargetRanks } from '../src/metrics/path-hits.js';
import type { Attempt } from './answer-tasks.js';

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

/** One row of an evaluation. Ranks are 1-based, 0 = absent. */
export interface Outcome extends PathRanks, TargetRanks {
  id: string;
  dialogue: string;
  hops: number;
  sender: Sender;
  /** Whether the gold target is a node of any train gold path. */
  seen: boolean;
  /** Whether it is the dialogue's first path. */
  first: boolean;
  miss?: MissReason;
  /** Of the best path; NaN where there is none. */
  logProb: number;
  /** The agent's own, NaN where it gives none. */
  confidence: number;
  /** As LLM-ARK's reference counts, where that was asked for. */
  ark?: ArkRanks;
}

/** What counting one sample needs beside it. */
export interface OutcomeContext {
  graph: Graph;
  /** The edges that the agent may walk. */
  walked: Graph;
  beamWidth: number;
  seenTargets: ReadonlySet<number>;
  /** Whether to count as LLM-ARK's reference does, too. */
  withArk: boolean;
}

/** Entities on train gold paths: a target among them was seen in training. */
export function seenEntities(train: readonly WalkSample[]): Set<number> {
  const seen = new Set<number>();
  for (const { gold } of train) for (const [head, , tail] of gold.path) seen.add(head).add(tail);
  return seen;
}

/** Counts one sample. No attempt means that the start has no edges, so nobody was asked. */
export function outcomeOf(sample: WalkSample, attempt: Attempt | undefined, context: OutcomeContext): Outcome {
  const { task, gold } = sample;
  const answer = attempt && 'answer' in attempt ? attempt.answer : undefined;
  const paths = answer?.paths.slice(0, context.beamWidth) ?? [];
  const ranks = { path: 0, entityPath: 0, relationPath: 0, target: 0, summedTarget: 0 };
  // A gold that the graph lacks cannot be walked: reaching its target some other way is no success.
  if (answer && gold.inGraph) {
    Object.assign(ranks, pathRanks(paths, gold.path, context.graph.equalRelation));
    const { target, summedTarget } = targetRanks(answer.answers, gold.target);
    if (target <= context.beamWidth) ranks.target = target;
    if (summedTarget <= context.beamWidth) ranks.summedTarget = summedTarget;
  }
  const outcome: Outcome = {
    id: task.id,
    dialogue: task.dialogueId,
    hops: gold.path.length,
    sender: task.sender,
    seen: context.seenTargets.has(gold.target),
    first: task.earlierPaths.length === 0,
    ...ranks,
    logProb: paths[0]?.logProb ?? NaN,
    confidence: answer?.confidence ?? NaN,
    ...(context.withArk && { ark: arkRanksOf(sample, answer, context.graph) }),
  };
  const miss = missReason(sample, attempt, ranks.path, context.walked);
  return miss ? { ...outcome, miss } : outcome;
}

/** The same samples can be hit as in the strict counts, so that the two differ in nothing but the counting. */
function arkRanksOf({ gold }: WalkSample, answer: Answer | undefined, { equalRelation }: Graph): ArkRanks {
  if (!answer?.arkBeam || !gold.inGraph) return { path: 0, target: 0, anyTarget: 0 };
  return arkRanks(answer.arkBeam, gold.path, equalRelation);
}

function missReason(
  { gold }: WalkSample,
  attempt: Attempt | undefined,
  rank: number,
  walked: Graph,
): MissReason | undefined {
  if (rank > 0) return undefined;
  if (!attempt) return 'start-without-edges';
  if (!gold.inGraph) return 'gold-not-in-graph';
  if (!walked.holds(gold.path)) return 'gold-edge-cut';
  return 'failure' in attempt ? 'agent-failed' : 'not-ranked';
}
