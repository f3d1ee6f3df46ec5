/** `kgwalk evaluate`: one agent on one split. */
import { type Command, Option } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { Shard } from '../src/run/shards.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { addInputOptions, addShardOption, addThreadsOption, groupOptions } from './options.js';
import { printJson, printLine } from './output.js';

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
    'evaluate the i-th of n parts: one of n machines that share the folder; without it: the whole, from what parts have',
  );
  addThreadsOption(
    addInputOptions(command),
    'the walks of a run on dialogues, or for links the training of an embedding',
  );
  groupOptions(command).action(evaluate);
}

async function evaluate(
  run: string | undefined,
  { shard, ...flags }: EvaluationFlags & { json?: boolean; maxMinutes?: number; shard?: Shard },
): Promise<void> {
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
  const { taskFor, terminalWork } = await import('./work.js');
  const { evaluateNamed } = await import('../tasks/evaluate.js');
  const { evaluationFiles } = await import('../evaluation/keep.js');
  const named = { name: (run ?? flags.agent)!, isRun: run !== undefined };
  const task = await taskFor([named], flags);
  const predictions = flags.predictions === undefined ? undefined : task.predictions!(flags.predictions);
  const [evaluation] = await evaluateNamed(task, [named], flags, terminalWork(flags.maxMinutes), {
    ...{ shard, ...(predictions && { onAttempt: predictions.take }) },
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
