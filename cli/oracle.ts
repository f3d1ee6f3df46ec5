/** `kgwalk oracle fit`: how a simulated model must err to err as a real one did. */
import type { Command } from 'commander';
import type { FittedConfusion, ObservedDecision } from '../evaluation/oracle/fit-confusion.js';
import type { AskedEvaluation } from '../evaluation/keep.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printTable } from './output.js';

/** Adds `kgwalk oracle`. */
export function register(program: Command): void {
  program
    .command('oracle')
    .description('calibrate the simulated model, `--model oracle:E,confuse=K`')
    .command('fit')
    .description(
      'repeat evaluations of questions without their model, judge each decision by the gold chains, and print the E and K of largest likelihood',
    )
    .argument('<evaluation...>', 'names or folders of evaluations of prompted agents')
    .option('--encoder <file>', 'the encoder, if its file has moved: FILE.gguf or a name of `models list`')
    .option('--evaluations <dir>', 'where evaluations are kept (default runs/evaluations)')
    .option('--json', 'print JSON')
    .action(fit);
}

type FitFlags = { encoder?: string; evaluations?: string; json?: boolean };

async function fit(names: string[], { encoder, evaluations, json }: FitFlags): Promise<void> {
  const { fitConfusion } = await import('../evaluation/oracle/fit-confusion.js');
  const { readAsked } = await import('../evaluation/keep.js');
  const all = names.map((name) => readAsked(name, evaluations));
  const models = new Set(all.map(({ about }) => about.model));
  if (models.size > 1) {
    throw new WorkbenchError(
      'usage',
      `expected evaluations of one model, got ${[...models].map((model) => model ?? 'none').join(' and ')}`,
    );
  }
  const decisions: ObservedDecision[] = [];
  for (const asked of all) decisions.push(...(await decisionsOf(asked, encoder)));
  if (decisions.length === 0) {
    throw new WorkbenchError('data', `expected decisions with a right choice, got none, at ${names.join(', ')}`, {
      hint: 'They are judged by gold chains, which the data set must give.',
    });
  }
  const fitted = fitConfusion(decisions);
  if (json) printJson({ evaluations: names, decisions: decisions.length, ...fitted });
  else await show(fitted, decisions.length);
}

/** The judged decisions of an evaluation, replayed from its stored completions. */
async function decisionsOf(asked: AskedEvaluation & { folder: string }, encoder: string | undefined) {
  const { replayEvaluation } = await import('../evaluation/replay.js');
  const { openReplayed } = await import('../tasks/replay.js');
  const { terminalWork } = await import('./terminal.js');
  const work = terminalWork();
  const { task, data, agent, close } = await openReplayed(asked, encoder, work);
  const decisions: ObservedDecision[] = [];
  try {
    const observed = task.results?.observed;
    if (!observed || asked.modelId === undefined) throw noDecisions(asked.folder);
    await replayEvaluation(agent.asker, data.samples, agent.scorer, {
      ...{ asked, excluded: data.excluded, examples: 0, signal: work.signal },
      onRow: (_, sample, attempt) => decisions.push(...observed(sample, attempt ?? {}, data)),
    });
  } finally {
    await close();
  }
  return decisions;
}

const noDecisions = (name: string) =>
  new WorkbenchError('usage', `expected an evaluation of questions with a model, got ${name}`, {
    hint: 'Such as one of `kgwalk evaluate --agent tog --dataset metaqa/2-hop --model FILE.gguf`.',
  });

async function show({ error, confuse, logLikelihood, table }: FittedConfusion, count: number): Promise<void> {
  const { intervalText, numberText } = await import('../src/run/figures.js');
  const { fitted, byNumber, constant } = logLikelihood;
  printTable(
    table.map(({ from, to, decisions, observed, fitted: expected }) => ({
      choices: from === to ? String(from) : `${from}–${to}`,
      decisions,
      'errors, %': numberText(observed),
      'fitted, %': numberText(expected),
    })),
  );
  printLine(
    `E ${intervalText(error)} % · K ${intervalText(confuse, 'mean')} · ${count} decisions of ${error.n} questions`,
  );
  const nats = [fitted, byNumber, constant].map((value) => value.toFixed(4));
  printLine(
    `log-likelihood a decision: ${nats[0]}; likeness of words left out ${nats[1]}; one rate for all ${nats[2]}`,
  );
  printLine(`--model oracle:${error.value.toFixed(3)},confuse=${confuse.value.toFixed(2)}`);
}
