/** `kgwalk evaluate` on links: one agent on one split. */
import type { Named } from '../kind-of-work.js';
import { printJson, printLine } from '../output.js';
import { evaluateLinkAgents } from './evaluate-agents.js';
import type { LinkFlags } from './link-inputs.js';

/** Evaluates, keeps the evaluation, prints, and says where it lies. */
export async function evaluateOnLinks(named: Named, flags: LinkFlags): Promise<void> {
  const { saveLinkEvaluation, saveRunLinkEvaluation } = await import('../../evaluation/links/save-link-evaluation.js');
  const { evaluations, inputs } = await evaluateLinkAgents([named], flags);
  const [evaluation] = evaluations;
  const { record, speed, runFolder } = evaluation!;
  const saved =
    runFolder === undefined
      ? await saveLinkEvaluation(evaluation!, flags.evaluations)
      : await saveRunLinkEvaluation(runFolder, `${inputs.label}-${record.checkpoint}`, evaluation!);
  if (flags.json) return printJson({ ...record, speed, saved });
  const { printLinkEvaluation } = await import('./link-tables.js');
  printLinkEvaluation(record, speed);
  printLine(`saved: ${saved}`);
}
