/** What learning curves of questions show: the most likely walk of every valid question against its answers. */
import type { TaskRequest } from '../../agents/actor.js';
import type { QuestionSample } from '../../datasets/question.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { sampled } from '../../src/run/seeds.js';
import { greedyWalks } from '../greedy-walks.js';
import type { Session } from '../session.js';
import type { OpenedWalk } from './walk.js';

/** Indices of the valid questions that curves are made of: a seeded sample, or all of them. */
export function evaluatedQuestions(count: number, limit: number | null): Int32Array {
  const all = Array.from({ length: count }, (_, i) => i);
  return Int32Array.from(sampled(all, limit ?? Infinity, 'train/eval-samples'));
}

/**
 * Figures under `eval/`: means over the questions, those that cannot be walked included as 0. `eval/chain` is the share
 * whose walk is a gold chain; it is for information, since other chains often lead to the same answers.
 */
export async function evaluateQuestionsOnValid<Observation, Request extends TaskRequest>(
  session: Pick<Session, 'progress' | 'signal'>,
  { learner, validEnvs, outcomeOf }: Pick<OpenedWalk<Observation, Request>, 'learner' | 'validEnvs' | 'outcomeOf'>,
  valid: readonly QuestionSample[],
  chosen: Int32Array,
): Promise<Record<string, number>> {
  const line = session.progress('evaluate on valid', chosen.length, 'questions');
  const walks = await greedyWalks(learner.actor, validEnvs, chosen, {
    onProgress: (done) => line.update(done),
    signal: session.signal,
  });
  const note = madeFromSamples('choice', 'best checkpoint');
  chosen.forEach((i) => note(valid[i]!));
  const outcomes = walks.map((walk, i) => ({ gold: valid[chosen[i]!]!.gold, ...outcomeOf(walk, valid[chosen[i]!]!) }));
  const mean = (of: (outcome: (typeof outcomes)[number]) => number | boolean) =>
    outcomes.reduce((sum, outcome) => sum + Number(of(outcome)), 0) / outcomes.length;
  const figures = {
    'eval/f1': mean(({ f1 }) => f1),
    'eval/hit@1': mean(({ hit }) => hit),
    'eval/exact': mean(({ exact }) => exact),
    'eval/chain': mean(({ gold, chain }) => gold.chains.some((known) => known.join() === chain.join())),
  };
  line.finish(`F1 ${(100 * figures['eval/f1']).toFixed(1)} %`);
  return figures;
}
