/** `kgwalk datasets check`: compares a data set with its import, and checks runs and evaluations for leaks. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { LeakCheck } from '../tasks/task.js';
import { printJson, printLine, printShown } from './output.js';

interface CheckFlags {
  run?: string;
  split?: string;
  evaluations?: string;
  json?: boolean;
}

/** Adds `check` to the `datasets` commands. */
export function registerCheck(datasets: Command): void {
  datasets
    .command('check <name>')
    .description(
      'compare files, hashes and counts with what was imported; with --run, check whether a split leaked into a run or an evaluation',
    )
    .option('--run <run>', 'a run, or the folder of an evaluation, whose sources to check')
    .option('--split <split>', 'with --run: the split that must be unseen (default: test; for an evaluation, its own)')
    .option(
      '--evaluations <dir>',
      'with --run: where evaluations outside run folders are kept (default: runs/evaluations)',
    )
    .option('--json', 'print the problems, or all that was found, as JSON')
    .action(check);
}

async function check(name: string, { run, split, evaluations, json = false }: CheckFlags): Promise<void> {
  const { checkDataset } = await import('../datasets/dataset.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  if (run !== undefined) {
    const task = await loadTask(datasetKind(name));
    const found = await task.leaks(name, await checkedOf(run, evaluations), split);
    printShown(found, json);
    return throwIfFound(found);
  }
  if (split !== undefined) {
    throw new WorkbenchError('usage', 'expected --run with --split, got --split alone', {
      hint: 'Without a run the whole data set is checked.',
    });
  }
  const { files, problems } = await checkDataset(name);
  if (json) printJson({ name, problems });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (json) return;
  printLine(`${name}: ${files} files as imported`);
}

/** @throws WorkbenchError `usage` for a name that is neither a run nor an evaluation */
async function checkedOf(name: string, evaluations: string | undefined) {
  const { findRun } = await import('../tasks/named-runs.js');
  const { foundEvaluation } = await import('../evaluation/keep.js');
  const found = findRun(name);
  if (found) return { run: found.run, evaluations };
  const folder = foundEvaluation(name, evaluations, 'begun');
  if (folder !== undefined) return { folder };
  throw new WorkbenchError('usage', `expected a run or an evaluation, got "${name}", at --run`, {
    hint: 'The runs there are: `kgwalk runs list`.',
  });
}

/** @throws WorkbenchError `data` if a leak is found, or something has no provenance record */
function throwIfFound({ split, found, unknown }: LeakCheck): void {
  if (found.length > 0) {
    throw new WorkbenchError('data', `expected no trace of ${split}, got ${found.join('; ')}`, {
      hint: 'Scores on this split say less than they seem to.',
    });
  }
  if (unknown.length > 0) {
    throw new WorkbenchError(
      'data',
      `expected notes of what everything was made from, got none of ${unknown.join(', ')}`,
      { hint: 'Versions before this one kept none: train or evaluate again.' },
    );
  }
}
