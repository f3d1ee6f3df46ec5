/** What to do after the quickstart: commands that work as they stand. */
import { basename, relative } from 'node:path';
import { argv, cwd } from 'node:process';
import type { QuickstartResult } from './quickstart.js';

/** Characters that no shell reads anything into, between double quotes. */
const quotable = /^[\p{L}\p{N} ,.?;:'’()[\]-]+$/u;

/** Three lines. @param model as `--model` took it */
export async function nextSteps({ runs }: Pick<QuickstartResult, 'runs'>): Promise<string[]> {
  const program = programName();
  const ask = await exampleQuestion(runs.questions);
  const place = relative(cwd(), runs.questions) || '.';
  return [
    ...(ask === undefined ? [] : [`Ask the walker:          ${program} ask ${quoted(place)} "${ask}"`]),
    `Bring your own graph:    ${program} datasets import custom --from DIR   (triples and questions: docs/questions.md)`,
    `Bring a bigger model:    ${program} models list, then ${program} quickstart --model NAME   (or FILE.gguf)`,
  ];
}

/** How the program was called. */
function programName(): string {
  const called = basename(argv[1] ?? 'kgwalk');
  return called === 'kgwalk' ? called : 'npx kgwalk';
}

const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);

/** A question that the run was not trained on, with its topic in brackets, as `ask` takes it. */
async function exampleQuestion(folder: string): Promise<string | undefined> {
  const { openRun } = await import('../../src/run/run-folder.js');
  const { dataSettings } = await import('../../datasets/settings.js');
  const { loadTrainingQuestions } = await import('../../trainers/questions/load-questions.js');
  const { valid } = await loadTrainingQuestions({ data: dataSettings.parse(openRun(folder).config.data) });
  const bracketed = valid.flatMap(({ task: { question, topics } }) => {
    const [topic, ...others] = topics;
    if (!topic?.span || others.length > 0) return [];
    const [begin, end] = topic.span;
    const text = `${question.slice(0, begin)}[${question.slice(begin, end)}]${question.slice(end)}`;
    return quotable.test(text) ? [text] : [];
  });
  return bracketed[Math.floor(bracketed.length / 2)];
}
