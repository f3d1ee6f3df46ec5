/** `kgwalk datasets import`: from the files of a release to a data set. */
import { stderr } from 'node:process';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { terminalProgress } from '../src/run/progress.js';
import { printDialogueImport } from './dialogues/dataset-tables.js';
import { printLinkImport } from './links/dataset-tables.js';
import { printJson } from './output.js';
import { printQuestionImport } from './questions/dataset-tables.js';

/** The options of `kgwalk datasets import`. */
export interface ImportFlags {
  from: string;
  name?: string;
  labels: boolean;
  allowOverlap?: boolean;
  json?: boolean;
}

/** Imports a release and prints what came of it. @throws WorkbenchError `usage` for a format that is not known, what its importer throws */
export async function importRelease(format: string, flags: ImportFlags): Promise<void> {
  const { from, name = format, labels, allowOverlap = false, json } = flags;
  const { questionImporters } = await import('../datasets/questions/importers.js');
  const options = { from, name, progress: terminalProgress(stderr) };
  if (allowOverlap && format !== 'triples') {
    throw new WorkbenchError('usage', `expected --allow-overlap with triples, got it with ${printable(format, 80)}`, {
      hint: 'Splits of links alone are held against each other.',
    });
  }
  if (format === 'triples') {
    const { importLinks } = await import('../datasets/links/import-links.js');
    const manifest = await importLinks({ ...options, allowOverlap });
    if (json) printJson(manifest);
    else printLinkImport(manifest);
    return;
  }
  if (format === 'opendialkg') {
    const { importOpenDialKg } = await import('../datasets/opendialkg/import.js');
    const manifest = await importOpenDialKg(options);
    if (json) printJson(manifest);
    else printDialogueImport(manifest);
    return;
  }
  const importer = Object.hasOwn(questionImporters, format) ? questionImporters[format] : undefined;
  if (!importer) {
    const formats = ['opendialkg', ...Object.keys(questionImporters), 'triples'].join(', ');
    throw new WorkbenchError('usage', `expected a format (${formats}), got "${printable(format, 80)}"`, {
      hint: 'Other data in the shape of one of these: import it as that format, with --name NAME.',
    });
  }
  const manifest = await importer.run({ ...options, labels });
  if (json) printJson(manifest);
  else printQuestionImport(manifest);
}
