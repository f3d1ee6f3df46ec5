/** Forecast of an evaluation: calls and tokens of the simulated model, and their price. */
import { rmSync } from 'node:fs';
import type { Row, Sample } from '../evaluation/score.js';
import { temporaryFolder } from '../src/run/files.js';
import { type EvaluatedTask, evaluateNamed } from './evaluate.js';
import type { EvaluationFlags } from './flags.js';
import { pricesOf, settingsOfPrice } from './language-model.js';
import type { Data, Named, Work } from './task.js';

/** Sums over all samples. No prompt counts as cached. */
export interface Forecast {
  /** The simulated model, and samples that it was asked about. */
  model: string;
  n: number;
  calls: number;
  promptTokens: number;
  completionTokens: number;
  /** In the currency of the prices given. */
  price?: number;
  /** Tokens and price if every reply takes `replyTokens`, where these were given. */
  most?: { completionTokens: number; price?: number };
}

/**
 * Evaluates with the simulated model and keeps nothing.
 * @param flags `model`: an oracle; others, which are not asked, stand for `oracle:0.1`
 * @throws as `evaluateNamed`, also for agents that no simulated model suits
 */
export async function forecastEvaluation<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  task: EvaluatedTask<S, Answer, R, D>,
  named: Named,
  flags: EvaluationFlags,
  work: Work,
): Promise<Forecast> {
  const { replyTokens, repeats } = settingsOfPrice(flags.modelSet);
  const prices = pricesOf(flags.modelSet);
  const model = flags.model?.startsWith('oracle:') ? flags.model : 'oracle:0.1';
  const evaluations = temporaryFolder('forecast');
  try {
    const [evaluation] = await evaluateNamed(task, [named], { ...flags, model, modelSet: [], evaluations }, work);
    const { cost } = evaluation!.record;
    const total = (kind: string) => repeats * (cost[kind]?.total ?? 0);
    const [calls, promptTokens] = [total('calls'), total('promptTokens')];
    const pricedWith = (completionTokens: number) => ({
      completionTokens,
      ...(prices && { price: prices.of({ promptTokens, cachedTokens: 0, completionTokens }) }),
    });
    const most = replyTokens === undefined ? {} : { most: pricedWith(calls * replyTokens) };
    return {
      ...{ model, n: repeats * evaluation!.record.n, calls, promptTokens },
      ...pricedWith(total('completionTokens')),
      ...most,
    };
  } finally {
    rmSync(evaluations, { recursive: true, force: true });
  }
}
