/** `kgwalk quickstart`: the whole workbench on a generated world. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import { shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { register as ask } from './ask.js';
import { printJson, printLine, printNote } from './output.js';
import { repeatable } from './options.js';
import type { FirstResult } from './quickstart/quickstart.js';
import { register as runs } from './runs.js';

interface QuickstartFlags {
  runDir?: string;
  seed?: string;
  questions: string;
  model?: string;
  set: string[];
  open: boolean;
  json?: boolean;
}

/** Adds `kgwalk quickstart`. */
export function register(program: Command): void {
  program
    .command('quickstart')
    .description(
      'see everything work within minutes: make a world, train walkers and a reader on the embedded language model, and measure them against baselines and prompted agents',
    )
    .option(
      '--run-dir <dir>',
      'where runs, evaluations and the page go (default runs/quickstart, with the model and the seed where given)',
    )
    .option('--seed <n>', 'the seed of the runs')
    .option('--questions <n>', 'questions that prompted agents are asked', '20')
    .option('--model <model>', 'language model and text encoder: FILE.gguf or a name (default the embedded model)')
    .option('--set <key=value>', 'change a setting of all runs, such as ppo.updates=4; repeatable', repeatable, [])
    .option('--no-open', 'do not show the page')
    .option('--json', 'print JSON')
    .action(run);
}

async function run({ set, open, json, ...flags }: QuickstartFlags): Promise<void> {
  const { wholeNumber } = await import('../tasks/flags.js');
  const { overallProgress } = await import('./quickstart/overall-progress.js');
  const { promptedAgents, quickstart, quickstartFolder, quickstartPlan, usableModel } =
    await import('./quickstart/quickstart.js');
  const { interruptSignal } = await import('./terminal.js');
  const questions = wholeNumber(flags.questions, '--questions', 1);
  const seed = flags.seed === undefined ? undefined : wholeNumber(flags.seed, '--seed', 0);
  const model = await usableModel(flags.model);
  const { embeddedModelName } = await import('../src/llm/model-files.js');
  const folder = resolve(flags.runDir ?? quickstartFolder(model, seed));
  // Fails before the work if charts cannot be drawn.
  const { tryCanvas } = await import('../reports/pictures.js');
  await tryCanvas();
  printNote(`quickstart in ${folder}`);
  const result = await quickstart({
    folder,
    seed,
    questions,
    promptedAgents,
    model,
    overrides: set,
    ...(!json && { onFirst: showFirst, onPage: (page) => showPage(page, open) }),
    progress: overallProgress(quickstartPlan(questions), model === embeddedModelName),
    signal: interruptSignal(),
  }).catch((error: unknown) => {
    throw goingOn(error);
  });
  if (json) return printJson(result);
  const { exampleQuestion, nextSteps, printQuestions, showCommand } = await import('./quickstart/shown.js');
  printQuestions(result);
  printLine(`Pictures, examples and all figures, in a browser: ${result.page}`);
  const question = await exampleQuestion(result.runs.questions);
  if (question !== undefined) await showCommand(ask, 'ask', shownPath(result.runs.questions), question);
  await showCommand(runs, 'runs', 'list', shownPath(folder));
  printLine();
  for (const line of nextSteps()) printLine(line);
}

/** The dialogue walker with its baselines and an answer of it, while the rest is still being made. */
async function showFirst({ run, walks }: FirstResult): Promise<void> {
  const { exampleTurn, printWalks, showCommand } = await import('./quickstart/shown.js');
  await printWalks(walks);
  const turn = exampleTurn(walks.at(-1)!);
  if (turn) await showCommand(ask, 'ask', shownPath(run), '--start', turn.start, turn.question, '--top', '3');
}

async function showPage(page: string, open: boolean): Promise<void> {
  const { openPage } = await import('./quickstart/shown.js');
  const shown = open && (await openPage(page));
  printLine();
  printLine(`${shown ? 'Opened' : 'A page about it, in a browser'}: ${page}`);
  printLine();
}

/** Points the error of an interrupted step to this command. */
function goingOn(error: unknown): unknown {
  if (!(error instanceof WorkbenchError) || error.code !== 'stopped') return error;
  return new WorkbenchError('stopped', error.message, {
    hint: 'Run the same command again to continue.',
    cause: error,
  });
}
