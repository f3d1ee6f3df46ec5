/** `kgwalk compare` on links: agents, runs and kept evaluations on the same queries. */
import type { Named } from '../kind-of-work.js';
import { printJson } from '../output.js';
import { evaluateLinkAgents, type NamedLinkEvaluation } from './evaluate-agents.js';
import type { LinkFlags } from './link-inputs.js';

/** Evaluates what is not kept yet, tests all against the last, keeps and prints. */
export async function compareOnLinks(named: readonly Named[], flags: LinkFlags): Promise<void> {
  const { byPooling, compareLinkEvaluations } = await import('../../evaluation/links/compare-links.js');
  const { isLinkEvaluation, readLinkEvaluation, saveLinkEvaluation, saveRunLinkEvaluation } =
    await import('../../evaluation/links/save-link-evaluation.js');
  const kept = new Map<string, NamedLinkEvaluation>();
  for (const { name } of named) {
    if (!isLinkEvaluation(name, flags.evaluations)) continue;
    kept.set(name, { name, ...(await readLinkEvaluation(name, flags.evaluations)) });
  }
  const live = named.filter(({ name }) => !kept.has(name));
  const asked = live.length > 0 ? await evaluateLinkAgents(live, flags) : undefined;
  for (const evaluation of asked?.evaluations ?? []) {
    const { runFolder, record } = evaluation;
    if (runFolder === undefined) await saveLinkEvaluation(evaluation, flags.evaluations);
    else await saveRunLinkEvaluation(runFolder, `${asked!.inputs.label}-${record.checkpoint}`, evaluation);
  }
  const pooled = named.map(({ name }) =>
    byPooling(kept.get(name) ?? asked!.evaluations.find((evaluation) => evaluation.name === name)!),
  );
  const evaluations = pooled.flat();
  // The last one named, by its best walks.
  const reference = evaluations.length - pooled.at(-1)!.length;
  const comparisons = compareLinkEvaluations(evaluations, {}, reference);
  if (flags.json) {
    return printJson({
      agents: evaluations.map(({ name, record, speed }) => ({ name, ...record, speed })),
      comparisons,
    });
  }
  const { printLinkComparison } = await import('./link-tables.js');
  printLinkComparison(evaluations, comparisons, evaluations[reference]!.name);
}
