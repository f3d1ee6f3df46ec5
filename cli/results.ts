/** `kgwalk results`: measured and published figures as records, and their repetition. */
import type { Command } from 'commander';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ResultRecord } from '../reports/result-records.js';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { printJson, printLine, printNote, printTable } from './output.js';

/** Adds `kgwalk results`. */
export function register(program: Command): void {
  const command = program
    .command('results')
    .description('list the measured and published results of this version, or measure one of them again');
  command
    .command('list', { isDefault: true })
    .description('list the rows of docs/results.md')
    .option('--task <name>', 'only of dialogues, questions, links or environments')
    .option('--data <name>', 'only on this data set, such as umls')
    .option('--html <file>', 'write them as one page with tables to sort')
    .option('--json', 'print the whole records as JSON')
    .action(list);
  command
    .command('check')
    .description('train and evaluate a row again, and say whether its interval holds')
    .argument('<row>', 'name of a row, as `kgwalk results` lists it')
    .option('--home <dir>', 'folder of imported data sets and caches (default: KGWALK_HOME)')
    .option('--models <dir>', 'folder of the GGUF files that the commands name (default: models/ in that of --home)')
    .option('--dry-run', 'print the commands and run nothing')
    .option('--json', 'print JSON')
    .action(check);
}

interface ListFlags {
  task?: string;
  data?: string;
  html?: string;
  json?: boolean;
}

async function list({ task, data, html, json }: ListFlags): Promise<void> {
  const { mainFigureOf, readResults, recordsOf } = await import('../reports/result-records.js');
  const isWanted = (record: ResultRecord) =>
    (task ?? record.task) === record.task && (data === undefined || record.data?.split('/')[0] === data);
  const records = recordsOf(readResults()).filter(isWanted);
  if (records.length === 0) {
    throw new WorkbenchError(
      'usage',
      `expected a task or a data set with results, got ${[task, data].join(' ').trim()}`,
      {
        hint: '`kgwalk results` lists all rows.',
      },
    );
  }
  if (html !== undefined) {
    const { resultsPage } = await import('../reports/results-page.js');
    writeFileAtomic(html, resultsPage(records));
    return json ? printJson({ html }) : printLine(html);
  }
  if (json) return printJson(records);
  printTable(
    records.map((record) => {
      const [figure, value] = mainFigureOf(record);
      const interval = record.interval ? `[${record.interval.join(', ')}]` : record.sd && `± ${record.sd}`;
      const { id, data: on, split, n, published } = record;
      return { row: id, data: on, split, n, figure, value, 'interval or sd': interval, published };
    }),
  );
}

interface CheckFlags {
  home?: string;
  models?: string;
  dryRun?: boolean;
  json?: boolean;
}

async function check(id: string, { home, models, dryRun, json }: CheckFlags): Promise<void> {
  const { checkRow, commandsOf } = await import('../reports/result-records.js');
  const record = await found(id);
  if (dryRun) return json ? printJson(commandsOf(record)) : commandsOf(record).forEach((line) => printLine(line));
  const { kgwalkHome } = await import('../src/run/locations.js');
  const place = resolve(home ?? kgwalkHome());
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-check-'));
  const { value, interval: own } = await measuredAgain(record, folder, place, resolve(models ?? join(place, 'models')));
  rmSync(folder, { recursive: true });
  const checked = checkRow(record, value, own);
  const { figure, expected, interval, of, holds } = checked;
  const rounded = (number: number) => Number(number.toPrecision(4));
  const [bounds, where] = [`[${interval.map(rounded).join(', ')}]`, holds ? 'inside' : 'outside'];
  if (json) printJson({ row: id, ...checked });
  else if (of === 'row') printLine(`${id}: ${figure} ${rounded(value)}, ${where} ${expected} ${bounds}`);
  else printLine(`${id}: ${figure} ${rounded(value)} ${bounds}, recorded ${expected} is ${where}`);
  if (!holds) process.exitCode = 1;
}

/** @throws WorkbenchError `usage` for a name that no row has, and for a published row */
async function found(id: string): Promise<ResultRecord> {
  const { readResults, recordsOf } = await import('../reports/result-records.js');
  const { nearestName } = await import('../src/run/printable.js');
  const records = recordsOf(readResults());
  const record = records.find((one) => one.id === id);
  if (record === undefined) {
    const near = nearestName(
      id,
      records.map((one) => one.id),
    );
    throw new WorkbenchError('usage', `expected a row of the results, got ${JSON.stringify(id)}`, {
      hint: `${near === undefined ? '' : `Did you mean ${near}? `}\`kgwalk results\` lists them.`,
    });
  }
  if (record.evaluate !== undefined) return record;
  throw new WorkbenchError(
    'usage',
    `expected a row that was measured here, got ${id}, published in ${record.published}`,
  );
}

/** Runs the commands of a row in a temporary folder. @returns means over the evaluations of its first figure and of the ends of its interval */
async function measuredAgain(
  record: ResultRecord,
  folder: string,
  home: string,
  models: string,
): Promise<{ value: number; interval: [low: number, high: number] }> {
  const { mainFigureOf } = await import('../reports/result-records.js');
  const { meanOf } = await import('../reports/plots/series.js');
  const { evaluationsIn } = await import('../evaluation/keep.js');
  const { train, evaluate = '', seeds = [] } = record;
  const run = await runner(folder, home, models);
  const runs: string[] = [];
  for (const [i, command] of train.entries()) {
    for (const seed of seeds) {
      runs.push(join(folder, 'runs', `${i}-s${seed}`));
      await run(`${command} --seed ${seed} --run-dir ${runs.at(-1)}`);
    }
  }
  const kept = join(folder, 'evaluations');
  const subjects = /\bRUN\b/.test(evaluate) ? runs : [runs.join('+')];
  for (const subject of subjects) await run(`${evaluate.replace(/\bRUNS?\b/, subject)} --evaluations ${kept}`);
  const [figure] = mainFigureOf(record);
  const key = record.key ?? figure.toLowerCase();
  const values = evaluationsIn(kept).map(({ record: { figures, metrics } }) => {
    const scale = figures.find((one) => one.key === key)?.unit === '%' ? 100 : 1;
    const { value, low, high } = metrics[key]!;
    return [value * scale, low * scale, high * scale] as const;
  });
  const mean = (place: 0 | 1 | 2) => meanOf(values.map((one) => one[place]));
  return { value: mean(0), interval: [mean(1), mean(2)] };
}

/** A function that runs a command of a row. Its error is that of the command. */
async function runner(folder: string, home: string, models: string): Promise<(command: string) => Promise<void>> {
  const { runProgram } = await import('../jobs/run-job.js');
  const { terminalWork } = await import('./terminal.js');
  const { signal } = terminalWork();
  return async (command) => {
    printNote(command);
    const [, ...words] = command.split(' ').map((word) => (word.endsWith('.gguf') ? modelFile(word, models) : word));
    const variables = { KGWALK_HOME: home, KGWALK_RUNS: join(folder, 'runs') };
    const end = await runProgram(words, { log: join(folder, 'log'), signal, variables });
    if (end.state === 'stopped') throw new WorkbenchError('stopped', 'stopped by the user');
    if (end.state === 'failed') {
      throw new WorkbenchError('data', `${end.reason}, from ${command}`, {
        hint: `Import its data set into ${home}, or name another folder with --home. Its output: ${join(folder, 'log')}`,
      });
    }
  };
}

/** @throws WorkbenchError `data` if the file is not there */
function modelFile(name: string, models: string): string {
  const file = join(models, name);
  if (existsSync(file)) return file;
  throw new WorkbenchError('data', `expected the model ${name}, got no such file, at ${models}`, {
    hint: 'Name the folder of your GGUF files with --models.',
  });
}
