/** `remove` of `kgwalk runs`, `datasets` and `models`. */
import type { Command } from 'commander';
import { shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { Removal } from '../src/run/remove.js';
import { printJson, printLine, printNote } from './output.js';

interface Removable {
  /** Argument, such as `<run>`, and its description. */
  argument: string;
  about: string;
  description: string;
  remove(name: string): Promise<Removal>;
  /** True for a run that needs it, by the run's settings: a note names such runs. */
  isUsedBy?(name: string, config: Record<string, unknown>): boolean;
}

/** Adds `remove` to a group of commands. It wants `--yes`, as `cache clear` does, and prints what is gone and its size. */
export function addRemove(group: Command, { argument, about, description, remove, isUsedBy }: Removable): void {
  group
    .command('remove')
    .description(description)
    .argument(argument, about)
    .option('--yes', 'confirm the deletion')
    .option('--json', 'print its path and bytes as JSON')
    .action(async (name: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      if (!yes) throw new WorkbenchError('usage', `expected --yes to delete ${JSON.stringify(name)}`);
      const removal = await remove(name);
      const { removed, bytes } = removal;
      const size = bytes < 1e5 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`;
      if (json) printJson(removal);
      else printLine(`removed ${shownPath(removed)}: ${size}`);
      if (!isUsedBy) return;
      const { listRuns } = await import('../src/run/run-folder.js');
      const { runsFolder } = await import('../src/run/locations.js');
      const runs = listRuns(runsFolder()).flatMap((run) =>
        'config' in run && isUsedBy(name, run.config) ? [run.id] : [],
      );
      if (runs.length > 0) printNote(`needed by ${runs.slice(0, 5).join(', ')}${runs.length > 5 ? ' and others' : ''}`);
    });
}
