/** `kgwalk evaluate`: one agent on one split. */
import { type Command, Option } from 'commander';
import { resolve } from 'node:path';
import type { AskedEvaluation } from '../evaluation/keep.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { RunInfo } from '../src/run/records.js';
import type { Shard } from '../src/run/shards.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { addInputOptions, addShardOption, addThreadsOption, groupOptions } from './options.js';
import { printJson, printLine } from './output.js';
import { addPlanOptions, type PlanFlags, refuseOtherInputs, writeCommandPlan } from './plan.js';

/** Adds `kgwalk evaluate`. */
export function register(program: Command): void {
  const command = program
    .command('evaluate')
    .description('measure how often an agent is right, with intervals, slices, coverage and cost')
    .argument('[run]', 'name or folder of a run; RUN@clone names a checkpoint, RUN+RUN several runs as one')
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
    );
  addShardOption(
    command,
    'evaluate the i-th of n parts, on one of n machines that share the folder; without it: the whole, reusing finished parts',
  );
  addPlanOptions(command, 'parts of it, by --parts,')
    .option('--parts <n>', 'with --write: how many')
    .option('--store <store>', 'with --write, for a run: where its files are put for the workers');
  addThreadsOption(
    addInputOptions(command),
    'the walks of a run on dialogues, or for links the training of an embedding',
  );
  groupOptions(command).action((run: string | undefined, flags: Flags) => evaluate(command, run, flags));
}

type Flags = EvaluationFlags &
  PlanFlags & { json?: boolean; maxMinutes?: number; shard?: Shard; parts?: string; store?: string };

async function evaluate(command: Command, run: string | undefined, { shard, ...flags }: Flags): Promise<void> {
  if ((run === undefined) === (flags.agent === undefined)) {
    throw new WorkbenchError('usage', `expected a run or --agent NAME, got ${run === undefined ? 'neither' : 'both'}`, {
      hint: 'kgwalk evaluate RUN, or kgwalk evaluate --agent frequency',
    });
  }
  if (shard && flags.predictions !== undefined) {
    throw new WorkbenchError('usage', 'expected --shard or --predictions, got both', {
      hint: 'A whole evaluation writes them: leave --shard out once all parts are done.',
    });
  }
  if (flags.write !== undefined) return plan(command, run, flags);
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { evaluateNamed } = await import('../tasks/evaluate.js');
  const { evaluationFiles } = await import('../evaluation/keep.js');
  const named = { name: (run ?? flags.agent)!, isRun: run !== undefined };
  const task = await taskFor([named], flags);
  const predictions = flags.predictions === undefined ? undefined : task.predictions!(flags.predictions);
  const [evaluation] = await evaluateNamed(task, [named], flags, terminalWork(flags.maxMinutes), {
    ...{ shard, ...(predictions && { onAttempt: predictions.take }) },
    ...(flags.inputs !== undefined && {
      async onAsked(asked) {
        await refuseOtherInputs(flags.inputs!, inputsOf(asked));
        return true;
      },
    }),
  });
  predictions?.write();
  const { record, speed, failures, folder } = evaluation!;
  const saved = evaluationFiles(folder).evaluation;
  if (flags.json) {
    return printJson({ ...record, speed, failures: failures.slice(0, 10), saved, predictions: flags.predictions });
  }
  const { printEvaluation } = await import('./evaluation-tables.js');
  printEvaluation(record, speed);
  printLine(`saved: ${folder}`);
  if (shard) printLine('once all parts are done: the same command without --shard');
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
  const folders = await putRuns(members?.map((one) => one.run) ?? runsNamedBy(switches), flags);
  const args = members && [
    members
      .map((one) => (one.checkpoint === flags.checkpoint ? one.run.id : `${one.run.id}@${one.checkpoint}`))
      .join('+'),
  ];
  await evaluateNamed(task, [named], flags, terminalWork(), {
    async onAsked(asked, samples) {
      if (parts > samples) {
        throw new WorkbenchError('usage', `expected at most ${samples} parts, a sample each, got ${parts}, at --parts`);
      }
      await writeCommandPlan(command, { flags, args: args ?? [], inputs: inputsOf(asked), parts, folders });
      return false;
    },
  });
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
