/** Choices of a state as a trie of tokens: where their texts part, a token is chosen among those that lead to a legal one. */

/** Place where texts part: the tokens before it, behind the state's body, and the tokens that may follow. */
export interface Branching {
  before: readonly number[];
  edges: readonly { token: number; actions: readonly number[] }[];
}

/** Log-probability of an action: the sum of its edges', less ln `alike` where other legal actions have the same text. */
export interface Choices {
  branchings: readonly Branching[];
  /** By action, only of those whose text is another's too. */
  alike: ReadonlyMap<number, number>;
}

/**
 * @param actions legal ones
 * @param tokensOf tokens of an action's text
 * @param end token that follows a text which begins another one
 */
export function choicesOf(
  actions: readonly number[],
  tokensOf: (action: number) => readonly number[],
  end: number,
): Choices {
  const branchings: Branching[] = [];
  const alike = new Map<number, number>();
  const part = (some: readonly number[], before: readonly number[]): void => {
    if (some.length === 1) return;
    const followed = new Map<number, number[]>();
    for (const action of some) {
      const token = tokensOf(action)[before.length] ?? end;
      const others = followed.get(token);
      if (others) others.push(action);
      else followed.set(token, [action]);
    }
    const edges = Array.from(followed, ([token, own]) => ({ token, actions: own }));
    if (edges.length > 1) branchings.push({ before, edges });
    for (const { token, actions: own } of edges) {
      const longest = own.reduce((most, action) => Math.max(most, tokensOf(action).length), 0);
      if (before.length < longest) part(own, [...before, token]);
      else if (own.length > 1) for (const action of own) alike.set(action, own.length);
    }
  };
  part(actions, []);
  return { branchings, alike };
}
