/** Records an agent's decisions for counting; invisible to the agent and its model. */
import type { Decided, Decision, DecisionClient, ReplyOf } from '../src/llm/decision.js';
import { isChoice, textQueries } from '../src/llm/decisions/likelihood/by-likelihood.js';
import type { Figure } from '../src/run/figures.js';
import { canonicalJson } from '../src/run/config-values.js';

/** A decision with what came of it. */
export type TakenDecision = { decision: Decision; decided: Decided<Decision> };

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
 * Whether a reply repeats an example of its prompt. Undefined where none could, and for what was chosen by likelihood: it was not written.
 */
export function isCopied({ decision, decided: { reply, confidence } }: TakenDecision): boolean | undefined {
  return reply && confidence === undefined ? copiesExample(decision, reply) : undefined;
}

/**
 * True for a reply that repeats an example of its prompt; lists of scores are compared as far as both go. Undefined
 * where no example’s reply could be given here, or fewer than three replies are possible.
 */
export function copiesExample<D extends Decision>(decision: D, reply: ReplyOf<D>): boolean | undefined {
  const examples = decision.examples as readonly { reply: ReplyOf<Decision> }[];
  const same = examples.flatMap((example) => sameReply(decision, reply, example.reply) ?? []);
  return same.length === 0 ? undefined : same.includes(true);
}

/** Undefined where the example's reply is none that this decision allows. */
function sameReply(decision: Decision, reply: ReplyOf<Decision>, example: ReplyOf<Decision>): boolean | undefined {
  const count = 'candidates' in decision ? decision.candidates.length : 0;
  const offered = (indices: readonly number[]) => indices.every((index) => index < count);
  switch (decision.kind) {
    case 'choose-one': {
      const { choice } = example as ReplyOf<typeof decision>;
      const allowed = choice < 0 ? decision.allowNone : choice < count;
      return allowed && count + Number(decision.allowNone) > 2 ? isEqual(reply, example) : undefined;
    }
    case 'choose-many': {
      const { choices } = example as ReplyOf<typeof decision>;
      return count > 1 && offered(choices) ? isEqual(reply, example) : undefined;
    }
    case 'score': {
      const [own, shown] = [reply, example].map((one) => (one as ReplyOf<typeof decision>).scores);
      const common = Math.min(own!.length, shown!.length);
      return common > 1 ? isEqual(own!.slice(0, common), shown!.slice(0, common)) : undefined;
    }
    case 'match': {
      const { matches } = example as ReplyOf<typeof decision>;
      const fits = matches.every(({ candidate, target }) => candidate < count && target < decision.targets.length);
      return count > 1 && fits ? isEqual(reply, example) : undefined;
    }
    case 'chains': {
      const { chains } = example as ReplyOf<typeof decision>;
      const allowed = new Set(decision.allowed.map((chain) => chain.join()));
      const fits = allowed.size > 2 && chains.every((chain) => allowed.has(chain.join()));
      return fits ? isEqual(reply, example) : undefined;
    }
    case 'judge': {
      const { choice } = example as ReplyOf<typeof decision>;
      return choice < Math.max(count, 1) ? isEqual(reply, example) : undefined;
    }
    case 'answer':
      return decision.form === 'truth' ? undefined : isEqual(reply, example);
    case 'extract':
    case 'rewrite':
      return isEqual(reply, example);
    case 'paths':
      // Its example's numbers count paths of another graph.
      return undefined;
  }
}

const isEqual = (reply: unknown, example: unknown) => canonicalJson(reply) === canonicalJson(example);
