/** Names of the files in a run folder and in the folder of an evaluation. */
import { join } from 'node:path';

/** Paths inside a run; folders are created on first use. */
export function runFiles(folder: string) {
  return {
    config: join(folder, 'config.yaml'),
    environment: join(folder, 'environment.json'),
    state: join(folder, 'state.json'),
    provenance: join(folder, 'provenance.json'),
    /** Record of an imitated agent: source of the walks, and their cost. */
    teacher: join(folder, 'teacher.json'),
    metrics: join(folder, 'metrics.jsonl'),
    metricsArrow: join(folder, 'metrics.arrow'),
    timing: join(folder, 'timing.jsonl'),
    tensorboard: join(folder, 'tensorboard'),
    embeddings: join(folder, 'embeddings'),
    checkpoints: join(folder, 'checkpoints'),
    evaluations: join(folder, 'evaluations'),
    report: join(folder, 'report'),
  };
}

/** Files of one evaluation. All but `timing` have equal bytes for equal evaluations. */
export function evaluationFiles(folder: string) {
  return {
    /** Request: everything that determines the result. */
    asked: join(folder, 'asked.json'),
    /** Rows of a running evaluation, in completion order. */
    partial: join(folder, 'answers.part.jsonl'),
    completions: join(folder, 'completions.jsonl'),
    answers: join(folder, 'answers.jsonl'),
    /** Traces: one list of events per sample. */
    traces: join(folder, 'traces.jsonl'),
    rows: join(folder, 'rows.arrow'),
    /** Provenance of the agent's tables and memories. */
    provenance: join(folder, 'provenance.json'),
    /** sha256 of the other files, except completions. */
    seal: join(folder, 'seal.json'),
    /** The record, written last: an evaluation with it is complete. */
    evaluation: join(folder, 'evaluation.json'),
    timing: join(folder, 'timing.jsonl'),
    report: join(folder, 'report'),
  };
}

/** Paths of an evaluation's files. */
export type EvaluationFiles = ReturnType<typeof evaluationFiles>;
