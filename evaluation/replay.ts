/** Runs a finished evaluation again from what its model wrote, and compares every byte. */
import { existsSync, readFileSync } from 'node:fs';
import { openCompletionStore, replayModel } from '../src/llm/client/completion-store.js';
import { createClients } from '../src/llm/client/create-clients.js';
import { WorkbenchError } from '../src/run/errors.js';
import { type EvaluateOptions, type Traced, evaluate } from './evaluate.js';
import {
  type AskedEvaluation,
  clientSettings,
  evaluationFiles,
  recordText,
  rowLine,
  subjectOf,
  traceLine,
  unfinished,
} from './keep.js';
import type { AgentRunner, AskOptions, Row, Sample, Scorer } from './score.js';
import { samplesOf } from './shards.js';

/** Outcome of a replay: equal bytes or not, and the first difference. */
export interface Replay<R extends Row> {
  /** Samples that were run again. */
  n: number;
  /** True if all compared files have equal bytes. */
  identical: boolean;
  /** Ids of samples whose row or trace differs, in order. */
  different: string[];
  /** The first of them: what stands in the file, and what came out now. */
  first?: { id: string; file: 'answers.jsonl' | 'traces.jsonl'; saved: string; replayed: string };
  /** Other files that differ; they are compared only where all samples were run. */
  differentFiles: string[];
  rows: R[];
  traced: Traced[];
}

/** Content of the evaluation, and the sample to rerun. */
export interface ReplayOptions<S extends Sample, Answer, R extends Row> extends Pick<
  EvaluateOptions<S, Answer, R>,
  'excluded' | 'examples' | 'signal' | 'onRow'
> {
  asked: AskedEvaluation & { folder: string };
  /** Id of a sample; with an agent that learns online all are run. Default all. */
  only?: string | undefined;
}

/**
 * @param all samples of the evaluation, in its order; of a shard those of the whole
 * @throws WorkbenchError `usage` for a sample that was not asked, `data` for files that are missing
 */
export async function replayEvaluation<S extends Sample, Answer, R extends Row>(
  runner: AgentRunner<S['task'], Answer>,
  all: readonly S[],
  scorer: Scorer<S, Answer, R>,
  { asked, only, ...options }: ReplayOptions<S, Answer, R>,
): Promise<Replay<R>> {
  const samples = samplesOf(all, asked.about);
  const files = evaluationFiles(asked.folder);
  const index = only === undefined ? -1 : samples.findIndex(({ task }) => task.id === only);
  if (only !== undefined && index < 0) {
    throw new WorkbenchError('usage', `expected a sample of the evaluation, got ${only}, at --question`, {
      hint: `Such as ${samples[0]!.task.id}.`,
    });
  }
  if (!existsSync(files.answers)) throw unfinished(asked.folder);
  const answers = savedLines(files.answers);
  const saved = { answers, traces: existsSync(files.traces) ? savedLines(files.traces) : undefined };
  const begin = index < 0 || runner.online ? 0 : index;
  // The order in which one that learns is asked hangs on how many there are.
  const part = index < 0 || runner.online ? samples : [samples[index]!];
  const calls = runner.prompted ? openReplayCalls(files.completions, asked) : undefined;
  try {
    // Prepared for all even where only some are asked: texts are encoded in the batches they were.
    const prepareFor = samples.map(({ task }) => task);
    const ask = { ...options, prepareFor, openCalls: calls?.openCalls, subject: subjectOf(asked) };
    const { record, rows, traced } = await evaluate(runner, part, scorer, ask);
    const [shown, end] = runner.online && index >= 0 ? [index, index + 1] : [0, part.length];
    const replay: Replay<R> = {
      ...{ n: rows.length, identical: true, different: [], differentFiles: [] },
      ...{ rows: rows.slice(shown, end), traced: traced.slice(shown, end) },
    };
    for (let i = shown; i < end; i++) {
      const { id } = rows[i]!;
      const now = { answers: rowLine(rows[i]!), traces: traceLine(id, traced[i]!) };
      const file = (['answers', 'traces'] as const).find((name) => saved[name] && saved[name][begin + i] !== now[name]);
      if (file === undefined) continue;
      replay.different.push(id);
      replay.first ??= { id, file: `${file}.jsonl`, saved: saved[file]![begin + i] ?? '', replayed: now[file] };
    }
    if (index < 0) {
      if (answers.length !== rows.length || (saved.traces && saved.traces.length !== rows.length))
        replay.differentFiles.push('answers.jsonl');
      if (readFileSync(files.evaluation, 'utf8') !== recordText(record)) replay.differentFiles.push('evaluation.json');
      const arrow = scorer.measure.arrow(rows);
      if (!readFileSync(files.rows).equals(arrow)) replay.differentFiles.push('rows.arrow');
    }
    return { ...replay, identical: replay.different.length === 0 && replay.differentFiles.length === 0 };
  } finally {
    calls?.close();
  }
}

/** Calls answered from the store of an evaluation, by a model that is not there. @throws WorkbenchError `data` where it is missing, broken or empty */
function openReplayCalls(file: string, asked: AskedEvaluation): Pick<AskOptions, 'openCalls'> & { close(): void } {
  const store = openCompletionStore(file, { readOnly: true });
  try {
    const clients = createClients({ ...clientSettings(asked), model: replayModel(store), store });
    return { openCalls: ({ id }) => clients.clientFor(id), close: () => store.close() };
  } catch (error) {
    store.close();
    throw error;
  }
}

const savedLines = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => `${line}\n`);
