/** Evaluations on valid while and after training: quick figures for curves, the full record of the best. */
import { createPolicy } from '../../agents/walker/inputs.js';
import type { Policy } from '../../agents/walker/policy.js';
import { walkerAgent } from '../../agents/walker/walker-agent.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { evaluateAgent, type EvaluateOptions, type Evaluation } from '../../evaluation/evaluate.js';
import { saveEvaluation } from '../../evaluation/save-evaluation.js';
import { sampled } from '../../src/run/seeds.js';
import { logEncoding } from '../session.js';
import type { DialogueSession } from './training.js';

/**
 * Scores the policy on a fixed seeded sample of valid by beam search: the figures of learning curves, under `eval/`.
 */
export async function evaluateOnValid(session: DialogueSession, policy: Policy): Promise<Record<string, number>> {
  const { settings, valid } = session;
  const samples = sampled(valid, settings.ppo.evalSamples ?? Infinity, 'train/eval-samples');
  samples.forEach(madeFromSamples('choice', 'best checkpoint'));
  const line = session.progress('evaluate on valid', samples.length, 'samples');
  const { record } = await evaluatePolicy(session, policy, samples, {
    // No intervals here: a curve shows its spread over seeds.
    settings: { ...settings.evaluation, resamples: 1 },
    onProgress: (done) => line.update(done),
  });
  const value = (key: string) => record.metrics[key]!.value;
  line.finish(`path@1 ${(100 * value('path@1')).toFixed(1)} %`);
  const shown = ['path@1', 'path@5', 'path@25', 'target@1', 'target@25', 'mrr'].filter((key) => key in record.metrics);
  return Object.fromEntries(shown.map((key) => [`eval/${key}`, value(key)]));
}

/** Evaluates the best checkpoint on all of valid and writes `evaluations/valid-best`. */
export async function evaluateBest(session: DialogueSession): Promise<void> {
  const { tf, run, settings, inputs, valid, hashes } = session;
  const best = resolveCheckpoint(run.folder, 'best');
  const policy = createPolicy(tf, inputs, settings.seed);
  try {
    policy.head.parameters.import(readCheckpoint(best.file).tensors);
    const line = session.progress('evaluate the best on valid', valid.length, 'samples');
    const evaluation = await evaluatePolicy(session, policy, valid, {
      about: {
        checkpoint: 'best',
        seed: settings.seed,
        hashes: { ...(hashes.encoder !== undefined && { encoder: hashes.encoder }) },
      },
      onProgress: (done) => line.update(done),
    });
    line.finish();
    await saveEvaluation(run.folder, 'valid-best', evaluation);
    if (inputs.reader) logEncoding(session, 'encode', 2);
  } finally {
    policy.head.dispose();
  }
}

type Changes = Partial<Pick<EvaluateOptions, 'settings' | 'onProgress'>> & {
  about?: Partial<EvaluateOptions['about']>;
};

/** Evaluates a policy under the run's settings, save for what is given. */
async function evaluatePolicy(
  { settings, inputs, seenTargets, signal }: DialogueSession,
  policy: Policy,
  samples: readonly WalkSample[],
  { about, ...changes }: Changes,
): Promise<Evaluation> {
  const { beamWidth, twoHopBonus } = settings.evaluation;
  return evaluateAgent(walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus }), samples, {
    graph: inputs.graph,
    walks: inputs.walks,
    settings: settings.evaluation,
    seenTargets,
    horizon: settings.env.horizon,
    ...(signal && { signal }),
    ...changes,
    about: { dataset: settings.data.dataset, split: 'valid', turns: settings.data.turns, ...about },
  });
}
