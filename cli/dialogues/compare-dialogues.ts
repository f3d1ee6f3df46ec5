/** `kgwalk compare` on dialogues: several agents and runs on the same samples. */
import type { Evaluation } from '../../evaluation/evaluate.js';
import { evaluateShown, inputsOf } from './evaluate-dialogues.js';
import type { AgentFlags } from './named-agents.js';
import { printJson } from '../output.js';

/** The options of `kgwalk compare` on dialogues. */
export interface CompareFlags extends AgentFlags {
  json?: boolean;
}

/** Compares agents and runs on dialogues, prints, and keeps the evaluations in the folders of the runs. */
export async function compareDialogues(names: string[], flags: CompareFlags): Promise<void> {
  const { openAgents } = await import('./named-agents.js');
  const { compareEvaluations } = await import('../../evaluation/compare.js');
  const { saveEvaluation } = await import('../../evaluation/save-evaluation.js');
  const opened = await openAgents(
    names.map((name) => ({ name })),
    flags,
  );
  try {
    const { inputs, agents } = opened;
    const evaluations: (Evaluation & { name: string })[] = [];
    for (const one of agents) {
      evaluations.push({ name: one.name, ...(await evaluateShown(one.agent, inputsOf(one, inputs), one.about)) });
    }
    // Every run keeps its own evaluation and those of the untrained agents, which its report shows beside it.
    for (const { runFolder } of agents) {
      if (runFolder === undefined) continue;
      for (const [i, evaluation] of evaluations.entries()) {
        const other = agents[i]!;
        if (other.runFolder !== undefined && other.runFolder !== runFolder) continue;
        const which = other.runFolder === undefined ? other.agent.name : evaluation.record.checkpoint;
        await saveEvaluation(runFolder, `${inputs.label}-${which}`, evaluation, other.notes);
      }
    }
    const comparisons = compareEvaluations(evaluations, inputs.settings);
    if (flags.json) {
      return printJson({ agents: evaluations.map(({ name, record }) => ({ name, ...record })), comparisons });
    }
    const { printComparison } = await import('./evaluation-tables.js');
    printComparison(evaluations, comparisons);
  } finally {
    await opened.close();
  }
}
