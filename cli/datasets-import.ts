/** `kgwalk datasets import`: from the files of a release to a data set. */
import { stderr } from 'node:process';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { terminalProgress } from '../src/run/progress.js';
import { printDialogueImport } from './dialogues/dataset-tables.js';
import { printJson } from './output.js';
import { printQuestionImport } from './questions/dataset-tables.js';

/** The options of `kgwalk datasets import`. */
export interface ImportFlags {
  from: string;
  name?: string;
  labels: boolean;
  json?: boolean;
}

/** Imports a release and prints what came of it. @throws WorkbenchError `usage` for a format that is not known, what its importer throws */
export async function importRelease(format: string, { from, name = format, labels, json }: ImportFlags): Promise<void> {
  const { questionImporters } = await import('../datasets/questions/importers.js');
  const options = { from, name, progress: terminalProgress(stderr) };
  if (format === 'opendialkg') {
    const { importOpenDialKg } = await import('../datasets/opendialkg/import.js');
    const manifest = await importOpenDialKg(options);
    if (json) printJson(manifest);
    else printDialogueImport(manifest);
    return;
  }
  const importer = Object.hasOwn(questionImporters, format) ? questionImporters[format] : undefined;
  if (!importer) {
    const formats = ['opendialkg', ...Object.keys(questionImporters)].join(', ');
    throw new WorkbenchError('usage', `expected a format (${formats}), got "${printable(format, 80)}"`, {
      hint: 'Other data in the shape of one of these: import it as that format, with --name NAME.',
    });
  }
  const manifest = await importer.run({ ...options, labels });
  if (json) printJson(manifest);
  else printQuestionImport(manifest);
}
