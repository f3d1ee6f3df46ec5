/** `kgwalk train`: one run, one for each of several seeds, or a fork of a run. */
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { ProgressReporter } from '../src/run/progress.js';
import { printJson, printLine, printNote, printTable } from './output.js';
import type { PlannedRun, TrainFlags } from '../plans/runs.js';
import { addThreadsOption, inputsOption, minutesOf, repeatable } from './options.js';
import { threadsOf } from '../tasks/flags.js';
import { follow } from './serve.js';
import type { TrialReport } from '../trainers/trial.js';

/** Adds `kgwalk train`. */
export function register(program: Command): void {
  const command = program
    .command('train')
    .description('train a walker from a preset: TransE, text vectors, cloning, PPO')
    .argument(
      '[preset]',
      'a YAML file or the name of a built-in preset (default: opendialkg; with --graph own-graph; with --resume the run’s own settings)',
    )
    .option(
      '--graph <file>',
      'a graph without questions (a file of triples or a data set): makes questions about it, and trains readers on them with seeds 0, 1, 2; what is there already is not made again',
    )
    .option(
      '--model <model>',
      'text encoder: FILE.gguf, a name from `models list`, http(s)://HOST/v1#MODEL, or hashed:DIM (sets encoder.model; default: the embedded model, demo)',
    )
    .option('--set <key=value>', 'change a setting, such as ppo.clipRange=0.1; repeatable', repeatable, [])
    .option('--seed <n>', 'the run’s seed')
    .option('--seeds <list>', 'train one run per seed, such as 1,2,3')
    .option('--run-dir <dir>', 'folder of the run (with --seeds: DIR-s1, DIR-s2 …; default: runs/NAME-TIME-sSEED)')
    .option('--resume [which]', 'continue the run in --run-dir from its last (default), best or a numbered checkpoint')
    .option(
      '--fork [dir]',
      'with --resume: leave that run as it is and start a new one from the weights of the checkpoint, if need be under other settings (default: runs/NAME-TIME-sSEED)',
    )
    .option(
      '--backend <name>',
      'simd, webgpu, tensorflow, tensorflow-gpu or wasm instead of the fastest backend that works',
    )
    .option('--dry-run', 'try each phase for a second, print what the whole run would take, and leave nothing')
    .option('--follow', 'show the run in a browser while it trains, as `kgwalk serve` does; ends with it')
    .option('--max-minutes <n>', 'stop after this many minutes, with a checkpoint to resume from', minutesOf)
    .option('--json', 'print the run folders as JSON')
    .addOption(inputsOption());
  addThreadsOption(command, 'TransE’s batches (transe.batchSize above 1) and validation').action(train);
}

async function train(preset: string | undefined, given: TrainFlags): Promise<void> {
  const { graph, dryRun, json } = given;
  const { flags, runs } = await planned(preset, given);
  if (dryRun) {
    const { tryRun } = await import('../tasks/train.js');
    const { terminalWork } = await import('./terminal.js');
    printNote('trying each phase for a second, and two steps at least');
    const { signal } = terminalWork(flags.maxMinutes);
    const report = await tryRun({ ...runs[0]!, threads: threadsOf(flags.threads), signal });
    return json ? printJson(report) : printTrial(report);
  }
  await trainRuns(runs, flags, preset);
  const folders = runs.map(({ folder }) => folder);
  if (json) return printJson({ runs: folders });
  for (const folder of folders) printLine(folder);
  const [first, ...others] = folders.map(shownPath);
  if (graph !== undefined) return printExamples(given, folders);
  printNote(`\n${commandLine('evaluate', first!, '--split', 'valid')}\n${commandLine('report', first!, ...others)}`);
}

/** Seeds of readers over a graph without questions. */
const ownSeeds = '0,1,2';

/** Readers over a graph without questions, trained where they are not yet. @returns folders of their runs */
export async function trainOnGraph(graph: string, model: string | undefined): Promise<string[]> {
  const { isPrepared, preparedName } = await import('../tasks/own-graph.js');
  const { runIn } = await import('../src/run/run-folder.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const name = await preparedName(graph);
  const there = ownSeeds.split(',').map((seed) => join(runsFolder(), `${name}-s${seed}`));
  // What is there is asked without loading what trains.
  if (isPrepared(name) && there.every((folder) => runIn(folder)?.state.status === 'finished')) return there;
  const { flags, runs } = await planned(undefined, { graph, set: [], ...(model !== undefined && { model }) });
  await trainRuns(runs, flags);
  return runs.map(({ folder }) => folder);
}

/** The runs of flags. Of a graph without questions these are made once the settings are known to be right; its runs continue what is there. */
async function planned(
  preset: string | undefined,
  given: TrainFlags,
): Promise<{ flags: TrainFlags; runs: PlannedRun[] }> {
  const { plannedRuns } = await import('../plans/runs.js');
  if (given.graph === undefined) return { flags: given, runs: await plannedRuns(preset, given) };
  const { openOwnGraph, preparedName, prepareOwnGraph } = await import('../tasks/own-graph.js');
  const { terminalWork } = await import('./terminal.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const own = await openOwnGraph(given.graph);
  const name = await preparedName(given.graph);
  const { seed, ...others } = given;
  const { set, seeds = seed ?? ownSeeds, runDir = join(runsFolder(), name), resume = true } = others;
  const flags = { ...others, seeds, runDir, resume, set: [`data.dataset=${name}`, ...set] };
  const runs = await plannedRuns(preset ?? 'own-graph', flags);
  await prepareOwnGraph(own, given.model, terminalWork());
  return { flags, runs };
}

async function trainRuns(runs: readonly PlannedRun[], flags: TrainFlags, preset = 'own-graph'): Promise<void> {
  const threads = threadsOf(flags.threads);
  const { train: trainRun } = await import('../tasks/train.js');
  const { warnTruncated, terminalWork } = await import('./terminal.js');
  if (flags.inputs !== undefined) {
    const { inputsOf } = await import('../plans/runs.js');
    const { refuseOtherInputs } = await import('../jobs/job.js');
    refuseOtherInputs(flags.inputs, await inputsOf(runs[0]!.settings));
  }
  const { progress, signal } = terminalWork(flags.maxMinutes);
  if (flags.graph !== undefined && !flags.follow && !(await hasPlugins())) {
    // Each run keeps one core busy.
    const waiting: PlannedRun[] = [];
    for (const run of runs) if (!(await isFinished(run))) waiting.push(run);
    if (Math.min(waiting.length, availableParallelism()) > 1)
      return trainApart(waiting, flags, preset, { progress, signal });
  }
  const following = flags.follow ? await follow(runs.map(({ folder }) => folder)) : undefined;
  try {
    for (const [i, run] of runs.entries()) {
      if (await isFinished(run)) {
        if (flags.graph === undefined) printNote(`${run.folder} is finished; nothing to do`);
        continue;
      }
      let opened = false;
      // A run is announced once its data, models and settings have been found to fit.
      const onNote = (line: string) => {
        if (!opened) printNote(opening(run));
        opened = true;
        printNote(line);
      };
      const onBackend = (name: string, why: string) => onNote(`networks computed on ${name}: ${why}`);
      try {
        await trainRun({ ...{ ...run, threads, progress, signal, onNote, onBackend }, onTruncatedLog: warnTruncated });
      } catch (error) {
        if (!(error instanceof WorkbenchError) || error.code !== 'stopped') throw error;
        throw stoppedError(run.folder, runs.slice(i + 1));
      }
    }
  } finally {
    await following?.close();
  }
}

const hasPlugins = async () => (await import('../src/run/plugins.js')).loadedPlugins().length > 0;

/** Trains runs side by side, each in a separate process, and prints what it noted once it ends. */
async function trainApart(
  runs: readonly PlannedRun[],
  { set, model, backend, resume }: TrainFlags,
  preset: string,
  { progress, signal }: { progress: ProgressReporter; signal: AbortSignal },
): Promise<void> {
  const { runProgram } = await import('../jobs/run-job.js');
  const { runInterleaved } = await import('../src/run/concurrency.js');
  const line = progress('training side by side', runs.length, 'readers');
  let done = 0;
  const options = [
    ...set.flatMap((one) => ['--set', one]),
    ...(model === undefined ? [] : ['--model', model]),
    ...(backend === undefined ? [] : ['--backend', backend]),
  ];
  await runInterleaved(runs, availableParallelism(), async ({ folder, settings: { seed } }) => {
    const log = `${folder}.log`;
    rmSync(log, { force: true });
    const place = ['--run-dir', folder, '--seed', String(seed), '--resume', ...(resume === true ? [] : [resume!])];
    const end = await runProgram(['train', preset, ...options, ...place], { log, signal });
    if (end.state === 'failed') throw new WorkbenchError('failure', `expected a trained reader, got: ${end.reason}`);
    if (end.state === 'finished') printNote(readFileSync(log, 'utf8').split(`\n${folder}\n`)[0]!);
    rmSync(log);
    if (end.state === 'stopped') {
      const hint = 'The same command resumes from there.';
      throw new WorkbenchError('stopped', `stopped; everything so far is saved, at ${folder}`, { hint });
    }
    line.update(++done);
  }).finally(() => line.finish());
}

/** Answers to three questions of valid, and how to ask others and to measure on real ones. */
async function printExamples({ graph, runDir, seed, seeds }: TrainFlags, folders: readonly string[]): Promise<void> {
  const { exampleAnswers } = await import('../tasks/questions/agreement.js');
  const { terminalWork } = await import('./terminal.js');
  for (const one of await exampleAnswers(folders, terminalWork())) printLine(`\n${one}`);
  const runs = folders.map(shownPath);
  const asUsual = runDir === undefined && seed === undefined && seeds === undefined;
  const asked = asUsual ? ['--graph', shownPath(graph!)] : [runs.join(',')];
  printNote(`\n${commandLine('ask', ...asked, 'QUESTION about [TOPIC]')}`);
  printNote(
    `Hit@1 above is over questions that were made, and says little of real ones. On custom ones:\n${commandLine('evaluate', runs.join(','), '--questions', 'mine.jsonl')}`,
  );
}

/** True if nothing is left to do; a longer training may have been requested. */
async function isFinished({ folder, resume, settings }: PlannedRun): Promise<boolean> {
  const { runIn } = await import('../src/run/run-folder.js');
  const { longerConfig } = await import('../trainers/resume.js');
  const { removeDeadLock } = await import('../src/run/run-lock.js');
  const run = resume === undefined ? undefined : runIn(folder);
  if (run?.state.status !== 'finished' || longerConfig(run, settings) !== undefined) return false;
  // Left by a process killed after its last message.
  removeDeadLock(folder);
  return true;
}

function opening({ folder, fork }: PlannedRun): string {
  return fork ? `run ${folder}, a fork of ${fork.run}@${fork.checkpoint}` : `run ${folder}`;
}

function stoppedError(folder: string, waiting: readonly PlannedRun[]): WorkbenchError {
  const seeds = waiting.map(({ settings }) => settings.seed).join(', ');
  const rest = seeds === '' ? '' : `; not started: seed ${seeds}`;
  return new WorkbenchError('stopped', `stopped; everything so far is saved, at ${folder}${rest}`, {
    hint: `Resume: ${commandLine('train', '--resume', '--run-dir', shownPath(folder))}`,
  });
}

async function printTrial(report: TrialReport): Promise<void> {
  const { notes, networks, phases, seconds, texts, memoryBytes, diskBytes } = report;
  const { formatDuration } = await import('../src/run/duration.js');
  for (const note of notes) printLine(note);
  printLine(`networks computed on ${networks}`);
  printLine();
  printTable(
    phases.map(({ phase, steps, unit, secondsPerStep, seconds: all }) => ({
      phase,
      steps: unit === '' ? '' : `${steps} ${unit}`,
      'a step': unit === '' ? '' : shortTime(secondsPerStep),
      time: formatDuration(all),
    })),
  );
  printLine();
  if (texts.missing > 0) {
    printLine(`texts: ${texts.missing} to encode, ${shortTime(texts.secondsPerText)} each by ${texts.encoder}`);
  }
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
  printLine(
    `total: about ${formatDuration(seconds)}, ${gigabytes(memoryBytes)} of memory, ${gigabytes(diskBytes)} of disk`,
  );
}

/** `3.1 µs`, `12 ms`, `2.5 s`. */
function shortTime(seconds: number): string {
  const [scale, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  return `${Number((seconds * scale).toPrecision(2))} ${unit}`;
}
