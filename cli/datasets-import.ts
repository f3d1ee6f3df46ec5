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
  unseen?: number;
  unseenRelations?: number;
  json?: boolean;
}

/**
 * Imports a release and prints a summary. @throws WorkbenchError `usage` for an unknown format, and what its importer
 * throws
 */
export async function importRelease(format: string, flags: ImportFlags): Promise<void> {
  const { from, name, labels, allowOverlap = false, unseen, unseenRelations, json } = flags;
  const { importerOf, importers } = await import('../datasets/importers.js');
  const { loadTask } = await import('../tasks/index.js');
  const idle = allowOverlap ? '--allow-overlap' : unseen !== undefined ? '--unseen' : undefined;
  if (idle !== undefined && !importers.some(({ name, mayOverlap }) => name === format && mayOverlap)) {
    throw new WorkbenchError('usage', `expected ${idle} with triples, got it with ${printable(format, 80)}`, {
      hint: 'Links alone have splits that are held against each other, and entities that can be drawn apart.',
    });
  }
  if (unseenRelations !== undefined && unseen === undefined) {
    throw new WorkbenchError('usage', 'expected --unseen with --unseen-relations, got it alone', {
      hint: 'Relations are drawn apart with entities: --unseen 0.33 --unseen-relations 0.25.',
    });
  }
  const importer = importerOf(format);
  const manifest = await importer.import({
    from,
    name: name ?? importer.nameOf?.(from) ?? format,
    progress: commandProgress(),
    allowOverlap,
    ...(unseen !== undefined && { unseen }),
    ...(unseenRelations !== undefined && { unseenRelations }),
    labels,
  });
  printShown((await loadTask(importer.kind)).imported(manifest as never), json);
}

/** @throws WorkbenchError `usage` for anything but a number between 0 and 1 */
export const shareOf =
  (flag: string) =>
  (text: string): number => {
    const share = Number(text);
    if (text.trim() !== '' && share > 0 && share < 1) return share;
    throw new WorkbenchError('usage', `expected a share between 0 and 1, got "${printable(text, 80)}", at ${flag}`, {
      hint: `Such as ${flag} 0.33.`,
    });
  };
