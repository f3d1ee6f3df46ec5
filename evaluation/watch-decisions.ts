/** Records an agent's decisions for counting; invisible to the agent and its model. */
import type { Decided, Decision, DecisionClient } from '../src/llm/decision.js';
import { copiesExample } from '../src/llm/decisions/copied-example.js';
import { isChoice, textQueries } from '../src/llm/decisions/likelihood/by-likelihood.js';
import type { Figure } from '../src/run/figures.js';

/** A decision with what came of it. */
export interface TakenDecision {
  decision: Decision;
  decided: Decided<Decision>;
}

export interface WatchedDecisions {
  /** The given client with all its keys, passed to the agent in its place. */
  client: DecisionClient;
  /** Those that were answered until now, in the order in which they were asked. */
  taken(): TakenDecision[];
}

/** Records the decisions of a client, with their outcomes; errors are rethrown. */
export function watchDecisions(client: DecisionClient): WatchedDecisions {
  const asked: (TakenDecision | undefined)[] = [];
  async function decide<D extends Decision>(decision: D): Promise<Decided<D>> {
    // In the order of asking: decisions under way at once may end in any.
    const index = asked.push(undefined) - 1;
    const decided = await client.decide(decision);
    asked[index] = { decision, decided: decided as unknown as Decided<Decision> };
    return decided;
  }
  return {
    client: Object.create(client, { decide: { value: decide, enumerable: true } }) as DecisionClient,
    taken: () => asked.filter((one) => one !== undefined),
  };
}

/**
 * Product of the confidences of the decisions, in (0, 1]: how sure the model was of all that it chose. 1 where nothing had to be
 * chosen; undefined where choices are written, without probabilities.
 */
export function confidenceOf(taken: readonly TakenDecision[], { byLikelihood }: DecisionClient): number | undefined {
  const known = taken.flatMap(({ decided: { confidence } }) => confidence ?? []);
  if (!byLikelihood && known.length === 0) return undefined;
  const isWritten = taken.some(({ decision, decided }) => {
    // Where nothing is offered nothing is chosen, and none was unsure.
    return decided.confidence === undefined && isChoice(decision) && textQueries(decision)!.length > 0;
  });
  if (isWritten) return undefined;
  return known.reduce((product, one) => product * one, 1);
}

/** Figure of every task with prompted agents: the share of replies that repeat an example of their prompt. */
export const copiedFigure: Figure = {
  ...{ key: 'copied', title: 'copied from the example', unit: '%' },
  ...{ better: 'low', place: 'table' },
};

/**
 * Whether a reply repeats an example of its prompt. Undefined where none could, and for what was chosen by likelihood: it was not
 * written.
 */
export function isCopied({ decision, decided: { reply, confidence } }: TakenDecision): boolean | undefined {
  return reply && confidence === undefined ? copiesExample(decision, reply) : undefined;
}
