/** `kgwalk evaluate`: one agent on one split, of dialogues, questions or links. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluateFlags } from './dialogues/evaluate-dialogues.js';
import { addInputOptions, refuseOtherKind } from './input-options.js';
import type { LinkFlags } from './links/link-inputs.js';
import type { QuestionFlags } from './questions/question-inputs.js';
import { addThreadsOption } from './threads.js';

/** Adds `kgwalk evaluate`. */
export function register(program: Command): void {
  const command = program
    .command('evaluate')
    .description('how often an agent is right, with intervals, slices, coverage and cost')
    .argument('[run]', 'name or folder of a run')
    .option(
      '--agent <name>',
      'an untrained agent instead of a run: frequency, fiske, tog …; on links transe, bilinear, rules or random',
    )
    .option('--predictions <file>', 'dialogues: write all ranked paths, by name, to a .jsonl or .csv file')
    .addOption(
      new Option(
        '--count <how>',
        'dialogues: strict, or ark: beside it the countings of LLM-ARK’s published code, to compare with its paper alone',
      ).choices(['strict', 'ark']),
    );
  addThreadsOption(
    addInputOptions(command),
    'walks of a run on dialogues, on links the training of an embedding',
  ).action(evaluate);
}

async function evaluate(run: string | undefined, flags: EvaluateFlags & QuestionFlags & LinkFlags): Promise<void> {
  if ((run === undefined) === (flags.agent === undefined)) {
    throw new WorkbenchError('usage', `expected a run or --agent NAME, got ${run === undefined ? 'neither' : 'both'}`, {
      hint: 'kgwalk evaluate RUN, or kgwalk evaluate --agent frequency',
    });
  }
  const { kindOfWork } = await import('./kind-of-work.js');
  const named = { name: (run ?? flags.agent)!, isRun: run !== undefined };
  const kind = await kindOfWork([named], flags.dataset);
  refuseOtherKind(flags, kind);
  if (kind === 'dialogues') {
    const { evaluateDialogues } = await import('./dialogues/evaluate-dialogues.js');
    return evaluateDialogues(run, flags);
  }
  if (kind === 'links') {
    const { evaluateOnLinks } = await import('./links/evaluate-on-links.js');
    return evaluateOnLinks(named, flags);
  }
  const { evaluateOnQuestions } = await import('./questions/evaluate-on-questions.js');
  return evaluateOnQuestions(named, flags);
}
