/** Keeps an evaluation in the folder of its run. */
import { join } from 'node:path';
import { writeFileAtomic } from '../src/run/files.js';
import type { ProvenanceNotes } from '../src/run/provenance.js';
import { runFiles } from '../src/run/run-folder.js';
import type { Evaluation } from './evaluate.js';
import { writeRowsArrow } from './rows-file.js';

/**
 * Writes `evaluations/<name>.json` (the record) and `<name>.arrow` (its rows); an earlier one of the name is replaced.
 * No wall clock, so equal evaluations have equal bytes.
 * @param runFolder folder of the run
 * @param name such as `valid-best`
 * @param notes what the agent was made from, into `evaluations/provenance/<name>.json`
 * @returns path of the record
 */
export async function saveEvaluation(
  runFolder: string,
  name: string,
  { record, rows }: Pick<Evaluation, 'record' | 'rows'>,
  notes?: ProvenanceNotes,
): Promise<string> {
  const { evaluations } = runFiles(runFolder);
  const base = join(evaluations, name);
  notes?.write(evaluationProvenance(evaluations, name));
  await writeRowsArrow(`${base}.arrow`, rows);
  writeFileAtomic(`${base}.json`, `${JSON.stringify(record, null, 2)}\n`);
  return `${base}.json`;
}

/** Where a run's evaluation of dialogues keeps what its agent was made from. */
export const evaluationProvenance = (evaluations: string, name: string): string =>
  join(evaluations, 'provenance', `${name}.json`);
