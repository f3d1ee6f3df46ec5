/** Record of an evaluation of any task: written by evaluation, read by comparisons and reports. */
import { z } from 'zod';
import { estimate, figure } from './figures.js';
import { furtherKey, openObject, readJsonFile } from './read-json.js';
import { anyNumber } from './records.js';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { WorkbenchError } from './errors.js';
import { sha256FileSync, writeFileAtomic } from './files.js';
import { evaluationFiles } from './run-files.js';

const text = z.string();
const counts = z.record(text, anyNumber);
const metrics = z.record(text, estimate);
const cell = z.union([text, anyNumber]).optional();
const costShape = { mean: anyNumber, median: anyNumber, p95: anyNumber, max: anyNumber, total: anyNumber };

/** Findings in addition to the figures, in a form that tables and pages show for any task. */
const section = openObject({
  title: text,
  /** One line each. */
  lines: z.array(text).optional(),
  /** A table; numbers align right. */
  rows: z.array(z.record(text, cell)).optional(),
  /**
   * Points of a line, by x; y is a fraction in [0, 1]. A value holds until the next point, and in pages for all beyond the last one;
   * where the line is `smooth`, points are joined instead, and all evaluations have the same x.
   */
  curve: openObject({
    x: text,
    y: text,
    points: z.array(z.tuple([anyNumber, anyNumber])),
    smooth: z.boolean().optional(),
    caption: text.optional(),
  }).optional(),
  bars: z.array(openObject({ label: text, value: anyNumber, low: anyNumber, high: anyNumber })).optional(),
});
/** See `section`. */
export type Section = z.output<typeof section>;

/** A worked example in names. Tasks add further keys. */
const example = openObject({
  id: text,
  /** The question: lines of a dialogue, a question, or a query. */
  asked: z.array(text),
  gold: z.array(text),
  /** Answers, best first; `score` in words. */
  answers: z.array(openObject({ text, score: text.optional(), right: z.boolean().optional() })),
  right: z.boolean(),
  /** Facts behind the answer, notes and steps, a line each. */
  lines: z.array(text).optional(),
  /** Walks as [head, relation, tail] names, best first; of the gold, too. */
  walks: z.array(z.array(z.tuple([text, text, text]))).optional(),
  goldWalk: z.array(z.tuple([text, text, text])).optional(),
});
/** See `example`. */
export type Example = z.output<typeof example>;

/** Evaluation settings shared by all tasks; tasks add further settings. */
const about = {
  dataset: text,
  /** Labels shown with every score: `fixture`, `generated` … */
  labels: z.array(text).optional(),
  graph: text.optional(),
  split: text,
  /** Set if only a seeded sample was evaluated. */
  limit: anyNumber.optional(),
  seed: anyNumber.optional(),
  /** Times that each sample was asked, if more than one. */
  repeats: z.int().optional(),
  /** Model of a prompted agent; `simulated`: it uses the gold, and its results compare only among themselves. */
  model: text.optional(),
  simulated: z.boolean().optional(),
  /** Maximum calls per sample; null: no budget. */
  budget: anyNumber.nullable().optional(),
  budgetMode: z.enum(['strict', 'reference']).optional(),
  /** The agent's switches that differ from its defaults. */
  switches: z.record(text, furtherKey).optional(),
  /** Options that an untrained agent was opened from, by value: all of its switches, and settings of its encoder or embedding. */
  options: z.record(text, furtherKey).optional(),
  encoder: text.optional(),
};

/** The `about` section of an evaluation: samples, agent and settings. */
export const aboutEvaluation = openObject(about);
/** See `aboutEvaluation`; additional keys of a task are kept. */
export type AboutEvaluation = z.output<typeof aboutEvaluation>;

/** `evaluation.json`: one agent on one split. Failures count in every denominator. No wall clock. */
export const evaluationRecord = openObject({
  schemaVersion: z.literal(2),
  task: text,
  agent: text,
  /** A note shown with the numbers, such as "uses entity counts". */
  note: text.optional(),
  /** Trained agents: name of the run, and `best`, `last`, `clone` or a step. */
  run: text.optional(),
  checkpoint: text.optional(),
  /** Phase and step of that checkpoint: `best` may be the clone. */
  phase: text.optional(),
  step: anyNumber.optional(),
  ...about,
  /** Declarations of the figures in `metrics`, in table order. */
  figures: z.array(figure),
  /** Bootstrap clusters of the intervals: `dialogues`, `questions`. */
  clusters: text,
  /** Samples in the denominator, and excluded ones by reason. */
  n: z.int().min(0),
  excluded: counts,
  metrics,
  /** Upper bound of each figure for any agent, such as what walks within the horizon can reach. */
  bounds: z.record(text, anyNumber).optional(),
  /** By `name=value`: `hops=1`, `direction=tail`, `subset=2-hop` … */
  slices: z.record(text, metrics),
  /** Missed samples by reason. */
  misses: counts,
  /** Cost per sample: `calls`, `promptTokens`, `encodes`, `graphReads` … */
  cost: z.record(text, openObject(costShape)),
  hashes: z.record(text, text),
  /** Further counts of the task, for programs. */
  details: z.record(text, furtherKey),
  /** The same for readers. */
  sections: z.array(section),
  examples: z.array(example),
});
/** See `evaluationRecord`. */
export type EvaluationRecord = z.output<typeof evaluationRecord>;

const titles: ReadonlyMap<string, string> = new Map([
  ['random', 'random walk'],
  ['frequency', 'most frequent'],
  ['transe', 'TransE'],
  ['distmult', 'DistMult'],
  ['complex', 'ComplEx'],
]);

/** Title of an agent or phase in the terminal and on pages, such as `random walk` for `random`; most are their own. */
export const agentTitle = (name: string): string => titles.get(name) ?? name;

/** `a seeded sample of 500`, and how many questions each is asked for where these are more; empty if all were evaluated. */
export function sampleText({ limit, n, repeats = 1 }: Pick<EvaluationRecord, 'limit' | 'n' | 'repeats'>): string {
  if (limit === undefined) return '';
  const each = n / limit / repeats;
  return `a seeded sample of ${limit}${each > 1 ? `, ${each} questions each` : ''}`;
}

/** All but the clock, what is under way, pages, and completions: their order is that of the calls, and each line has its checksum. */
const sealed = ['asked', 'answers', 'traces', 'rows', 'provenance', 'evaluation'] as const;
type Sealed = (typeof sealed)[number];

const sealRecord = openObject({ schemaVersion: z.literal(1), sha256: z.record(z.string(), z.string()) });

/**
 * Seals an evaluation by the sha256 of each of its files, so that an altered file, or one of another evaluation, is found. Its
 * record is about to be written: that comes last, for where it is, the evaluation is complete.
 * @param record the text of `evaluation.json`
 */
export function sealEvaluation(folder: string, record: string | Uint8Array): void {
  const files = evaluationFiles(folder);
  const there = sealed.filter((name) => name !== 'evaluation' && existsSync(files[name]));
  const sha256 = Object.fromEntries(there.map((name) => [basename(files[name]), hashOf(files[name])]));
  sha256[basename(files.evaluation)] = createHash('sha256').update(record).digest('hex');
  writeFileAtomic(files.seal, `${JSON.stringify({ schemaVersion: 1, sha256 }, null, 2)}\n`);
}

/**
 * Compares files of a finished evaluation with its seal; missing ones are the reader’s concern.
 * @param names default: all that are sealed
 * @throws WorkbenchError `data` without a seal, and for the first file that was altered or is of another evaluation
 */
export function checkEvaluationSeal(folder: string, names: readonly Sealed[] = sealed): void {
  const files = evaluationFiles(folder);
  const { sha256 } = readJsonFile(files.seal, sealRecord, 'the seal of an evaluation');
  for (const name of names) {
    const [file, known] = [files[name], sha256[basename(files[name])]];
    if (!existsSync(file)) continue;
    const found = hashOf(file);
    if (found === known) continue;
    const wanted = `the file that the evaluation was sealed with (${known?.slice(0, 8) ?? 'none'})`;
    throw new WorkbenchError('data', `expected ${wanted}, got ${found.slice(0, 8)}, at ${file}`, {
      hint: 'It was put there from elsewhere, or altered: put it back, or run the same `kgwalk evaluate` again, which evaluates from scratch.',
    });
  }
}

const hashOf = (file: string) => sha256FileSync(file, 'a file of an evaluation');
