/** Evaluations of the quickstart: its walkers and the baselines, each on valid once and stored. */
import { agentOf } from '../../agents/registry.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import type { RunInfo } from '../../src/run/records.js';
import { evaluateNamed, keepBeside } from '../../tasks/evaluate.js';
import type { EvaluationFlags } from '../../tasks/flags.js';
import { loadTask, type TaskName } from '../../tasks/index.js';
import type { Named, Work } from '../../tasks/task.js';

/** One agent's evaluation. */
export interface EvaluatedAgent {
  /** Name of an untrained agent, of a checkpoint, or of a run's row. */
  name: string;
  folder: string;
  record: EvaluationRecord;
}

/** `reused`: all was evaluated before. */
interface EvaluatedAgents {
  rows: EvaluatedAgent[];
  reused: boolean;
}

const walkBaselines = ['random', 'frequency', 'transe'] as const;

/** Evaluates what is missing, inside the run's folder. */
export async function evaluateWalks(run: RunInfo, work: Work): Promise<EvaluatedAgents> {
  // If PPO gained nothing, the best on valid is the clone; then PPO's row is its last checkpoint.
  const ppo = resolveCheckpoint(run.folder, 'best').phase === 'ppo' ? 'best' : 'last';
  const names = { [`${run.folder}@clone`]: 'clone', [`${run.folder}@${ppo}`]: 'ppo' };
  const named = [
    ...walkBaselines.map((name) => ({ name, isRun: false })),
    ...Object.keys(names).map((name) => ({ name, isRun: true })),
  ];
  return evaluated('dialogues', named, {}, work, (name) => names[name] ?? name);
}

/** Baselines on questions without training and model. */
const questionBaselines = ['random-chain', 'template-lookup'] as const;

/** Samples, and the folder of evaluations. */
interface QuestionWork {
  /** Runs trained on questions, by row name. */
  runs: Readonly<Record<string, RunInfo>>;
  /** Model as given to `--model`. */
  model: string;
  /** Number of questions for the prompted agents. */
  questions: number;
  promptedAgents: readonly string[];
  evaluations: string;
  work: Work;
}

/** Maximum calls per question of a prompted agent. */
const callBudget = 30;

/** Trained agents and baselines on all valid questions. */
export function evaluateUnprompted({ runs, evaluations, work }: QuestionWork): Promise<EvaluatedAgents> {
  return onQuestions([...questionBaselines], runs, { evaluations }, work);
}

/** All of them and prompted agents on a seeded sample of the valid questions. */
export function evaluatePrompted(asked: QuestionWork): Promise<EvaluatedAgents> {
  const { runs, model, questions, promptedAgents, evaluations, work } = asked;
  // The embedded model chooses by words, not by line numbers.
  const prompts = promptedAgents.length > 0 && { model, budget: String(callBudget), choices: 'likelihood' as const };
  const flags = { evaluations, limit: String(questions), ...prompts };
  return onQuestions([...questionBaselines, ...promptedAgents], runs, flags, work);
}

function onQuestions(
  agents: readonly string[],
  runs: QuestionWork['runs'],
  flags: Partial<EvaluationFlags>,
  work: Work,
) {
  const names = Object.fromEntries(Object.entries(runs).map(([name, { folder }]) => [folder, name]));
  const named = [
    ...agents.map((name) => ({ name, isRun: false })),
    ...Object.keys(names).map((name) => ({ name, isRun: true })),
  ];
  return evaluated('questions', named, flags, work, (name) => names[name] ?? agentOf(name));
}

async function evaluated(
  task: TaskName,
  named: readonly Named[],
  flags: Partial<EvaluationFlags>,
  work: Work,
  nameOf: (name: string) => string,
): Promise<EvaluatedAgents> {
  const all = await evaluateNamed(
    await loadTask(task),
    named,
    { checkpoint: 'best', set: [], modelSet: [], ...flags },
    { ...work, progress: (label, ...of) => work.progress(nameOf(label), ...of) },
    { reuse: true },
  );
  if (flags.evaluations === undefined) keepBeside(all);
  return {
    rows: all.map(({ name, folder, record }) => ({ name: nameOf(name), folder, record })),
    reused: all.every(({ speed }) => speed === undefined),
  };
}
