/** What a report reads of evaluations on link queries: a file of a run's folder each, or a folder of their own. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { evaluationFiles } from '../src/run/evaluation-files.js';
import type { LinkEvaluationRecord } from '../src/run/link-records.js';
import { linkEvaluationRecord } from '../src/run/link-schemas.js';
import { openObject, readJsonFile } from '../src/run/read-json.js';
import { again } from './evaluation-data.js';

const kindSchema = openObject({ kind: z.string().optional() });

/** Whether a record on disk is of link queries. */
export function isOfLinks(file: string): boolean {
  return readJsonFile(file, kindSchema, 'an evaluation', again).kind === 'links';
}

/** @throws {WorkbenchError} `data` for a file that is broken */
export function readLinkEvaluation(file: string): LinkEvaluationRecord {
  return readJsonFile(file, linkEvaluationRecord, 'an evaluation on link queries', again);
}

/** Whether a folder holds an evaluation on link queries, rather than one on questions. */
export function isLinkFolder(folder: string): boolean {
  const { evaluation } = evaluationFiles(folder);
  return existsSync(evaluation) && isOfLinks(evaluation);
}

/** The record of such a folder. @throws {WorkbenchError} `data` for a file that is broken */
export function loadLinkEvaluation(folder: string): LinkEvaluationRecord {
  return readLinkEvaluation(evaluationFiles(folder).evaluation);
}
