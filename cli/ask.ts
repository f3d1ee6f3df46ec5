/** `kgwalk ask`: one question to a trained walker, to a prompted agent, or of what ranks links. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { addQuestionOptions, groupOptions } from './options.js';
import { printShown } from './output.js';

/** Adds `kgwalk ask`. */
export function register(program: Command): void {
  const command = program
    .command('ask')
    .description('one question of your own: to a run, or to any agent over the graph of a data set of questions')
    .argument('<run-or-question>', 'name or folder of a run; with --agent the question, on links the head')
    .argument(
      '[question]',
      'what is said or asked; on questions [brackets] mark the topic entities; on links see below',
    )
    .argument('[relation]', 'links: RUN HEAD RELATION, or with --agent HEAD RELATION; ~RELATION asks for heads')
    .option(
      '--agent <name>',
      'instead of a run: questions: such as fiske; links: transe, bilinear, rules, random or a run',
    )
    .option('--dataset <name>', 'questions, links: whose graph to answer from, such as metaqa (a run keeps its own)')
    .option('--start <entity>', 'dialogues: name of the entity to start from, as the graph writes it')
    .option(
      '--dialogue <file>',
      'dialogues: what was said and walked before, one dialogue in the release’s form (.json, .jsonl, .csv)',
    )
    .option('--checkpoint <which>', 'best, last, clone or a step', 'best')
    .option(
      '--encoder <file>',
      'of agents that need text vectors: FILE.gguf, a name of `models list`, or hashed:DIM (default the embedded one, demo)',
    )
    .option('--backend <name>', 'tensorflow, wasm or cpu instead of the backend of the run')
    .option('--trace', 'questions: show what the agent did, step by step')
    .option('--beam-width <n>', 'links: walks that go on after a step (a run keeps its own)')
    .option('--config <preset>', 'links: settings that agents transe and bilinear are trained by')
    .option('--top <n>', 'paths or answers to show', '10');
  groupOptions(addQuestionOptions(command)).option('--json', 'print JSON').action(ask);
}

type Flags = EvaluationFlags & { json?: boolean };

async function ask(first: string, second: string | undefined, third: string | undefined, flags: Flags): Promise<void> {
  const { taskFor, terminalWork } = await import('./work.js');
  const { findRun, resolve } = await import('../tasks/named.js');
  const { openRun } = await import('../src/run/run-folder.js');
  const { changedPluginsOf } = await import('../src/run/plugins.js');
  const byAgent = flags.agent !== undefined;
  // An agent may be a run, too: `--agent RUN HEAD RELATION`.
  const named = { name: flags.agent ?? first, ...(!byAgent && { isRun: true }) };
  if (!byAgent && second === undefined) {
    throw new WorkbenchError('usage', 'expected a run and a question, or --agent NAME and a question, got one of two', {
      hint: 'kgwalk ask RUN "QUESTION", or kgwalk ask "QUESTION about [TOPIC]" --agent NAME --dataset NAME',
    });
  }
  // Nothing but a run can be meant: this says what is missing.
  if (!byAgent && !findRun(first)) openRun(first);
  const task = await taskFor([named], flags);
  const words = [...(byAgent ? [first] : []), second, third].filter((word) => word !== undefined);
  const [work, which] = [terminalWork(), resolve(task, named, flags)];
  if (which.trained) for (const line of changedPluginsOf(which.trained.run)) work.note(line);
  const opened = task.openAsk(which, flags, work);
  try {
    printShown(await opened.ask(words), flags.json);
  } finally {
    await opened.close();
  }
}
