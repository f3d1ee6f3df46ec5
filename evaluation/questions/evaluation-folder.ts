/**
 * The folder of one evaluation of questions. Its name follows from what is asked, so that the same command finds it again:
 * what a killed one had asked is not asked again.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { configHash } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { evaluationFiles, type EvaluationFiles } from '../../src/run/run-folder.js';
import {
  questionAbout,
  questionEvaluationRecord,
  questionHashes,
  questionRow,
} from '../../src/run/evaluation-schemas.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { confined, runsFolder } from '../../src/run/locations.js';
import type { QuestionRow } from '../../src/run/question-records.js';
import { asWritten, openObject, readJsonFile } from '../../src/run/read-json.js';
import type { QuestionAbout, QuestionEvaluationRecord } from '../../src/run/records.js';
import { lockFolder } from '../../src/run/run-lock.js';

export { evaluationFiles, type EvaluationFiles };

/** `about.json`: everything that decides the result, and what a replay opens. */
export interface AskedEvaluation {
  schemaVersion: 1;
  kind: 'question-evaluation';
  /** Name of the agent; of a trained one, the name or folder of its run stands beside it. */
  agent: string;
  run?: string;
  checkpoint?: string;
  about: QuestionAbout;
  /** Text vectors as they were asked for: a file, or `hashed:DIM`. */
  encoder?: string;
  /** `LanguageModel.id`. */
  modelId?: string;
  hopsGiven: boolean;
  resamples: number;
  hashes: Omit<QuestionEvaluationRecord['hashes'], 'model'>;
}

/** Where evaluations lie. */
export function evaluationsFolder(): string {
  return join(runsFolder(), 'evaluations');
}

/** `fiske-metaqa-2-hop-dev-valid-1a2b3c4d`: agent, data and split, and a hash of all that is asked but not where it lies. */
export function evaluationName(asked: AskedEvaluation): string {
  const { dataset, subsets, split } = asked.about;
  const words = [asked.checkpoint === undefined ? asked.agent : `${asked.run ?? asked.agent}@${asked.checkpoint}`];
  words.push(dataset, ...(subsets.length > 3 ? [] : subsets), split);
  const plain = words
    .map((word) =>
      word
        .replace(/[^\w.@-]+/g, '-')
        .replace(/^-+/, '')
        .slice(-60),
    )
    .join('-');
  const { run: _run, encoder: _encoder, ...decides } = asked;
  return `${plain}-${configHash(decides).slice(0, 8)}`;
}

/** An evaluation that this process writes. */
export interface EvaluationFolder {
  folder: string;
  files: EvaluationFiles;
  /** Whether it was begun before. */
  resumed: boolean;
  /** Lets other processes write it. */
  close(): void;
}

/**
 * Begins an evaluation in its folder, or goes on with the one there, and locks it.
 * @param root default `evaluationsFolder()`
 * @throws WorkbenchError `usage` when another process writes it, `failure` where nothing can be written
 */
export function openEvaluationFolder(asked: AskedEvaluation, root = evaluationsFolder()): EvaluationFolder {
  const folder = resolve(root, evaluationName(asked));
  const files = evaluationFiles(folder);
  const close = lockFolder(folder);
  try {
    const resumed = existsSync(files.about);
    if (!resumed) writeFileAtomic(files.about, `${JSON.stringify(asked, null, 2)}\n`);
    return { folder, files, resumed, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * What an evaluation asked.
 * @param nameOrFolder a folder, or a name inside `root`
 * @throws WorkbenchError `data` when there is no evaluation or its description is broken
 */
export function readAsked(nameOrFolder: string, root = evaluationsFolder()): AskedEvaluation & { folder: string } {
  const isFolder = existsSync(evaluationFiles(nameOrFolder).about) || /[/\\]/.test(nameOrFolder);
  const folder = resolve(isFolder ? nameOrFolder : confined(root, nameOrFolder));
  const { about } = evaluationFiles(folder);
  if (!existsSync(about)) {
    throw new WorkbenchError('data', `expected an evaluation of questions, got none, at ${folder}`, {
      hint: `Evaluations lie in ${root}; \`kgwalk evaluate\` says where it saved one.`,
    });
  }
  return { ...readJsonFile(about, askedEvaluation, 'what an evaluation of this version asked'), folder };
}

// A replay compares bytes, and the order of these keys shows in them.
const askedEvaluation: z.ZodType<AskedEvaluation> = asWritten(
  openObject({
    schemaVersion: z.literal(1),
    kind: z.literal('question-evaluation'),
    agent: z.string(),
    run: z.string().optional(),
    checkpoint: z.string().optional(),
    about: questionAbout,
    encoder: z.string().optional(),
    modelId: z.string().optional(),
    hopsGiven: z.boolean(),
    resamples: z.int().min(0),
    hashes: questionHashes,
  }),
);

/** The folder of a finished evaluation, given it or its name; undefined where there is none. */
export function finishedFolder(nameOrFolder: string, root = evaluationsFolder()): string | undefined {
  return folderWith('evaluation', nameOrFolder, root);
}

/** Whether a name or folder is that of a finished evaluation. */
export function isFinished(nameOrFolder: string, root = evaluationsFolder()): boolean {
  return finishedFolder(nameOrFolder, root) !== undefined;
}

/** Whether it is that of an evaluation at all, finished or not. */
export function isBegun(nameOrFolder: string, root = evaluationsFolder()): boolean {
  return folderWith('about', nameOrFolder, root) !== undefined;
}

function folderWith(file: keyof EvaluationFiles, nameOrFolder: string, root: string): string | undefined {
  return [resolve(nameOrFolder), resolve(root, nameOrFolder)].find((folder) =>
    existsSync(evaluationFiles(folder)[file]),
  );
}

/**
 * A finished evaluation.
 * @throws WorkbenchError `data` where there is none, or it is not finished
 */
export function readEvaluation(
  nameOrFolder: string,
  root = evaluationsFolder(),
): { folder: string; record: QuestionEvaluationRecord; rows: QuestionRow[] } {
  const { folder } = readAsked(nameOrFolder, root);
  const files = evaluationFiles(folder);
  if (!existsSync(files.evaluation)) {
    throw new WorkbenchError('data', `expected a finished evaluation, got one that was stopped, at ${folder}`, {
      hint: 'Run the same `kgwalk evaluate` again: it goes on where it ended.',
    });
  }
  const record = readJsonFile(files.evaluation, questionEvaluationRecord, 'an evaluation of questions');
  const rows = readJsonLines(files.answers, questionRow);
  if (rows.length === record.n) return { folder, record, rows };
  throw new WorkbenchError('data', `expected ${record.n} rows, got ${rows.length}, at ${files.answers}`, {
    hint: 'Run the same `kgwalk evaluate` again: it counts anew from what the model wrote.',
  });
}
