/** `kgwalk plan status|collect`, and the planning of commands: their parts as jobs for any machine. */
import type { Command } from 'commander';
import { basename, resolve } from 'node:path';
import type { Job, Planned, PlannedCommand } from '../jobs/job.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printTable } from './output.js';

/** Adds `kgwalk plan`. */
export function register(program: Command): void {
  const command = program.command('plan').description('check and collect the jobs of a plan');
  const withStore = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .argument('<plan>', 'file of jobs')
      .requiredOption('--store <store>', 'where results are: s3://BUCKET/PREFIX or a folder')
      .option('--json', 'print JSON');
  withStore('status', 'show finished, started and failed jobs, with reasons').action(status);
  withStore('collect', 'collect the results into one folder, as if made on one machine')
    .requiredOption('--to <dir>', 'folder of the sweep, or of the evaluations')
    .action(collect);
}

interface StoreFlags {
  store: string;
  json?: boolean;
}

const stateNames = ['done', 'begun', 'failed', 'waiting'] as const;

async function status(file: string, { store: address, json }: StoreFlags): Promise<void> {
  const { readPlan } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { heldBy, readFailure } = await import('../jobs/results.js');
  const jobs = readPlan(file);
  const store = await openStore(address);
  const { results, progress, failed, rivals } = await heldBy(store);
  const stateOf = ({ key }: Job) =>
    results.has(key) ? 'done' : failed.has(key) ? 'failed' : progress.has(key) ? 'begun' : 'waiting';
  const states = jobs.map(stateOf);
  const counts = Object.fromEntries(stateNames.map((name) => [name, states.filter((state) => state === name).length]));
  const notReproduced = jobs.filter(({ key }) => rivals.has(key));
  const failures = await Promise.all(
    jobs
      .filter((_, i) => states[i] === 'failed')
      .map(async (job) => ({ part: job.part, key: job.key, reason: (await readFailure(store, job)) ?? '' })),
  );
  if (json) {
    return printJson({ jobs: jobs.length, ...counts, notReproduced: notReproduced.map(({ key }) => key), failures });
  }
  printTable([{ jobs: jobs.length, ...counts, 'not reproduced': notReproduced.length }]);
  for (const { part, reason } of failures.slice(0, 10)) printLine(`${part} failed: ${reason}`);
  if (failures.length > 10) printLine(`and ${failures.length - 10} more`);
}

async function collect(file: string, { store: address, to, json }: StoreFlags & { to: string }): Promise<void> {
  const { readPlan, wordsOf } = await import('../jobs/job.js');
  const { openStore } = await import('../jobs/store.js');
  const { takeResult } = await import('../jobs/results.js');
  const { terminalWork } = await import('./terminal.js');
  const { throwIfStopped } = await import('../src/run/stop.js');
  const { signal, progress } = terminalWork();
  const jobs = readPlan(file);
  const [first] = jobs as [Job];
  const store = await openStore(address);
  const bar = progress('collect', jobs.length, 'jobs');
  let done = 0;
  for (const [i, job] of jobs.entries()) {
    throwIfStopped(signal);
    if (await takeResult(store, job, resolve(to))) done++;
    bar.update(i + 1);
  }
  bar.finish();
  const missing = jobs.length - done;
  const next =
    first.command === 'sweep'
      ? commandLine('report', shownPath(resolve(to)))
      : commandLine(...wordsOf(first, '--evaluations', shownPath(resolve(to))));
  if (json) printJson({ folder: resolve(to), jobs: jobs.length, done, missing, next });
  else {
    printLine(`${done} of ${jobs.length} results in ${to}${missing > 0 ? `; ${missing} are missing` : ''}`);
    printLine(next);
  }
}

/** Options of commands that can be planned. */
export interface PlanFlags {
  write?: string;
  inputs?: string;
}

/** Adds them. @param parts meaning of a part, for the help */
export function addPlanOptions(command: Command, parts: string): Command {
  return command
    .option('--write <file>', `do nothing, and write ${parts} as a plan for \`kgwalk work\`: docs/scale-out.md`)
    .option('--inputs <json>', 'hashes of planned inputs: refuse other data and models');
}

/** The planned part of a command line. */
interface Asked {
  flags: PlanFlags;
  /** Arguments after the command. */
  args: readonly string[];
  inputs: Readonly<Record<string, string>>;
  parts: number;
  folders?: Readonly<Record<string, string>>;
}

/** Options that only affect where, how or how long this machine works. */
const ofThisMachine = [
  'write',
  'parts',
  'store',
  'inputs',
  'json',
  'jobs',
  'threads',
  'max-minutes',
  'name',
  'run-dir',
  'resume',
];

/**
 * Writes the plan of a command line.
 * @throws WorkbenchError `usage` for options that other machines cannot use
 */
export async function writeCommandPlan(
  command: Command,
  { flags, args, inputs, parts, folders = {} }: Asked,
): Promise<void> {
  const { jobsOf, mayHold, pluginsRefused, writePlan } = await import('../jobs/job.js');
  const { isModelPath, lastingModelName } = await import('../src/llm/model-files.js');
  const name = command.name() as PlannedCommand;
  if ((command.parent?.getOptionValue('plugin') as string[] | undefined)?.length) throw pluginsRefused('--plugin');
  const plugin = Object.keys(inputs).find((one) => one.startsWith('plugin:'));
  if (plugin !== undefined) throw pluginsRefused(plugin);
  const planned: Planned = {
    command: name,
    args: [...args],
    options: {},
    presets: {},
    folders: { ...folders },
    inputs: { ...inputs },
  };
  for (const option of command.options) {
    const long = option.long!.slice(2);
    if (command.getOptionValueSource(option.attributeName()) !== 'cli' || ofThisMachine.includes(long)) continue;
    if (!mayHold(name, long)) {
      throw new WorkbenchError('usage', `expected options that any machine can do, got --${long}, with --write`);
    }
    const value = command.getOptionValue(option.attributeName()) as string | string[] | true;
    planned.options[long] = value === true ? value : [value].flat();
  }
  for (const long of ['model', 'encoder']) {
    const given = planned.options[long];
    if (given && given !== true)
      planned.options[long] = given.map((one) => (isModelPath(one) ? lastingModelName(one) : one));
  }
  if (name === 'sweep') planned.args = [await carried(planned, args[0]!)];
  const { config } = planned.options;
  if (config && config !== true) planned.options.config = [await carried(planned, config[0]!)];
  const jobs = jobsOf(planned, parts);
  writePlan(flags.write!, jobs);
  printLine(`${jobs.length} jobs in ${flags.write}`);
  printLine(commandLine('work', '--plan', flags.write!, '--store', 'STORE'));
}

/** Name of a preset inside jobs: a bundled one, or a file carried by the job with all that it extends. */
async function carried(planned: Planned, preset: string): Promise<string> {
  const { presetNames, resolvePreset } = await import('../src/run/locations.js');
  if (presetNames().includes(preset)) return preset;
  const { readConfigFile } = await import('../src/run/config-source.js');
  const { pluginsRefused } = await import('../jobs/job.js');
  const name = `${basename(preset)
    .replace(/\.(ya?ml|json)$/, '')
    .replace(/[^\w.-]/g, '-')}.yaml`;
  const settings = readConfigFile(resolvePreset(preset)).value as Record<string, unknown>;
  if (settings.plugins !== undefined) throw pluginsRefused(preset);
  planned.presets[name] = settings;
  return name;
}

/**
 * Checks that the inputs of a plan equal those here.
 * @param planned `--inputs`
 * @throws WorkbenchError `data` with the differences
 */
export async function refuseOtherInputs(planned: string, here: Readonly<Record<string, string>>): Promise<void> {
  const { ofShape, parseJson } = await import('../src/run/read-json.js');
  const { z } = await import('zod');
  const place = { what: 'hashes of a plan', place: '--inputs' };
  const hashes = ofShape(parseJson(planned, place), z.record(z.string(), z.string()), place);
  const names = [...new Set([...Object.keys(hashes), ...Object.keys(here)])].filter(
    (name) => hashes[name] !== here[name],
  );
  if (names.length === 0) return;
  const shown = (hash: string | undefined) => (hash === undefined ? 'none' : hash.slice(0, 12));
  const differing = names
    .map((name) => `${name}: ${shown(hashes[name])} planned, ${shown(here[name])} here`)
    .join('; ');
  throw new WorkbenchError('data', `expected what the plan was written with, got other inputs: ${differing}`, {
    hint: 'Import the same data with the same version, and take the same model; or write the plan again.',
  });
}
