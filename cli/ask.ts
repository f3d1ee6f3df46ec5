/** `kgwalk ask`: one question to a trained walker or to a prompted agent. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { AskFlags } from './dialogues/ask-dialogue.js';
import { addQuestionOptions, refuseOtherKind } from './input-options.js';
import type { AskQuestionFlags } from './questions/ask-question.js';

/** Adds `kgwalk ask`. */
export function register(program: Command): void {
  const command = program
    .command('ask')
    .description('one question of your own: to a run, or to any agent over the graph of a data set of questions')
    .argument('<run-or-question>', 'name or folder of a run; with --agent the question')
    .argument('[question]', 'what is said or asked; on questions [brackets] mark the topic entities')
    .option('--agent <name>', 'questions: an untrained agent instead of a run, such as fiske')
    .option('--dataset <name>', 'questions: whose graph to answer from, such as metaqa (a run keeps its own)')
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
    .option('--top <n>', 'paths or answers to show', '10');
  addQuestionOptions(command).option('--json', 'print JSON').action(ask);
}

async function ask(first: string, second: string | undefined, flags: AskFlags & AskQuestionFlags): Promise<void> {
  const byAgent = flags.agent !== undefined;
  if (byAgent === (second !== undefined)) {
    throw new WorkbenchError(
      'usage',
      `expected a run and a question, or --agent NAME and a question, got ${byAgent ? 'all three' : 'one of two'}`,
      {
        hint: 'kgwalk ask RUN "QUESTION", or kgwalk ask "QUESTION about [TOPIC]" --agent NAME --dataset NAME',
      },
    );
  }
  const named = { name: flags.agent ?? first, isRun: !byAgent };
  const { kindOfWork } = await import('./kind-of-work.js');
  const kind = await kindOfWork([named], flags.dataset);
  refuseOtherKind(flags, kind);
  if (kind === 'dialogues') {
    if (byAgent || flags.start === undefined) {
      throw new WorkbenchError('usage', 'expected a run and --start ENTITY on dialogues, got less', {
        hint: 'kgwalk ask RUN "QUESTION" --start ENTITY',
      });
    }
    const { askDialogue } = await import('./dialogues/ask-dialogue.js');
    return askDialogue(first, second!, flags);
  }
  const { askQuestion } = await import('./questions/ask-question.js');
  return askQuestion(named, second ?? first, flags);
}
