/** `kgwalk compare`: several agents and runs on the same samples. */
import type { Command } from 'commander';
import type { CompareFlags } from './dialogues/compare-dialogues.js';
import { addInputOptions, refuseOtherKind } from './input-options.js';
import type { LinkFlags } from './links/link-inputs.js';
import type { QuestionFlags } from './questions/question-inputs.js';

/** Adds `kgwalk compare`. */
export function register(program: Command): void {
  const command = program
    .command('compare')
    .description('agents and runs on the same samples, each tested against the last one named')
    .argument(
      '<agent...>',
      'names of agents (random, frequency, io, fiske, fiske:stateful=false …; on links transe, bilinear, rules, random) and names or folders of runs, RUN@clone for a checkpoint',
    )
    .option('--mixed', 'questions: let models and budgets differ between the agents')
    .option('--report <dir>', 'questions: write the page of `kgwalk report` there');
  addInputOptions(command).action(compare);
}

async function compare(
  names: string[],
  flags: CompareFlags & QuestionFlags & LinkFlags & { mixed?: boolean; report?: string },
): Promise<void> {
  const named = names.map((name) => ({ name }));
  const { kindOfWork } = await import('./kind-of-work.js');
  const kind = await kindOfWork(named, flags.dataset, flags.evaluations);
  refuseOtherKind(flags, kind);
  if (kind === 'dialogues') {
    const { compareDialogues } = await import('./dialogues/compare-dialogues.js');
    return compareDialogues(names, flags);
  }
  if (kind === 'links') {
    const { compareOnLinks } = await import('./links/compare-on-links.js');
    return compareOnLinks(named, flags);
  }
  const { compareOnQuestions } = await import('./questions/compare-on-questions.js');
  return compareOnQuestions(named, flags);
}
