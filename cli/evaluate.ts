/** `kgwalk evaluate`: one agent on one split; `kgwalk replay`: the same again from the stored completions. */
import { type Command, Option } from 'commander';
import { resolve } from 'node:path';
import type { AskedEvaluation } from '../evaluation/keep.js';
import type { Job } from '../jobs/job.js';
import { WorkbenchError } from '../src/run/errors.js';
import { pluginsRefused } from '../src/run/plugins.js';
import type { RunInfo } from '../src/run/records.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { addInputOptions, addThreadsOption, groupOptions, inputsOption } from './options.js';
import { printJson, printLine, printSections } from './output.js';
import { writeJobs } from './plan.js';
import type { Replay } from '../evaluation/replay.js';
import type { Row } from '../evaluation/score.js';
import { commandLine, shownPath } from '../src/run/command-line.js';

/** Adds `kgwalk evaluate`. */
export function register(program: Command): void {
  const command = program
    .command('evaluate')
    .description('measure how often an agent is right, with intervals, slices, coverage and cost')
    .argument(
      '[run]',
      'name or folder of a run; RUN@clone names a checkpoint, RUN+RUN several runs as one, RUN,RUN several that must agree',
    )
    .option(
      '--agent <name>',
      'evaluate an untrained agent instead of a run: frequency, fiske, tog …; on links transe, bilinear, rules or random',
    )
    .option('--predictions <file>', 'dialogues: write all ranked paths, as names, to a .jsonl or .csv file')
    .addOption(
      new Option(
        '--count <how>',
        'dialogues: strict, or ark, which adds the counts of LLM-ARK’s published code, for comparison with its paper only',
      ).choices(['strict', 'ark']),
    )
    .option(
      '--dry-run',
      'ask no model; print calls and tokens of the simulated one, and their price by --model-set price=IN,CACHED,OUT',
    )
    .option('--write <file>', 'evaluate nothing; write parts of it as a plan for `kgwalk work`: docs/how-to/sweeps.md')
    .option('--parts <n>', 'with --write: how many')
    .option('--store <store>', 'with --write, for a run: where its files are put for the workers')
    // Of a job: the part it evaluates.
    .addOption(new Option('--part <i/n>').hideHelp())
    .addOption(inputsOption());
  addThreadsOption(
    addInputOptions(command),
    'the walks of a run on dialogues, or for links the training of an embedding',
  );
  groupOptions(command).action((run: string | undefined, flags: Flags) => evaluate(command, run, flags));
}

interface Flags extends EvaluationFlags {
  json?: boolean;
  maxMinutes?: number;
  dryRun?: boolean;
  write?: string;
  parts?: string;
  store?: string;
  part?: string;
  inputs?: string;
}

async function evaluate(command: Command, run: string | undefined, flags: Flags): Promise<void> {
  if ((run === undefined) === (flags.agent === undefined)) {
    throw new WorkbenchError('usage', `expected a run or --agent NAME, got ${run === undefined ? 'neither' : 'both'}`, {
      hint: 'kgwalk evaluate RUN, or kgwalk evaluate --agent frequency',
    });
  }
  if (flags.write !== undefined) return plan(command, run, flags);
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { evaluateNamed } = await import('../tasks/evaluate.js');
  const { pricesOf } = await import('../tasks/language-model.js');
  const { printEvaluation, printForecast, usageOf } = await import('./evaluation-tables.js');
  const { evaluationFiles } = await import('../evaluation/keep.js');
  const { shardOf } = await import('../evaluation/shards.js');
  const named = { name: (run ?? flags.agent)!, isRun: run !== undefined };
  const task = await taskFor([named], flags);
  const prices = pricesOf(flags.modelSet);
  if (flags.dryRun) {
    const { forecastEvaluation } = await import('../tasks/forecast.js');
    const forecast = await forecastEvaluation(task, named, flags, terminalWork(flags.maxMinutes));
    return flags.json ? printJson(forecast) : printForecast(forecast);
  }
  const predictions = flags.predictions === undefined ? undefined : task.results!.predictions!(flags.predictions);
  const [evaluation] = await evaluateNamed(task, [named], flags, terminalWork(flags.maxMinutes), {
    shard: flags.part === undefined ? undefined : shardOf(flags.part),
    onAttempt: predictions?.take,
    ...(flags.inputs !== undefined && {
      async onAsked(asked) {
        const { refuseOtherInputs } = await import('../jobs/job.js');
        refuseOtherInputs(flags.inputs!, inputsOf(asked));
        return true;
      },
    }),
  });
  predictions?.write();
  const { record, speed, failures, folder } = evaluation!;
  const saved = evaluationFiles(folder).evaluation;
  const paid = prices?.of(usageOf(record));
  if (flags.json) {
    const shown = { speed, price: paid, failures: failures.slice(0, 10), saved, predictions: flags.predictions };
    return printJson({ ...record, ...shown });
  }
  printEvaluation(record, speed);
  if (paid !== undefined) printLine(`price: ${paid.toFixed(4)}`);
  printLine(`saved: ${folder}`);
}

/** Hashes of the inputs of an evaluation. */
const inputsOf = ({ hashes, modelId }: AskedEvaluation) => ({
  ...hashes,
  ...(modelId !== undefined && { model: modelId }),
});

/** Writes the plan of an evaluation, after opening all its inputs here. */
async function plan(command: Command, run: string | undefined, flags: Flags): Promise<void> {
  const { wholeNumber } = await import('../tasks/flags.js');
  const parts = wholeNumber(flags.parts, '--parts', 1);
  if (parts === undefined) {
    throw new WorkbenchError('usage', 'expected how many parts, got nothing, at --parts', {
      hint: 'Each part is a process: use parts of at least a minute.',
    });
  }
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { evaluateNamed } = await import('../tasks/evaluate.js');
  const { resolve: resolveAgent } = await import('../tasks/named.js');
  const { runsNamedBy } = await import('../tasks/named-runs.js');
  const { membersOf } = await import('../tasks/task.js');
  const named = { name: (run ?? flags.agent)!, isRun: run !== undefined };
  const task = await taskFor([named], flags);
  const { trained, switches } = resolveAgent(task, named, flags);
  const members = trained && membersOf(trained);
  const { options, presets } = await carriedOptions(command);
  const folders = await putRuns(members?.map((one) => one.run) ?? runsNamedBy(switches), flags);
  const names = members?.map(({ run: { id }, checkpoint }) =>
    checkpoint === flags.checkpoint ? id : `${id}@${checkpoint}`,
  );
  const { jobOf } = await import('../jobs/job.js');
  await evaluateNamed(task, [named], flags, terminalWork(), {
    async onAsked(asked, samples) {
      if (parts > samples) {
        throw new WorkbenchError('usage', `expected at most ${samples} parts, a sample each, got ${parts}, at --parts`);
      }
      const inputs = inputsOf(asked);
      const plugin = Object.keys(inputs).find((one) => one.startsWith('plugin:'));
      if (plugin !== undefined) throw pluginsRefused(plugin);
      const all = {
        command: 'evaluate' as const,
        args: names ? [names.join('+')] : [],
        options,
        presets,
        folders,
        inputs,
      };
      const jobs = Array.from({ length: parts }, (_, i) => jobOf({ ...all, part: `${i + 1}/${parts}` }));
      await writeJobs(flags.write!, { jobs });
      return false;
    },
  });
}

/** Options that only affect where, how or how long this machine works. */
const ofThisMachine = ['write', 'parts', 'store', 'json', 'threads', 'max-minutes'];

/** The given options as jobs hold them. @throws WorkbenchError `usage` for options that other machines cannot use */
async function carriedOptions(command: Command): Promise<Pick<Job, 'options' | 'presets'>> {
  const { carriedPreset, mayHold } = await import('../jobs/job.js');
  const { isModelPath, lastingModelName } = await import('../src/llm/model-files.js');
  if ((command.parent?.getOptionValue('plugin') as string[] | undefined)?.length) throw pluginsRefused('--plugin');
  const options: Job['options'] = {};
  for (const option of command.options) {
    const name = option.attributeName();
    const long = option.long!.slice(2);
    if (command.getOptionValueSource(name) !== 'cli' || ofThisMachine.includes(long)) continue;
    if (!mayHold('evaluate', long)) {
      throw new WorkbenchError('usage', `expected options that any machine can do, got --${long}, with --write`);
    }
    const value = command.getOptionValue(name) as string | string[] | true;
    options[long] = value === true ? value : [value].flat();
  }
  for (const long of ['model', 'encoder']) {
    const given = options[long];
    if (given && given !== true) options[long] = given.map((one) => (isModelPath(one) ? lastingModelName(one) : one));
  }
  const { config } = options;
  if (!config || config === true) return { options, presets: {} };
  const { name, presets } = carriedPreset(config[0]!);
  return { options: { ...options, config: [name] }, presets };
}

/** Uploads runs to the store. @returns manifests of their files, by the path inside jobs */
async function putRuns(runs: readonly RunInfo[], { store: address }: Flags): Promise<Record<string, string>> {
  const folders: Record<string, string> = {};
  if (runs.length === 0) return folders;
  if (address === undefined) {
    throw new WorkbenchError('usage', 'expected the store of the workers, got none, at --store', {
      hint: `They find there what they read of ${runs.map(({ id }) => id).join(', ')}.`,
    });
  }
  const { runsFolder } = await import('../src/run/locations.js');
  const { openStore } = await import('../jobs/store.js');
  const { putFolder } = await import('../jobs/results.js');
  const store = await openStore(address);
  for (const { id, folder } of runs) {
    if (resolve(runsFolder(), id) !== folder) {
      throw new WorkbenchError('usage', `expected a run in ${runsFolder()}, got one at ${folder}`, {
        hint: 'Set KGWALK_RUNS to the folder of the run: an evaluation keeps the name of its run, which must be the same everywhere.',
      });
    }
    folders[`runs/${id}`] = await putFolder(store, folder, /^(evaluations|report|tensorboard)\//);
  }
  return folders;
}

type ReplayFlags = { question?: string; encoder?: string; evaluations?: string; json?: boolean };

/** Adds `kgwalk replay`. */
export function registerReplay(program: Command): void {
  program
    .command('replay')
    .description('repeat an evaluation without a model, and compare every byte with what it saved')
    .argument('<evaluation>', 'name or folder of an evaluation, as printed by `kgwalk evaluate`')
    .option('--question <id>', 'this sample alone, with its trace')
    .option('--encoder <file>', 'the encoder, if its file has moved: FILE.gguf or a name of `models list`')
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'print JSON')
    .action(replay);
}

/** Replays, prints, and fails if a byte differs. */
async function replay(evaluation: string, { question, encoder, evaluations, json }: ReplayFlags): Promise<void> {
  const { readAsked } = await import('../evaluation/keep.js');
  const { replayEvaluation } = await import('../evaluation/replay.js');
  const { openReplayed } = await import('../tasks/replay.js');
  const { terminalWork } = await import('./terminal.js');
  const asked = readAsked(evaluation, evaluations);
  const { folder } = asked;
  const work = terminalWork();
  const { task, data, agent, close } = await openReplayed(asked, encoder, work);
  try {
    const { excluded, examples } = data;
    const options = { asked, only: question, excluded, examples, signal: work.signal };
    const result = await replayEvaluation(agent.asker, data.samples, agent.scorer, options);
    const { rows, traced, ...summary } = result;
    const [row] = rows;
    if (json) printJson({ evaluation: folder, ...summary, ...(question !== undefined && { row, ...traced[0] }) });
    else if (question !== undefined)
      printSections(task.results?.trace?.(row!, traced[0]!, data) ?? [{ title: '', lines: [JSON.stringify(row)] }]);
    if (!result.identical) throw differs(result, folder);
    if (!json) printLine(`${result.n} ${result.n === 1 ? 'sample' : 'samples'} replayed: every byte as it was saved`);
  } finally {
    await close();
  }
}

function differs({ different, differentFiles, first, n }: Replay<Row>, folder: string): WorkbenchError {
  const where = first ? `sample ${first.id} first, in ${first.file}` : differentFiles.join(', ');
  const count = different.length > 0 ? `${different.length} of ${n} samples that differ` : 'files that differ';
  return new WorkbenchError('data', `expected the bytes of the evaluation, got ${count} (${where}), at ${folder}`, {
    hint: first
      ? `\`${commandLine('replay', shownPath(folder), '--question', first.id)}\` shows what came out now.`
      : 'Rows and traces are equal; only what is counted from them differs.',
  });
}
