/** What learning curves of questions show: the most likely walk of every valid question against its answers. */
import type { Actor } from '../../agents/actor.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { VectorEnv } from '../../envs/vector-env.js';
import { Rng } from '../../src/run/seeds.js';
import { greedyWalks } from '../greedy-walks.js';
import type { Session } from '../session.js';

/** What an observation must show for the gold chain to be compared with the walked one. */
export interface ShowsRelations {
  /** int32 [step]: relations walked. */
  relations: Int32Array;
}

/** Indices of the valid questions that curves are made of: a seeded sample, or all of them. */
export function evaluatedQuestions(count: number, limit: number | null): Int32Array {
  const all = Int32Array.from({ length: count }, (_, i) => i);
  return limit === null || limit >= count
    ? all
    : Rng.named(0, 'train/eval-samples').shuffle(all).subarray(0, limit).sort();
}

/**
 * Figures under `eval/`: means over the questions, those that cannot be walked included as 0. `eval/chain` is the share
 * whose walk is a gold chain; it is for information, since other chains often lead to the same answers.
 */
export async function evaluateQuestionsOnValid<Observation extends ShowsRelations, Request>(
  session: Pick<Session, 'progress' | 'signal'>,
  actor: Actor<Observation, Request>,
  envs: VectorEnv<Observation>,
  valid: readonly QuestionSample[],
  chosen: Int32Array,
): Promise<Record<string, number>> {
  const line = session.progress('evaluate on valid', chosen.length, 'questions');
  const walks = await greedyWalks(actor, envs, chosen, {
    onProgress: (done) => line.update(done),
    signal: session.signal,
  });
  const mean = (of: (walk: (typeof walks)[number], i: number) => unknown) =>
    walks.reduce((sum, walk, i) => sum + Number(of(walk, i) ?? 0), 0) / walks.length;
  const figures = {
    'eval/f1': mean(({ info }) => info.f1),
    'eval/hit@1': mean(({ info }) => info.hit),
    'eval/exact': mean(({ info }) => info.exact),
    'eval/chain': mean(({ observation }, i) =>
      valid[chosen[i]!]!.gold.chains.some((chain) => chain.join() === observation.relations.join()),
    ),
  };
  line.finish(`F1 ${(100 * figures['eval/f1']).toFixed(1)} %`);
  return figures;
}
