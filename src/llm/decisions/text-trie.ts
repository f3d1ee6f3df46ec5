/** Many texts as one grammar: shared beginnings are written once, and so are shared endings. */

/** A GBNF expression that derives exactly `texts`, and the rules that it needs. */
export interface TrieGrammar {
  expression: string;
  /** Lines `name ::= …`. */
  rules: string[];
}

/**
 * The trie of the texts, with equal subtrees merged, so that a thousand relation sequences stay small and the sampler
 * follows one branch instead of trying every text.
 * @param texts at least one; without unpaired surrogates
 * @param prefix of the names of the rules: letters and dashes
 */
export function trieGrammar(texts: Iterable<string>, prefix: string): TrieGrammar {
  const sorted = [...new Set(texts)].sort((a, b) => (a < b ? -1 : 1));
  const names = new Map<string, string>();

  /** The texts [low, high), of which the first `at` units are alike and written already. */
  const expression = (low: number, high: number, at: number): string => {
    const first = sorted[low]!;
    if (high - low === 1) return gbnfLiteral(first.slice(at));
    const fork = commonLength(first, sorted[high - 1]!, at);
    const branches: string[] = [];
    let begin = low;
    if (first.length === fork) {
      branches.push('""');
      begin++;
    }
    while (begin < high) {
      const point = sorted[begin]!.codePointAt(fork);
      let end = begin + 1;
      while (end < high && sorted[end]!.codePointAt(fork) === point) end++;
      branches.push(expression(begin, end, fork));
      begin = end;
    }
    const body = branches.join(' | ');
    const name = names.get(body) ?? `${prefix}-${names.size}`;
    names.set(body, name);
    return fork === at ? name : `${gbnfLiteral(first.slice(at, fork))} ${name}`;
  };

  const root = expression(0, sorted.length, 0);
  return { expression: root, rules: Array.from(names, ([body, name]) => `${name} ::= ${body}`) };
}

/** A text in GBNF's quotes. Control characters must have been made printable. */
export function gbnfLiteral(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Where two texts part, at or after `at`, never between the halves of a character. */
function commonLength(a: string, b: string, at: number): number {
  let length = at;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  const insideOfPair = length > at && /[\ud800-\udbff]/.test(a[length - 1]!);
  return insideOfPair ? length - 1 : length;
}
