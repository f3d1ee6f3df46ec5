/** Runs a finished evaluation again from what its model wrote, and compares every byte. */
import { existsSync, readFileSync } from 'node:fs';
import type { QuestionAgent } from '../../agents/question-agent.js';
import type { QuestionSample } from '../../datasets/question.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { QuestionRow } from '../../src/run/question-records.js';
import type { EvaluationFiles } from './evaluation-folder.js';
import { evaluateQuestions, taskFor } from './evaluate-questions.js';
import type { EvaluateQuestionsOptions, QuestionEvaluation } from './evaluate-questions.js';
import { arrowOf, recordText, rowLine, traceLine } from './save-question-evaluation.js';

/** Whether an evaluation gave the same bytes again, and where it first did not. */
export interface Replay {
  /** Questions that were run again. */
  n: number;
  /** Whether all that was compared has equal bytes. */
  identical: boolean;
  /** Ids of questions whose row or trace differs, in order. */
  different: string[];
  /** The first of them: what stands in the file, and what came out now. */
  first?: { id: string; file: 'answers.jsonl' | 'traces.jsonl'; saved: string; replayed: string };
  /** Other files that differ; they are compared only where all questions were run. */
  differentFiles: string[];
  rows: QuestionRow[];
  attempts: QuestionEvaluation['attempts'];
}

/**
 * @param samples the questions of the evaluation, in its order
 * @param options as the evaluation had them, with `openCalls` of a replay
 * @param question run this one alone; with an agent that learns online, all before it too
 * @throws WorkbenchError `usage` for a question that was not asked, `data` for files that are missing
 */
export async function replayEvaluation(
  agent: QuestionAgent,
  samples: readonly QuestionSample[],
  files: EvaluationFiles,
  options: EvaluateQuestionsOptions,
  question?: string,
): Promise<Replay> {
  const saved = { answers: savedLines(files.answers), traces: savedLines(files.traces) };
  const index = question === undefined ? -1 : samples.findIndex(({ task }) => task.id === question);
  if (question !== undefined && index < 0) {
    throw new WorkbenchError('usage', `expected a question of the evaluation, got ${question}, at --question`, {
      hint: `Such as ${samples[0]!.task.id}.`,
    });
  }
  const begin = index < 0 || agent.online ? 0 : index;
  const end = index < 0 ? samples.length : index + 1;
  const all = preparedFor(agent, samples, options);
  const { record, rows, attempts } = await evaluateQuestions(all, samples.slice(begin, end), options);
  const shown = agent.online && index >= 0 ? index : 0;

  const replay: Replay = { n: rows.length, identical: true, different: [], differentFiles: [], rows: [], attempts: [] };
  for (let i = shown; i < rows.length; i++) {
    const { id } = rows[i]!;
    const now = { answers: rowLine(rows[i]!), traces: traceLine(id, attempts[i]!) };
    const file = (['answers', 'traces'] as const).find((name) => saved[name][begin + i] !== now[name]);
    if (file === undefined) continue;
    replay.different.push(id);
    replay.first ??= { id, file: `${file}.jsonl`, saved: saved[file][begin + i] ?? '', replayed: now[file] };
  }
  if (index < 0) {
    if (saved.answers.length !== rows.length || saved.traces.length !== rows.length)
      replay.differentFiles.push('answers.jsonl');
    if (readFileSync(files.evaluation, 'utf8') !== recordText(record)) replay.differentFiles.push('evaluation.json');
    if (!readFileSync(files.rows).equals(await arrowOf(rows))) replay.differentFiles.push('rows.arrow');
  }
  return {
    ...replay,
    identical: replay.different.length === 0 && replay.differentFiles.length === 0,
    rows: rows.slice(shown),
    attempts: attempts.slice(shown),
  };
}

/** The agent, prepared for all questions even where only some are asked: texts are encoded in the batches they were. */
function preparedFor(
  agent: QuestionAgent,
  samples: readonly QuestionSample[],
  { hopsGiven = true }: EvaluateQuestionsOptions,
): QuestionAgent {
  if (!agent.prepare) return agent;
  const { name, note, topicGiven, prompted, online = false } = agent;
  return {
    name,
    ...(note !== undefined && { note }),
    topicGiven,
    prompted,
    online,
    prepare: (_, signal) =>
      agent.prepare!(
        samples.map(({ task }) => taskFor(agent, task, hopsGiven)),
        signal,
      ),
    answer: (task, session) => agent.answer(task, session),
  };
}

/** Lines with their ends. */
function savedLines(file: string): string[] {
  if (!existsSync(file)) {
    throw new WorkbenchError('data', `expected a finished evaluation, got none, at ${file}`, {
      hint: 'Run the same `kgwalk evaluate` again: it goes on where it ended.',
    });
  }
  const lines = readFileSync(file, 'utf8').split('\n');
  lines.pop();
  return lines.map((line) => `${line}\n`);
}
