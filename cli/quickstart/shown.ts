/** Output of the quickstart: two short tables, commands with what they print, and the page on a desktop. */
import { spawn } from 'node:child_process';
import { env, platform, stdout } from 'node:process';
import { Command } from 'commander';
import { loadEvaluation } from '../../reports/run-data.js';
import { commandLine, programName } from '../../src/run/command-line.js';
import { agentTitle } from '../../src/run/evaluation.js';
import { meaningOf } from '../../src/run/figure-meanings.js';
import { intervalText, tableFigures, valueText } from '../../src/run/figures.js';
import { keptStatistics } from '../../tasks/kept-statistics.js';
import { printLine, printTable, type Row } from '../output.js';
import type { EvaluatedAgent, QuickstartResult } from './quickstart.js';

const aboutWalks: Readonly<Record<string, string>> = {
  random: 'any edge',
  frequency: 'the relations that train took most often',
  transe: 'the nearest by embeddings of the graph',
  clone: 'imitates the walks of train',
  PPO: 'the clone, trained on by reward',
};

const aboutQuestions: Readonly<Record<string, string>> = {
  'random-chain': 'any relations, as many as asked',
  'template-lookup': 'relations of the most similar train question',
  PPO: 'trained from answers alone',
  'nsm-chains': 'chains of relations by attention to words, from answers alone',
};

/** The dialogue walker next to agents that learned less: a row each, what the figures mean, and its distance to its clone. */
export async function printWalks(walks: readonly EvaluatedAgent[]): Promise<void> {
  const { n, dataset } = walks[0]!.record;
  const rows = walks.map(walkRow);
  printLine();
  printLine(`Where a dialogue goes next, in the graph: ${n} turns of ${dataset}, none of them trained on`);
  printLine();
  printTable(rows);
  printLine();
  for (const key of Object.keys(rows[0]!)) {
    const meaning = meaningOf(key);
    if (meaning !== undefined) printLine(`${key}: ${meaning}`);
  }
  printLine('Percent, of the validation split; brackets: 95 % intervals.');
  const [clone, ppo] = walks.slice(-2) as [EvaluatedAgent, EvaluatedAgent];
  const [main] = ppo.record.figures;
  const [, { difference } = {}] = await keptStatistics('dialogues', [main!], [[clone.folder], [ppo.folder]], 0);
  if (difference) {
    const chance = difference.pValue < 0.05 ? '' : ': may be chance';
    printLine(
      `PPO minus its clone: ${intervalText(difference)} points of ${main!.key}, p ${difference.pValue.toFixed(3)}${chance}`,
    );
  }
}

/** Answers to questions, one row per agent, trained ones last. */
export function printQuestions({ questions, allQuestions }: QuickstartResult): void {
  const { record } = questions[0]!;
  printLine();
  printLine(
    `Questions about the graph: ${record.n} of ${record.dataset}, ${(record as { subsets?: string[] }).subsets?.join(', ')}, none of them trained on`,
  );
  printLine();
  printTable(questions.map((row) => questionRow(row, allQuestions)));
  printLine();
  printLine('Calls of the language model, its tokens and time: a question.');
}

/** A turn of a dialogue that the walker answers right, as `ask` takes it; undefined where its examples hold none without earlier turns. */
export function exampleTurn({ record }: EvaluatedAgent): { question: string; start: string } | undefined {
  const found = record.examples.flatMap(({ asked, right, walks }) => {
    const [, question] = /^user: (.+)$/.exec(asked.length === 2 ? asked[0]! : '') ?? [];
    const start = walks?.[0]?.[0]?.[0];
    return right && question && start && quotable.test(question) ? [{ question, start }] : [];
  });
  return found[0];
}

/** Prints a command as one would type it, then what it prints. @param register adds it to a program */
export async function showCommand(register: (program: Command) => void, ...words: string[]): Promise<void> {
  printLine();
  printLine(`$ ${commandLine(...words)}`);
  const program = new Command();
  register(program);
  await program.parseAsync(words, { from: 'user' });
}

function walkRow({ name, record: { metrics, figures } }: EvaluatedAgent): Row {
  const shown = [...new Map(tableFigures(figures, [metrics]).map((one) => [one.key.replace(/@.*/, ''), one])).values()];
  const first = shown.map(({ key }) => figures.find((one) => one.key.startsWith(key.replace(/@.*/, '')))!);
  return {
    agent: agentTitle(name),
    ...Object.fromEntries(first.slice(0, 2).map(({ key, unit }) => [key, intervalText(metrics[key], unit)])),
    how: aboutWalks[name] ?? '',
  };
}

function questionRow({ name, folder, record }: EvaluatedAgent, all: readonly EvaluatedAgent[]): Row {
  const { metrics, cost, model, figures } = record;
  const onAll = all.find((one) => one.name === name)?.record;
  const tokens = (cost.promptTokens?.mean ?? 0) + (cost.completionTokens?.mean ?? 0);
  const ms = loadEvaluation(folder).speed?.msPerSample;
  const [main, second] = tableFigures(figures, [metrics]);
  return {
    agent: name,
    [main!.key]: intervalText(metrics[main!.key], main!.unit),
    [second!.key]: valueText(metrics[second!.key], second!.unit),
    calls: (cost.calls?.mean ?? 0).toFixed(1),
    tokens: tokens.toFixed(0),
    time: ms === undefined ? '' : duration(ms),
    ...(all.length > 0 && { [`${main!.key} of all ${all[0]!.record.n}`]: intervalText(onAll?.metrics[main!.key]) }),
    how: model === undefined ? (aboutQuestions[name] ?? '') : 'prompts',
  };
}

const duration = (ms: number) => (ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** Characters that are literal inside double quotes of a shell. */
const quotable = /^[\p{L}\p{N} ,.?;:'’()[\]-]+$/u;

/** Commands for data and models of the user. */
export const nextSteps = (): string[] => [
  `Bring your own graph:    ${programName()} datasets import custom --from DIR   (triples and questions: docs/how-to/your-questions.md)`,
  `Bring a bigger model:    ${programName()} models list, then ${programName()} quickstart --model NAME   (or FILE.gguf)`,
];

/** A question outside the run's training data, with its topic in brackets, as `ask` takes it. */
export async function exampleQuestion(folder: string): Promise<string | undefined> {
  const { openRun } = await import('../../src/run/run-folder.js');
  const { dataSettings } = await import('../../datasets/settings.js');
  const { loadTrainingQuestions } = await import('../../datasets/questions/training-questions.js');
  const { markedQuestion } = await import('../../tasks/questions/ask.js');
  const { valid } = await loadTrainingQuestions({ data: dataSettings.parse(openRun(folder).config.data) });
  const marked = valid.flatMap((sample) => markedQuestion(sample)?.question ?? []);
  const askable = marked.filter((text) => quotable.test(text));
  return askable[Math.floor(askable.length / 2)];
}

/** Command that opens a file on a desktop; undefined in logs, on servers and in builds. */
export function openerOf(
  isTerminal = stdout.isTTY,
  system: NodeJS.Platform = platform,
  variables: NodeJS.ProcessEnv = env,
): readonly [command: string, ...args: string[]] | undefined {
  if (!isTerminal || variables.CI) return undefined;
  if (system === 'darwin') return ['open'];
  if (system === 'win32') return ['cmd', '/c', 'start', ''];
  return variables.DISPLAY || variables.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

/** Opens a page on the desktop without waiting. @returns true if there is a desktop */
export async function openPage(page: string): Promise<boolean> {
  const opener = openerOf();
  if (!opener) return false;
  const [command, ...args] = opener;
  return new Promise((resolve) => {
    const child = spawn(command, [...args, page], { detached: true, stdio: 'ignore' });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
