/** `kgwalk datasets import`: from the files of a release to a data set. */
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import { commandProgress } from './progress.js';
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
  const { from, name, labels, allowOverlap = false, json } = flags;
  const { importerOf, importers } = await import('../datasets/importers.js');
  const { loadTask } = await import('../tasks/index.js');
  if (allowOverlap && !importers.some(({ name, mayOverlap }) => name === format && mayOverlap)) {
    throw new WorkbenchError('usage', `expected --allow-overlap with triples, got it with ${printable(format, 80)}`, {
      hint: 'Splits of links alone are held against each other.',
    });
  }
  const importer = importerOf(format);
  const manifest = await importer.import({
    from,
    name: name ?? importer.nameOf?.(from) ?? format,
    progress: commandProgress(),
    allowOverlap,
    labels,
  });
  printShown((await loadTask(importer.kind)).imported(manifest as never), json);
}
