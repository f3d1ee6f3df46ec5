/**
 * The seal of an evaluation: `seal.json` names the sha256 of each of its files, so that an altered file, or one of
 * another evaluation, is found.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from './errors.js';
import { sha256FileSync, writeFileAtomic } from './files.js';
import { openObject, readJsonFile } from './read-json.js';
import { evaluationFiles } from './run-files.js';

/** All but the clock, what is under way, pages, and completions: their order is that of the calls, and each line has its checksum. */
const sealed = ['asked', 'answers', 'traces', 'rows', 'provenance', 'evaluation'] as const;
type Sealed = (typeof sealed)[number];

const sealRecord = openObject({ schemaVersion: z.literal(1), sha256: z.record(z.string(), z.string()) });

/**
 * Seals an evaluation whose record is about to be written: that comes last, for where it is, the evaluation is complete.
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
