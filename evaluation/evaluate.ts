/** Runs an agent over samples and counts: the only place where a gold meets an agent's answer. */
import type { Agent, Answer } from '../agents/agent.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import type { WalkGraph } from '../envs/dialogue-walk/walk-graph.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationCost, EvaluationRecord } from '../src/run/records.js';
import { checkArkCount, keepingArkBeam } from './ark-count.js';
import { answerTasks, type Attempt } from './answer-tasks.js';
import { coverageOf } from './coverage.js';
import { exampleWalks } from './example-walks.js';
import { missReasons, type Outcome, outcomeOf } from './outcome.js';
import type { EvaluationSettings } from './settings.js';
import { summarise, summariseSlices } from './summary.js';

/** What an agent is evaluated over, and what the record says of it. */
export interface EvaluateOptions {
  /** The whole graph: what golds are held against. */
  graph: Graph;
  /** The edges of it that the agent may walk. Default: all. */
  walks?: WalkGraph;
  settings: EvaluationSettings;
  /** Entities of train gold paths, from `seenEntities`. */
  seenTargets: ReadonlySet<number>;
  /** Most edges of a walk, for the upper bound. Default 2. */
  horizon?: number;
  /** `ark`: also as LLM-ARK's reference counts; the agent must keep its beam (`arkBeam`). Default `strict` alone. */
  count?: EvaluationRecord['count'];
  /** What is evaluated, for the record. */
  about: Pick<EvaluationRecord, 'dataset' | 'split' | 'turns' | 'checkpoint' | 'seed'> & {
    hashes?: Omit<EvaluationRecord['hashes'], 'graph'>;
  };
  onProgress?: (done: number) => void;
  signal?: AbortSignal;
}

/** The record with everything that it was summed up from. */
export interface Evaluation {
  record: EvaluationRecord;
  /** One a sample, in order. */
  rows: Outcome[];
  /** One a sample, in order; absent where the agent was not asked or failed. */
  answers: (Answer | undefined)[];
  /** Message of each task that made the agent throw. */
  failures: { id: string; message: string }[];
}

/**
 * Evaluates an agent. Every sample is in every denominator: a start without edges, a gold that the graph lacks and a
 * task on which the agent threw are misses, counted by reason. The agent sees tasks, never golds.
 * @throws WorkbenchError `data` without samples, `config` for a beam narrower than the largest k, `usage` for `ark` with an agent
 *   that does not keep that beam or a horizon other than two; see `answerTasks`
 */
export async function evaluateAgent(
  agent: Agent,
  samples: readonly WalkSample[],
  {
    graph,
    walks = { graph },
    settings,
    seenTargets,
    horizon,
    count = 'strict',
    about,
    onProgress,
    signal,
  }: EvaluateOptions,
): Promise<Evaluation> {
  const { beamWidth, ks } = settings;
  if (samples.length === 0) {
    throw new WorkbenchError('data', `expected samples, got none, at split ${about.split} of ${about.dataset}`);
  }
  if (beamWidth < Math.max(...ks)) {
    throw new WorkbenchError(
      'config',
      `expected a beam of at least ${Math.max(...ks)}, got ${beamWidth}, at beamWidth`,
      {
        hint: 'With a narrower beam the largest path@k would be cut short.',
      },
    );
  }
  if (count === 'ark') checkArkCount({ horizon, beamWidth });
  const askable = samples.filter(({ task }) => graph.degree(task.start) > 0);
  const attempts = await answerTasks(
    count === 'ark' ? keepingArkBeam(agent) : agent,
    askable.map(({ task }) => task),
    { batchSize: settings.batchSize, ...(onProgress && { onProgress }), ...(signal && { signal }) },
  );
  const attemptOf = new Map<WalkSample, Attempt>(askable.map((sample, i) => [sample, attempts[i]!]));
  const context = { graph, walked: walks.graph, beamWidth, seenTargets, withArk: count === 'ark' };
  const rows = samples.map((sample) => outcomeOf(sample, attemptOf.get(sample), context));
  const answers = samples.map((sample) => {
    const attempt = attemptOf.get(sample);
    return attempt && 'answer' in attempt ? attempt.answer : undefined;
  });
  const failures = askable.flatMap(({ task }, i) => {
    const attempt = attempts[i]!;
    return 'failure' in attempt ? [{ id: task.id, message: attempt.failure }] : [];
  });

  const { hashes, ...rest } = about;
  const reasons = missReasons.filter((reason) => walks.selection || reason !== 'gold-edge-cut');
  const misses = reasons.map((reason) => [reason, rows.filter(({ miss }) => miss === reason).length] as const);
  const record: EvaluationRecord = {
    schemaVersion: 1,
    agent: agent.name,
    ...(agent.note !== undefined && { note: agent.note }),
    ...rest,
    graph: graph.name,
    n: samples.length,
    beamWidth,
    twoHopBonus: settings.twoHopBonus,
    count,
    coverage: coverageOf(samples, walks, horizon),
    ...(walks.selection && { edges: walks.selection }),
    misses: Object.fromEntries(misses),
    metrics: summarise(rows, settings),
    slices: summariseSlices(rows, settings),
    cost: totalCost(answers),
    hashes: { graph: graph.hash, ...hashes },
    ...(settings.examples > 0 && { examples: exampleWalks(samples, answers, graph, settings.examples) }),
  };
  return { record, rows, answers, failures };
}

function totalCost(answers: readonly (Answer | undefined)[]): EvaluationCost {
  const total: Record<string, number> = {};
  for (const answer of answers) {
    for (const [figure, count] of Object.entries(answer?.cost ?? {})) total[figure] = (total[figure] ?? 0) + count;
  }
  return total;
}
