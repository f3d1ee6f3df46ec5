/** `kgwalk datasets check`: whether a data set is as imported, and with `--run` whether a split leaked into a run. */
import type { Command } from 'commander';
import type { DatasetKind } from '../datasets/imported-dataset.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine } from './output.js';

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
      'compare files, hashes and counts with what was imported; with --run, look for leaks of a split into a run or an evaluation of questions',
    )
    .option('--run <run>', 'a run, or a folder of an evaluation of questions: what was it made from?')
    .option('--split <split>', 'with --run: the split that nothing may know (default: test; of an evaluation, its own)')
    .option('--evaluations <dir>', 'with --run: where evaluations of questions are kept (default: runs/evaluations)')
    .option('--json', 'print the problems, or all that was found, as JSON')
    .action(check);
}

async function check(name: string, { run, split, evaluations, json }: CheckFlags): Promise<void> {
  if (run !== undefined) {
    const { checkRun } = await import('./leaks/check-run.js');
    return checkRun(name, run, { split, evaluations, json: json ?? false });
  }
  if (split !== undefined) {
    throw new WorkbenchError('usage', 'expected --run with --split, got --split alone', {
      hint: 'Without a run the whole data set is checked.',
    });
  }
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { files, problems } = await checks[datasetKind(name)](name);
  if (json) printJson({ name, problems });
  if (problems.length > 0) {
    throw new WorkbenchError('data', problems.join('\n'), { hint: 'Import the data set again.' });
  }
  if (!json) printLine(`${name}: ${files} files as imported`);
}

async function checkDialogues(name: string) {
  const { loadDialogueDataset } = await import('../datasets/dialogues/dialogue-dataset.js');
  const { checkDialogueDataset } = await import('../datasets/dialogues/dialogue-dataset.js');
  const dataset = loadDialogueDataset(name);
  return { files: Object.keys(dataset.manifest.files).length, problems: await checkDialogueDataset(dataset) };
}

async function checkQuestions(name: string) {
  const { loadQuestionDataset } = await import('../datasets/questions/question-dataset.js');
  const { checkQuestionDataset } = await import('../datasets/questions/question-dataset.js');
  const dataset = loadQuestionDataset(name);
  return { files: Object.keys(dataset.manifest.files).length, problems: await checkQuestionDataset(dataset) };
}

async function checkLinks(name: string) {
  const { checkLinkDataset } = await import('../datasets/links/link-dataset.js');
  return checkLinkDataset(name);
}

const checks: Record<DatasetKind, (name: string) => Promise<{ files: number; problems: string[] }>> = {
  dialogues: checkDialogues,
  questions: checkQuestions,
  links: checkLinks,
};
