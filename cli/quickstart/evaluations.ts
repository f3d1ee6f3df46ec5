/** Walkers of the quickstart beside agents that learned less or nothing, each evaluated on valid once and kept. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentOf } from '../../agents/registry.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { evaluationRecord } from '../../src/run/evaluation-schemas.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { EvaluationRecord, QuestionEvaluationRecord, RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';
import { evaluateAgents } from '../questions/evaluate-agents.js';
import type { QuestionFlags } from '../questions/question-inputs.js';
import type { Watch } from '../watch.js';

/** One agent's evaluation on dialogues. */
export interface WalkRow {
  /** An untrained agent's name, or the phase that a checkpoint is of. */
  name: string;
  record: EvaluationRecord;
}

const baselines = ['random', 'frequency', 'transe'] as const;

/** Evaluates what is not evaluated yet. `reused`: all was. */
export async function evaluateWalks(run: RunInfo, watch: Watch): Promise<{ rows: WalkRow[]; reused: boolean }> {
  // The best on valid is the clone where PPO gained nothing; then the row of PPO is its last checkpoint.
  const ppo = resolveCheckpoint(run.folder, 'best').phase === 'ppo' ? 'best' : 'last';
  const wanted = [
    ...baselines.map((name) => ({ name, agent: name, kind: 'agent' as const, saved: `valid-${name}` })),
    { name: 'clone', agent: `${run.folder}@clone`, kind: 'run' as const, saved: 'valid-clone' },
    { name: 'ppo', agent: `${run.folder}@${ppo}`, kind: 'run' as const, saved: `valid-${ppo}` },
  ];
  const fileOf = (saved: string) => join(runFiles(run.folder).evaluations, `${saved}.json`);
  const missing = wanted.filter(({ saved }) => !existsSync(fileOf(saved)));
  if (missing.length > 0) {
    const { openAgents } = await import('../dialogues/named-agents.js');
    const { evaluateShown } = await import('../dialogues/evaluate-dialogues.js');
    const { saveEvaluation } = await import('../../evaluation/save-evaluation.js');
    // All are opened together: baselines take data, graph and embeddings of the run.
    const { inputs, agents, close } = await openAgents(
      wanted.map(({ agent: name, kind }) => ({ name, kind })),
      { checkpoint: ppo, modelSet: [] },
    );
    try {
      for (const [i, one] of wanted.entries()) {
        if (!missing.includes(one)) continue;
        const { agent, about, notes } = agents[i]!;
        const named: Watch = { ...watch, progress: (_agent, ...of) => watch.progress(one.name, ...of) };
        await saveEvaluation(run.folder, one.saved, await evaluateShown(agent, inputs, about, named), notes);
      }
    } finally {
      await close();
    }
  }
  const rows = wanted.map(({ name, saved }) => ({
    name,
    record: readJsonFile(fileOf(saved), evaluationRecord, 'an evaluation'),
  }));
  return { rows, reused: missing.length === 0 };
}

/** Agents on questions that neither learn nor ask a model. */
const questionBaselines = ['random-chain', 'template-lookup'] as const;

/** What is asked, and where evaluations are kept. */
interface QuestionWork {
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
