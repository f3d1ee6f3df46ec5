/** `kgwalk evaluate` on questions: one agent on one split, saved in a folder of its own. */
import { evaluationFiles } from '../../evaluation/questions/evaluation-folder.js';
import type { Named } from '../kind-of-work.js';
import { printJson, printLine } from '../output.js';
import { evaluateAgents } from './evaluate-agents.js';
import type { QuestionFlags } from './question-inputs.js';

/** Evaluates, prints, and says where the evaluation lies. */
export async function evaluateOnQuestions(named: Named, flags: QuestionFlags): Promise<void> {
  const [evaluation] = await evaluateAgents([named], flags);
  const { record, rows, speed, folder } = evaluation!;
  if (flags.json) {
    const failures = rows.flatMap(({ id, crash }) => (crash === undefined ? [] : [{ id, message: crash }]));
    return printJson({ ...record, speed, failures: failures.slice(0, 10), saved: evaluationFiles(folder).evaluation });
  }
  const { printQuestionEvaluation } = await import('./question-tables.js');
  printQuestionEvaluation(record, speed);
  printLine(`saved: ${folder}`);
}
