/** `kgwalk datasets check`: whether a data set is as imported, how far its annotators agree, and what runs know of it. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { AnyTask } from '../tasks/index.js';
import type { LeakCheck, Shown } from '../tasks/task.js';
import { printJson, printLine, printShown } from './output.js';
import { terminalWork } from './terminal.js';

interface CheckFlags {
  run?: string[];
  agreement?: boolean;
  picture?: string;
  split?: string;
  evaluations?: string;
  json?: boolean;
}

/** Adds `check` to the `datasets` commands. */
export function registerCheck(datasets: Command): void {
  datasets
    .command('check <name>')
    .description(
      'compare files, hashes and counts with what was imported, and say how far annotators agree where they were asked the same; with --run, check whether a split leaked into a run or an evaluation',
    )
    .option('--run <run>', 'a run, or the folder of an evaluation, whose sources to check', collect)
    .option(
      '--agreement',
      'with --run, which may be repeated: how far runs agree with annotators, on turns of dialogues that they did not learn from',
    )
    .option('--picture <file.png>', 'with --agreement: draw it, too')
    .option('--split <split>', 'with --run: the split that must be unseen (default: test; for an evaluation, its own)')
    .option(
      '--evaluations <dir>',
      'with --run: where evaluations outside run folders are kept (default: runs/evaluations)',
    )
    .option('--json', 'print the problems, or all that was found, as JSON')
    .action(check);
}

const collect = (value: string, before: string[] = []) => [...before, value];

async function check(
  name: string,
  { run = [], agreement, picture, split, evaluations, json = false }: CheckFlags,
): Promise<void> {
  const { checkDataset } = await import('../datasets/dataset.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  const taskOfData = () => loadTask(datasetKind(name));
  if (agreement) {
    const [flag] = Object.entries({ '--split': split, '--evaluations': evaluations }).flatMap(([name, value]) =>
      value === undefined ? [] : name,
    );
    if (flag !== undefined) {
      throw new WorkbenchError('usage', `expected --agreement or ${flag}, got both`, {
        hint: `Agreement is over all splits, of runs alone: leave out ${flag}, or --agreement to check for leaks.`,
      });
    }
    return agreeing(name, await taskOfData(), run, { picture, json });
  }
  if (picture !== undefined)
    throw new WorkbenchError('usage', 'expected --agreement with --picture, got --picture alone');
  const [first, ...more] = run;
  if (more.length > 0) {
    throw new WorkbenchError('usage', `expected one --run, got ${run.length}`, {
      hint: 'Leaks are checked of one run; --agreement takes several.',
    });
  }
  if (first !== undefined) {
    const found = await (await taskOfData()).leaks(name, await checkedOf(first, evaluations), split);
    printShown(found, json);
    return throwIfFound(found);
  }
  if (split !== undefined) {
    throw new WorkbenchError('usage', 'expected --run with --split, got --split alone', {
      hint: 'Without a run the whole data set is checked.',
    });
  }
  const { files, problems } = await checkDataset(name);
  const agreed = problems.length > 0 ? undefined : await (await taskOfData()).agreement?.(name, [], terminalWork());
  if (json) printJson({ name, problems, ...(agreed && { agreement: agreed.json }) });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (json) return;
  printLine(`${name}: ${files} files as imported`);
  if (agreed) {
    printLine();
    printShown(agreed, false);
  }
}

/** @throws WorkbenchError `usage` for what is no run, or a task that has no annotators to agree with */
async function agreeing(
  name: string,
  task: AnyTask,
  runs: readonly string[],
  { picture, json }: { picture: string | undefined; json: boolean },
): Promise<void> {
  const { resolve } = await import('../tasks/named.js');
  if (!task.agreement || runs.length === 0) {
    throw new WorkbenchError(
      'usage',
      `expected --run with --agreement on dialogues, got ${task.agreement ? 'none' : task.name}`,
      {
        hint: 'Without runs `kgwalk datasets check NAME` tells the agreement of annotators alone.',
      },
    );
  }
  const resolved = runs.map((run) => resolve(task, { name: run, isRun: true }, { checkpoint: 'best', set: [] }));
  const shown = await task.agreement(
    name,
    resolved.map((one) => ({ name: one.name, trained: one.trained! })),
    terminalWork(),
  );
  printShown(shown!, json);
  if (picture !== undefined) await drawInto(picture, name, shown!);
}

/** Draws the last bars that were found. */
async function drawInto(file: string, name: string, { sections }: Shown): Promise<void> {
  const { sectionBars } = await import('../reports/figures.js');
  const { pngOf } = await import('../reports/pictures.js');
  const { writeFileAtomic } = await import('../src/run/files.js');
  const found = sections.findLast(({ bars }) => bars)!;
  const turns = Object.keys(found.rows![0]!)[0]!;
  writeFileAtomic(file, await pngOf(sectionBars(found, `What the labels of ${name} allow: ${turns}, %`)!));
}

/** @throws WorkbenchError `usage` for what is neither a run nor an evaluation */
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

/** @throws WorkbenchError `data` where a leak is found, or something keeps no notes */
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
