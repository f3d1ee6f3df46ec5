/** Search for the most probable feasible chain. */
import type { FrontierNode } from '../../../envs/relation-walk/frontier-trie.js';
import type { ChainScores } from './network.js';

/** Beginnings of chains looked at for one question before it is given up: no end is in sight on graphs with thousands of relations. */
const mostTried = 20_000;

/** A chain, or a beginning of chains, whose frontier is computed when it is its turn. */
interface Open {
  node(): FrontierNode;
  /** Log-probability of its relations. */
  log: number;
  /** Log-probability of the best chain that begins so, at most; of a whole chain its own. */
  bound: number;
  whole: boolean;
  /** Relations that it will have; undefined: any number. */
  fixed?: number | undefined;
}

/** Binary heap of open chains: largest bound first, ties in order of insertion. */
class OpenChains {
  readonly #items: { one: Open; added: number }[] = [];
  #added = 0;

  add(one: Open): void {
    const items = this.#items;
    let at = items.push({ one, added: this.#added++ }) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(at, parent); parent = (at - 1) >> 1) {
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): Open | undefined {
    const items = this.#items;
    if (items.length === 0) return undefined;
    this.#swap(0, items.length - 1);
    const { one } = items.pop()!;
    for (let at = 0; ;) {
      let child = 2 * at + 1;
      if (child + 1 < items.length && this.#isBefore(child + 1, child)) child++;
      if (child >= items.length || !this.#isBefore(child, at)) return one;
      this.#swap(at, child);
      at = child;
    }
  }

  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#items[i]!, this.#items[j]!];
    return a.one.bound > b.one.bound || (a.one.bound === b.one.bound && a.added < b.added);
  }

  #swap(i: number, j: number): void {
    const items = this.#items;
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
}

/**
 * Best-first search by upper bound, so that the first whole chain is the best one; ties: the one found first.
 * @param length relations of the chain, or fewer where none of that length leads anywhere; undefined: as probable as its end is
 * @returns the chain with its log-probability among all, those that lead nowhere included; undefined where nothing leads on; `tried`
 *   counts beginnings looked at
 */
export function bestChain(
  root: FrontierNode,
  scores: ChainScores,
  { horizon, length }: { horizon: number; length?: number | undefined },
): { found: { node: FrontierNode; logProb: number } | undefined; tried: number } {
  const given = length === undefined ? undefined : Math.min(length, horizon);
  const endOf = (chain: Int32Array) => (given === undefined ? scores.end(chain) : 0);
  const mostEnd = (relations: number) => (given === undefined ? scores.mostEnd(relations) : 0);
  const open = new OpenChains();
  // Read backwards, chains of each length have a separate tree: the score of a first relation depends on how many follow.
  const lengths =
    given !== undefined ? [given] : scores.backward ? Array.from({ length: horizon }, (_, i) => i + 1) : [];
  for (const fixed of lengths) open.add({ node: () => root, log: 0, bound: mostEnd(fixed), whole: false, fixed });
  if (lengths.length === 0) open.add({ node: () => root, log: 0, bound: 0, whole: false });
  let tried = 0;
  for (let best = open.take(); best && tried < mostTried; best = open.take(), tried++) {
    const { node: follow, log, bound, whole, fixed } = best;
    const node = follow();
    if (whole) return { found: { node, logProb: bound }, tried };
    const chain = node.relations;
    if (fixed === undefined ? chain.length > 0 : chain.length === fixed) {
      open.add({ node: follow, log, bound: log + endOf(chain), whole: true });
    }
    const last = fixed ?? horizon;
    if (chain.length === last) continue;
    const choices = node.choices();
    const logs = scores.relations(chain, last);
    const end = mostEnd(fixed ?? chain.length + 1);
    for (let relation = 0; relation + 1 < choices.length; relation++) {
      if (choices[relation] === 0) continue;
      const sum = log + logs[relation]!;
      open.add({ node: () => node.follow(relation), log: sum, bound: sum + end, whole: false, fixed });
    }
  }
  if (given === undefined || given <= 1) return { found: undefined, tried };
  const shorter = bestChain(root, scores, { horizon, length: given - 1 });
  return { ...shorter, tried: tried + shorter.tried };
}
