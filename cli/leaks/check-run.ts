/** `kgwalk datasets check NAME --run RUN`: reads what a run or an evaluation noted, and holds it against a split. */
import { datasetKind } from '../../datasets/imported-dataset.js';
import { leakReport } from '../../evaluation/leaks/leak-report.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printJson } from '../output.js';
import type { Checked } from './checked.js';
import { checkedDialogueRun } from './checked-dialogues.js';
import { checkedEvaluation, checkedQuestionRun } from './checked-questions.js';
import { checkLinkRun, printLinkLeaks } from './check-link-run.js';
import { printLeakReport } from './leak-tables.js';
import { findRun } from '../kind-of-work.js';
import { isBegun } from '../../evaluation/questions/evaluation-folder.js';

/** Options of the command. */
export interface CheckRunFlags {
  split: string | undefined;
  evaluations: string | undefined;
  json: boolean;
}

/** @throws WorkbenchError `data` where a leak is found, and for what is not there or does not belong together */
export async function checkRun(name: string, run: string, flags: CheckRunFlags): Promise<void> {
  if (datasetKind(name) === 'links') return checkOnLinks(name, run, flags);
  const checked = await open(name, run, flags);
  const report = leakReport({ dataset: name, ...checked });
  if (flags.json) printJson({ ...report, cannotExclude: checked.cannotExclude });
  else printLeakReport(report, checked);
  throwIfFound(report, [...report.unknown, ...report.notNoted]);
}

async function checkOnLinks(name: string, run: string, { split = 'test', json }: CheckRunFlags): Promise<void> {
  const found = findRun(run);
  if (!found) throw noRun(run, 'a run');
  const report = await checkLinkRun(name, found.run, split);
  if (json) printJson(report);
  else printLinkLeaks(report, found.run.id);
  throwIfFound(report, report.artifacts.length === 0 ? ['run'] : report.notNoted);
}

/** @param unknown what must have been made and keeps no notes */
function throwIfFound({ split, found }: { split: string; found: readonly string[] }, unknown: readonly string[]): void {
  if (found.length > 0) {
    throw new WorkbenchError('data', `expected no trace of ${split}, got ${found.join('; ')}`, {
      hint: 'Scores on this split say less than they seem to.',
    });
  }
  if (unknown.length > 0) {
    throw new WorkbenchError(
      'data',
      `expected notes of what everything was made from, got none of ${unknown.join(', ')}`,
      {
        hint: 'Versions before this one kept none: train or evaluate again.',
      },
    );
  }
}

function open(name: string, run: string, { split, evaluations }: CheckRunFlags): Promise<Checked> {
  const questions = datasetKind(name) === 'questions';
  const found = findRun(run);
  if (found) return (questions ? checkedQuestionRun : checkedDialogueRun)(name, found.run, split ?? 'test');
  if (questions && isBegun(run, evaluations)) return checkedEvaluation(name, run, split, evaluations);
  throw noRun(run, questions ? 'a run or an evaluation' : 'a run');
}

function noRun(run: string, expected: string): WorkbenchError {
  return new WorkbenchError('usage', `expected ${expected}, got "${run}", at --run`, {
    hint: 'The runs there are: `kgwalk runs list`.',
  });
}
