/** Where an evaluation of questions keeps what: evaluation writes it, replay and reports read it. */
import { join } from 'node:path';

/** The files of one evaluation. All but `timing` are equal bytes for equal evaluations. */
export function evaluationFiles(folder: string) {
  return {
    about: join(folder, 'about.json'),
    /** What the model wrote, as it came. */
    completions: join(folder, 'completions.jsonl'),
    /** A row a question. */
    answers: join(folder, 'answers.jsonl'),
    /** What the agent did, an event list a question. */
    traces: join(folder, 'traces.jsonl'),
    /** Some questions worked out in names, for reports. */
    examples: join(folder, 'examples.jsonl'),
    rows: join(folder, 'rows.arrow'),
    /** What the agent's tables and memories were made from. */
    provenance: join(folder, 'provenance.json'),
    /** The record, written last: where it is, the evaluation is complete. */
    evaluation: join(folder, 'evaluation.json'),
    timing: join(folder, 'timing.jsonl'),
    report: join(folder, 'report'),
  };
}

/** Paths of an evaluation's files, by what they hold. */
export type EvaluationFiles = ReturnType<typeof evaluationFiles>;
