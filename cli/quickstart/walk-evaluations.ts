/** The dialogue walker beside agents that learned less: each evaluated on valid once, and kept with the run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { evaluationRecord } from '../../src/run/evaluation-schemas.js';
import { readJsonFile } from '../../src/run/read-json.js';
import type { EvaluationRecord, RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';
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
