/** `kgwalk compare` on questions: agents, runs and saved evaluations on the same questions. */
import { resolve } from 'node:path';
import { compareQuestionEvaluations } from '../../evaluation/questions/compare-questions.js';
import type { ComparedEvaluation } from '../../evaluation/questions/compare-questions.js';
import { isFinished, readEvaluation } from '../../evaluation/questions/evaluation-folder.js';
import type { EvaluationSpeed } from '../../evaluation/questions/speedometer.js';
import { unionFigures } from '../../evaluation/questions/union-figures.js';
import type { Named } from '../kind-of-work.js';
import { printJson, printLine } from '../output.js';
import { evaluateAgents } from './evaluate-agents.js';
import type { QuestionFlags } from './question-inputs.js';

/** The speed is of agents that were asked now. */
export type ShownEvaluation = ComparedEvaluation & { folder: string; speed?: EvaluationSpeed };

/** Evaluates what is not evaluated yet, compares all against the last, and prints. */
export async function compareOnQuestions(
  named: readonly Named[],
  flags: QuestionFlags & { mixed?: boolean; report?: string },
): Promise<void> {
  const saved = new Map(
    named.flatMap(({ name }) =>
      isFinished(name, flags.evaluations)
        ? [[name, { name, ...readEvaluation(name, flags.evaluations) }] as const]
        : [],
    ),
  );
  const live = named.filter(({ name }) => !saved.has(name));
  const asked = live.length > 0 ? await evaluateAgents(live, flags) : [];
  const evaluations: ShownEvaluation[] = named.map(
    ({ name }) => saved.get(name) ?? asked.find((evaluation) => evaluation.name === name)!,
  );
  const comparisons = compareQuestionEvaluations(evaluations, { mixed: flags.mixed ?? false });
  const unions = unionFigures(evaluations);
  const report = flags.report === undefined ? undefined : await pageOf(evaluations, flags.report);
  if (flags.json) {
    const agents = evaluations.map(({ name, record, speed }) => ({ name, ...record, speed }));
    return printJson({ agents, comparisons, unions, report });
  }
  const { printQuestionComparison } = await import('./question-tables.js');
  printQuestionComparison(evaluations, comparisons, unions);
  if (report) printLine(`report: ${report.page}`);
}

async function pageOf(evaluations: readonly ShownEvaluation[], folder: string) {
  const { writeReport } = await import('../../reports/report.js');
  return writeReport([], { to: resolve(folder), evaluations: evaluations.map((evaluation) => evaluation.folder) });
}
