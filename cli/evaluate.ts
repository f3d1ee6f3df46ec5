/** `kgwalk evaluate`: one agent on one split. */
import { stderr } from 'node:process';
import type { Command } from 'commander';
import type { Agent } from '../agents/agent.js';
import type { Evaluation } from '../evaluation/evaluate.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationInputs, InputFlags } from './evaluation-inputs.js';
import { printJson, printLine } from './output.js';

interface EvaluateFlags extends InputFlags {
  agent?: string;
  checkpoint: string;
  encoder?: string;
  backend?: string;
  predictions?: string;
  json?: boolean;
}

/** Adds the flags that `evaluate` and `compare` share. */
export function addInputOptions(command: Command): Command {
  return command
    .option('--dataset <name>', 'imported data set (a run keeps its own; default opendialkg)')
    .option('--graph <name>', 'graph of the data set (a run keeps its own; default dialogue)')
    .option('--turns <who>', 'all or assistant (a run keeps its own; default all)')
    .option('--split <split>', 'train, valid or test', 'valid')
    .option('--data <file>', 'dialogues of your own in the release’s format (.csv, .json, .jsonl) instead of a split')
    .option('--limit <n>', 'only n samples, drawn by a fixed seed: the same for every agent')
    .option('--checkpoint <which>', 'best, last, clone or a step', 'best')
    .option('--encoder <file>', 'GGUF model, or hashed:DIM, for agents that need text vectors')
    .option('--backend <name>', 'tensorflow, wasm or cpu instead of the backend of the run')
    .option('--beam-width <n>', 'walks to rank, at least the largest k')
    .option('--two-hop-bonus <nats>', 'added to the score of two-hop walks when ranking')
    .option('--json', 'print JSON');
}

export function register(program: Command): void {
  const command = program
    .command('evaluate')
    .description('how often an agent finds the path that was chosen, with intervals, slices and coverage')
    .argument('[run]', 'name or folder of a run')
    .option('--agent <name>', 'an untrained agent instead of a run, such as frequency')
    .option('--predictions <file>', 'write all ranked paths, by name, to a .jsonl or .csv file');
  addInputOptions(command).action(evaluate);
}

async function evaluate(run: string | undefined, flags: EvaluateFlags): Promise<void> {
  if ((run === undefined) === (flags.agent === undefined)) {
    throw new WorkbenchError('usage', `expected a run or --agent NAME, got ${run === undefined ? 'neither' : 'both'}`, {
      hint: 'kgwalk evaluate RUN, or kgwalk evaluate --agent frequency',
    });
  }
  const { checkPredictionsName, writePredictions } = await import('../evaluation/predictions-file.js');
  if (flags.predictions !== undefined) checkPredictionsName(flags.predictions);
  const { openAgents } = await import('./named-agents.js');
  const opened = await openAgents([{ name: (run ?? flags.agent)!, kind: run === undefined ? 'agent' : 'run' }], flags);
  try {
    const [one] = opened.agents;
    const evaluation = await evaluateShown(one!.agent, opened.inputs, one!.about);
    const { record, answers, failures } = evaluation;
    if (flags.predictions !== undefined) {
      writePredictions(flags.predictions, { samples: opened.inputs.samples, answers, graph: opened.inputs.graph });
    }
    let saved: string | undefined;
    if (one!.runFolder !== undefined) {
      const { saveEvaluation } = await import('../evaluation/save-evaluation.js');
      saved = await saveEvaluation(one!.runFolder, `${opened.inputs.label}-${record.checkpoint}`, evaluation);
    }
    if (flags.json)
      return printJson({ ...record, failures: failures.slice(0, 10), saved, predictions: flags.predictions });
    const { printEvaluation } = await import('./evaluation-tables.js');
    printEvaluation(record);
    if (saved !== undefined) printLine(`saved: ${saved}`);
  } finally {
    await opened.close();
  }
}

/** Evaluates with a progress line, and says on standard error where the agent failed. */
export async function evaluateShown(
  agent: Agent,
  { graph, samples, seenTargets, settings, horizon, about }: EvaluationInputs,
  more: Partial<EvaluationInputs['about']> = {},
): Promise<Evaluation> {
  const { evaluateAgent } = await import('../evaluation/evaluate.js');
  const { terminalProgress } = await import('../src/run/progress.js');
  const { interruptSignal } = await import('./interrupt.js');
  const line = terminalProgress()(agent.name, samples.length, 'samples');
  const evaluation = await evaluateAgent(agent, samples, {
    graph,
    settings,
    seenTargets,
    horizon,
    about: { ...about, ...more, hashes: { ...about.hashes, ...more.hashes } },
    onProgress: (done) => line.update(done),
    signal: interruptSignal(),
  });
  line.finish();
  const [first] = evaluation.failures;
  if (first) {
    stderr.write(
      `${agent.name}: failed on ${evaluation.failures.length} samples, counted as misses; ${first.id}: ${first.message}\n`,
    );
  }
  return evaluation;
}
