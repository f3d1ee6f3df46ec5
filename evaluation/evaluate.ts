/** Runs an agent over samples and counts: failures are in every denominator. */
import type { TraceEvent } from '../agents/question-agent.js';
import type { CallRecord } from '../src/llm/client/create-clients.js';
import { spreadOf } from '../src/metrics/ranks.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { AboutEvaluation, EvaluationRecord, Example } from '../src/run/evaluation.js';
import { numberText } from '../src/run/figures.js';
import type { Progress } from '../src/run/progress.js';
import { countOfEvaluated } from '../src/metrics/intervals.js';
import { Rng } from '../src/run/seeds.js';
import { noCalls } from './ask.js';
import { allFigures, columnsOf, metricsOf, slicesOf } from './figures.js';
import { repeatsSection } from './repeats.js';
import { lostReplies } from './replies.js';
import type { AgentRunner, AskOptions, Attempt, Row, Sample, Scorer } from './score.js';

/** Fields of the record other than figures. */
export interface EvaluationSubject {
  task: string;
  /** Default its own name. */
  agent?: string;
  run?: string | undefined;
  checkpoint?: string | undefined;
  phase?: string | undefined;
  step?: number | undefined;
  about: AboutEvaluation;
  hashes: Readonly<Record<string, string>>;
  /** Bootstrap resamples behind every interval. */
  resamples: number;
}

/** Options of an evaluation. */
export interface EvaluateOptions<S extends Sample, Answer, R extends Row> extends Partial<AskOptions> {
  subject: EvaluationSubject;
  /** Samples that are not asked, by reason. */
  excluded?: Readonly<Record<string, number>>;
  /** Rows by id from an interrupted evaluation: these samples are not evaluated again. */
  known?: ReadonlyMap<string, KnownRow<R>>;
  /** Samples to keep worked out. Default 12. */
  examples?: number;
  /** Called with every row as it comes, and with what it was made of; known rows first, without. */
  onRow?: (row: R, sample: S, attempt: Attempt<Answer> | undefined) => void;
}

/** Trace of an agent on one sample, for `traces.jsonl`. */
export type Traced = { trace: readonly TraceEvent[]; calls: readonly CallRecord[] };

/** A row that was counted earlier, with what the agent did, and the message of what it threw. */
export type KnownRow<R extends Row> = { row: R; traced: Traced; failure?: string | undefined };

/** The record with everything that it was summed up from. */
export interface Evaluation<R extends Row> {
  record: EvaluationRecord;
  /** One a sample, in order. */
  rows: R[];
  /** One a sample; empty lists for agents that trace nothing. */
  traced: Traced[];
  /** Message of each task that made the agent throw. */
  failures: { id: string; message: string }[];
}

/** So many times as many samples as are shown are looked at for examples: some have nothing to show. */
const lookedAt = 4;

/**
 * Evaluates an agent: one row per sample, failures included. The agent sees tasks, never gold.
 * @throws WorkbenchError `data` without samples; see `AgentRunner.ask`
 */
export async function evaluate<S extends Sample, Answer, R extends Row>(
  runner: AgentRunner<S['task'], Answer>,
  samples: readonly S[],
  scorer: Scorer<S, Answer, R>,
  options: EvaluateOptions<S, Answer, R>,
): Promise<Evaluation<R>> {
  const { subject, known, examples: shown = 12, onRow } = options;
  const { dataset, split } = subject.about;
  if (samples.length === 0) {
    throw new WorkbenchError('data', `expected samples, got none, at split ${split} of ${dataset}`);
  }
  const shuffled = Rng.named(0, 'evaluation/examples').shuffle(samples.map((_, i) => i));
  const candidates = scorer.exampleOf ? shuffled.slice(0, lookedAt * shown) : [];
  const isCandidate = new Set(candidates);
  const rows = new Array<R>(samples.length);
  const traced = Array.from(samples, (): Traced => ({ trace: [], calls: [] }));
  const examples = new Map<number, Example>();
  const failures = new Map<number, string>();

  const asked: number[] = [];
  samples.forEach((sample, i) => {
    const found = known?.get(sample.task.id);
    if (found === undefined || isCandidate.has(i)) return asked.push(i);
    rows[i] = found.row;
    traced[i] = found.traced;
    if (found.failure !== undefined) failures.set(i, found.failure);
    onRow?.(found.row, sample, undefined);
  });
  const take = (index: number, attempt: Attempt<Answer>) => {
    const i = asked[index]!;
    const sample = samples[i]!;
    const row = scorer.rowOf(sample, attempt);
    rows[i] = row;
    const { trace = [], calls = [] } = attempt;
    traced[i] = { trace, calls };
    if (attempt.failure !== undefined) failures.set(i, attempt.failure);
    const example = isCandidate.has(i) && scorer.exampleOf!(sample, attempt, row);
    if (example) examples.set(i, example);
    onRow?.(row, sample, attempt);
  };
  const { openCalls = noCalls, concurrency = 1, prepareFor, onPrepared, signal } = options;
  const tasks = asked.map((i) => samples[i]!.task);
  await runner.ask(tasks, take, { openCalls, concurrency, prepareFor, onPrepared, signal });
  samples.forEach((sample, i) => {
    if (rows[i]) return;
    const row = (rows[i] = scorer.rowOf(sample, undefined));
    onRow?.(row, sample, undefined);
  });
  const record = recordOf(runner, rows, scorer, options);
  record.examples = candidates.flatMap((i) => examples.get(i) ?? []).slice(0, shown);
  const failed = [...failures].sort(([a], [b]) => a - b);
  return { record, rows, traced, failures: failed.map(([i, message]) => ({ id: samples[i]!.task.id, message })) };
}

/** Options of a curve. */
export type CurveOptions = { line: Progress; signal?: AbortSignal | undefined };

/** Means of some figures, by `eval/…`, and how many samples they are of. Figures that are not counted are left out. */
export async function curveOf<S extends Sample, Answer, R extends Row>(
  runner: AgentRunner<S['task'], Answer>,
  samples: readonly S[],
  scorer: Pick<Scorer<S, Answer, R>, 'measure' | 'figures' | 'rowOf'>,
  keys: readonly string[],
  { line, signal }: CurveOptions,
): Promise<Record<string, number>> {
  const rows = new Array<R>(samples.length);
  let done = 0;
  const take = (index: number, attempt: Attempt<Answer>) => {
    rows[index] = scorer.rowOf(samples[index]!, attempt);
    line.update(++done);
  };
  const tasks = samples.map(({ task }) => task);
  await runner.ask(tasks, take, { openCalls: noCalls, concurrency: 1, signal });
  samples.forEach((sample, i) => (rows[i] ??= scorer.rowOf(sample, undefined)));
  const counted = scorer.figures.filter(({ key }) => keys.includes(key));
  const columns = columnsOf(scorer.measure, keys, rows);
  const means = keys.flatMap((key) => {
    const values = counted.some((figure) => figure.key === key) ? columns.get(key)?.values : undefined;
    return values ? [[`eval/${key}`, values.reduce((sum, value) => sum + value, 0) / values.length] as const] : [];
  });
  const [main] = counted;
  const value = main && Object.fromEntries(means)[`eval/${main.key}`];
  line.finish(value === undefined ? '' : `${main!.title} ${numberText(value, main!.unit)}`);
  return { ...Object.fromEntries(means), [countOfEvaluated]: samples.length };
}

function recordOf<S extends Sample, Answer, R extends Row>(
  { name, note }: Pick<AgentRunner<never, Answer>, 'name' | 'note'>,
  rows: readonly R[],
  { measure, figures: declared, missReasons, summary }: Scorer<S, Answer, R>,
  { subject, excluded = {} }: Pick<EvaluateOptions<S, Answer, R>, 'subject' | 'excluded'>,
): EvaluationRecord {
  const { task, agent = name, run, checkpoint, phase, step, about, hashes, resamples } = subject;
  const figures = allFigures(measure, declared);
  const metrics = metricsOf(measure, figures, rows, resamples);
  const misses = rows.flatMap(({ miss }) => miss ?? []);
  const { details, sections, bounds } = summary?.(rows) ?? { details: {}, sections: [], bounds: undefined };
  return {
    schemaVersion: 2,
    ...{ task, agent, note, run, checkpoint, phase, step, ...about },
    figures: figures.filter(({ key }) => metrics[key]),
    ...{ clusters: measure.clusters, n: rows.length, excluded: { ...excluded }, metrics, bounds },
    slices: slicesOf(measure, figures, rows, resamples),
    misses: countsOf(misses, missReasons),
    cost: costOf(rows.map((row) => measure.costOf(row))),
    ...{
      hashes: { ...hashes },
      details,
      sections: [...sections, ...repeatsSection(measure, figures[0]!, rows), ...lostReplies(metrics)],
      examples: [],
    },
  };
}

/** Number of occurrences of each word, in the order of `all` if given, else by word. */
export function countsOf(words: readonly string[], all?: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(
    (all ?? [...new Set(words)].sort()).map((word) => [word, 0]),
  );
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function costOf(costs: readonly object[]): EvaluationRecord['cost'] {
  const kinds = new Set(costs.flatMap((cost) => Object.keys(cost)));
  return Object.fromEntries(
    [...kinds].map((kind) => {
      const values = costs.map((cost) => (cost as Record<string, number | undefined>)[kind] ?? 0);
      return [kind, { ...spreadOf(values), total: values.reduce((sum, value) => sum + value, 0) }];
    }),
  );
}
