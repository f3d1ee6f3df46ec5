/** `kgwalk datasets import`: from the files of a release to a data set. */
import { stderr } from 'node:process';
import type { DatasetKind } from '../datasets/imported-dataset.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { TaskName } from '../tasks/index.js';
import { printable } from '../src/run/printable.js';
import { terminalProgress } from '../src/run/progress.js';
import { printShown } from './output.js';

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
  const { loadTask } = await import('../tasks/index.js');
  if (allowOverlap && format !== 'triples') {
    throw new WorkbenchError('usage', `expected --allow-overlap with triples, got it with ${printable(format, 80)}`, {
      hint: 'Splits of links alone are held against each other.',
    });
  }
  const options = { from, name, progress: terminalProgress(stderr), allowOverlap, labels };
  const importers: Record<string, { kind: TaskName; run(given: typeof options): Promise<unknown> }> = {
    opendialkg: { kind: 'dialogues', run: (await import('../datasets/opendialkg/import.js')).importOpenDialKg },
    ...Object.fromEntries(
      Object.entries(questionImporters).map(([key, { run }]) => [key, { kind: 'questions' as const, run }]),
    ),
    triples: { kind: 'links', run: (await import('../datasets/links/import-links.js')).importLinks },
  };
  const importer = Object.hasOwn(importers, format) ? importers[format] : undefined;
  if (!importer) {
    const formats = Object.keys(importers).join(', ');
    throw new WorkbenchError('usage', `expected a format (${formats}), got "${printable(format, 80)}"`, {
      hint: 'Other data in the shape of one of these: import it as that format, with --name NAME.',
    });
  }
  const manifest = await importer.run(options);
  printShown((await loadTask(importer.kind)).imported(manifest as never), json);
}

const importPrinters: Record<DatasetKind, (manifest: never) => void> = {
  dialogues: printDialogueImport,
  questions: printQuestionImport,
  links: printLinkImport,
};
