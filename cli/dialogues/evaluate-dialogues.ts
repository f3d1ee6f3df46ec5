/** `kgwalk evaluate` on dialogues: one agent on one split. */
import type { Agent } from '../../agents/agent.js';
import type { Evaluation } from '../../evaluation/evaluate.js';
import type { EvaluationInputs } from './evaluation-inputs.js';
import type { AgentFlags, OpenedAgent } from './named-agents.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printJson, printLine, printNote } from '../output.js';
import { threadsOf } from '../threads.js';
import { terminalWatch } from '../watch.js';
import type { Watch } from '../watch.js';

/** The options of `kgwalk evaluate` on dialogues. */
export interface EvaluateFlags extends AgentFlags {
  agent?: string;
  predictions?: string;
  json?: boolean;
}

/** Evaluates an agent or a run on dialogues, prints, and keeps the evaluation in the folder of the run. */
export async function evaluateDialogues(run: string | undefined, flags: EvaluateFlags): Promise<void> {
  const { checkPredictionsName, writePredictions } = await import('../../evaluation/predictions-file.js');
  if (flags.predictions !== undefined) checkPredictionsName(flags.predictions);
  if (run === undefined && threadsOf(flags.threads) > 1) {
    throw new WorkbenchError('usage', `expected a run with --threads ${flags.threads}, got agent ${flags.agent}`, {
      hint: 'Untrained agents answer on one thread: leave --threads out.',
    });
  }
  if (flags.count === 'ark' && flags.agent !== undefined) await refuseWithoutSteps(flags.agent);
  const { openAgents } = await import('./named-agents.js');
  const opened = await openAgents([{ name: (run ?? flags.agent)!, kind: run === undefined ? 'agent' : 'run' }], flags);
  try {
    const [one] = opened.agents;
    if (flags.count === 'ark') printNote(`warning: ${(await import('../../evaluation/ark-count.js')).arkCountWarning}`);
    const evaluation = await evaluateShown(one!.agent, inputsOf(one!, opened.inputs), one!.about);
    const { record, answers, failures } = evaluation;
    if (flags.predictions !== undefined) {
      writePredictions(flags.predictions, { samples: opened.inputs.samples, answers, graph: opened.inputs.graph });
    }
    let saved: string | undefined;
    if (one!.runFolder !== undefined) {
      const { saveEvaluation } = await import('../../evaluation/save-evaluation.js');
      saved = await saveEvaluation(
        one!.runFolder,
        `${opened.inputs.label}-${record.checkpoint}`,
        evaluation,
        one!.notes,
      );
    }
    if (flags.json)
      return printJson({ ...record, failures: failures.slice(0, 10), saved, predictions: flags.predictions });
    const { printEvaluation } = await import('./evaluation-tables.js');
    printEvaluation(record);
    if (saved !== undefined) printLine(`saved: ${saved}`);
  } finally {
    await opened.close();
  }
}

/** What one agent is evaluated with. */
export function inputsOf({ walks }: Pick<OpenedAgent, 'walks'>, inputs: EvaluationInputs): EvaluationInputs {
  return walks ? { ...inputs, walks } : inputs;
}

/** @throws WorkbenchError `usage` for an agent that names walks: before its language model is opened */
async function refuseWithoutSteps(agent: string): Promise<void> {
  const { arkPrompts } = await import('../../agents/prompted/ark/ark-agent.js');
  const { refuseArkCount } = await import('../../evaluation/ark-count.js');
  const naming: readonly string[] = arkPrompts;
  if (naming.includes(agent)) refuseArkCount(agent);
}

/** Evaluates with a progress line, and says on standard error where the agent failed and what its edges give away. */
export async function evaluateShown(
  agent: Agent,
  { graph, walks, samples, seenTargets, settings, horizon, count, about }: EvaluationInputs,
  more: Partial<EvaluationInputs['about']> = {},
  { progress, signal }: Watch = terminalWatch(),
): Promise<Evaluation> {
  const { evaluateAgent } = await import('../../evaluation/evaluate.js');
  const { leakWarning } = await import('../../evaluation/edge-notes.js');
  const warning = walks && leakWarning(walks);
  if (warning !== undefined) printNote(`${agent.name}: ${warning}`);
  const line = progress(agent.name, samples.length, 'samples');
  const evaluation = await evaluateAgent(agent, samples, {
    graph,
    ...(walks && { walks }),
    settings,
    seenTargets,
    horizon,
    count,
    about: { ...about, ...more, hashes: { ...about.hashes, ...more.hashes } },
    onProgress: (done) => line.update(done),
    signal,
  });
  line.finish();
  const [first] = evaluation.failures;
  if (first) {
    printNote(
      `${agent.name}: failed on ${evaluation.failures.length} samples, counted as misses; ${first.id}: ${first.message}`,
    );
  }
  return evaluation;
}
