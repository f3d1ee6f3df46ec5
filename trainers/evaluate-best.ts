/** The full evaluation of a run's best checkpoint on valid, kept with the run. */
import { createPolicy } from '../agents/walker/inputs.js';
import { walkerAgent } from '../agents/walker/walker-agent.js';
import { readCheckpoint } from '../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { evaluateAgent } from '../evaluation/evaluate.js';
import { saveEvaluation } from '../evaluation/save-evaluation.js';
import type { Session } from './session.js';

/** Writes `evaluations/valid-best`. */
export async function evaluateBest({
  tf,
  run,
  settings,
  inputs,
  valid,
  seenTargets,
  hashes,
  progress,
  signal,
}: Session): Promise<void> {
  const best = resolveCheckpoint(run.folder, 'best');
  const policy = createPolicy(tf, inputs, settings.seed);
  try {
    policy.head.parameters.import(readCheckpoint(best.file).tensors);
    const { beamWidth, twoHopBonus } = settings.evaluation;
    const line = progress('evaluate the best on valid', valid.length, 'samples');
    const evaluation = await evaluateAgent(
      walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus }),
      valid,
      {
        graph: inputs.graph,
        settings: settings.evaluation,
        seenTargets,
        horizon: settings.env.horizon,
        about: {
          dataset: settings.data.dataset,
          split: 'valid',
          turns: settings.data.turns,
          checkpoint: 'best',
          seed: settings.seed,
          hashes: { ...(hashes.encoder !== undefined && { encoder: hashes.encoder }) },
        },
        onProgress: (done) => line.update(done),
        ...(signal && { signal }),
      },
    );
    line.finish();
    await saveEvaluation(run.folder, 'valid-best', evaluation);
  } finally {
    policy.head.dispose();
  }
}
