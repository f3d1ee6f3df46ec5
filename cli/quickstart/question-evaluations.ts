/** The question walker beside agents that do not learn: on all of valid those that ask no model, on some of it all. */
import type { QuestionEvaluationRecord, RunInfo } from '../../src/run/records.js';
import { agentOf } from '../../agents/registry.js';
import { evaluateAgents } from '../questions/evaluate-agents.js';
import type { QuestionFlags } from '../questions/question-inputs.js';
import type { Watch } from '../watch.js';
import { questionBaselines } from './plan.js';

/** What is asked, and where evaluations are kept. */
export interface QuestionWork {
  run: RunInfo;
  /** As `--model` takes it. */
  model: string;
  /** How many questions the prompted agents are asked. */
  questions: number;
  promptedAgents: readonly string[];
  evaluations: string;
  watch: Watch;
}

/** One agent's evaluation on questions. */
export interface QuestionRowOf {
  name: string;
  folder: string;
  record: QuestionEvaluationRecord;
}

interface QuestionTable {
  rows: QuestionRowOf[];
  /** Whether all was evaluated before. */
  reused: boolean;
}

/** Calls a question may cost a prompted agent. */
const callBudget = 30;

/** The walker and the baselines on all valid questions. */
export function evaluateUnprompted({ run, evaluations, watch }: QuestionWork): Promise<QuestionTable> {
  return evaluate([...questionBaselines], run, { evaluations }, watch);
}

/** All of them, and prompted agents, on a seeded sample of the valid questions. */
export function evaluatePrompted(work: QuestionWork): Promise<QuestionTable> {
  const { run, model, questions, promptedAgents, evaluations, watch } = work;
  return evaluate(
    [...questionBaselines, ...promptedAgents],
    run,
    { evaluations, limit: String(questions), ...(promptedAgents.length > 0 && { model, budget: String(callBudget) }) },
    watch,
  );
}

async function evaluate(
  agents: readonly string[],
  run: RunInfo,
  flags: Partial<QuestionFlags>,
  watch: Watch,
): Promise<QuestionTable> {
  const named = [...agents.map((name) => ({ name, isRun: false })), { name: run.folder, isRun: true }];
  const nameOf = (name: string) => (name === run.folder ? 'walker' : agentOf(name));
  const evaluated = await evaluateAgents(
    named,
    { checkpoint: 'best', set: [], modelSet: [], ...flags },
    { watch: { ...watch, progress: (label, ...of) => watch.progress(nameOf(label), ...of) }, reuse: true },
  );
  return {
    rows: evaluated.map(({ name, folder, record }) => ({ name: nameOf(name), folder, record })),
    reused: evaluated.every(({ speed }) => speed === undefined),
  };
}
