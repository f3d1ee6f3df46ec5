/** Detection of replies copied from the prompt's example, a habit of small models. */
import { canonicalJson } from '../../run/config-values.js';
import type { Decision, ReplyOf } from '../decision.js';

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
