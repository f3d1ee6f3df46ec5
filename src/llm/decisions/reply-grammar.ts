/** Replies as GBNF, the grammar notation of llama.cpp: compact JSON, so that no token is spent on white space. */
import type { ReplyShape } from './reply-form.js';

/**
 * Characters of a JSON string, of whose escapes only those are allowed that have no other spelling. Free text does not
 * begin like the end of a list: small models that would rather write an empty one then fill the text with noise.
 */
const characters = [
  String.raw`first ::= [^"\\\x00-\x1F\x7F ,:}\]] | "\\" ["\\]`,
  String.raw`char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\]`,
];

/** The grammar of the compact JSON texts of a shape; its start is `root`. */
export function shapeGrammar(shape: ReplyShape): string {
  const rules: string[] = [];
  const lines = [`root ::= ${expression(shape, rules)}`, ...rules];
  if (lines.some((line) => line.includes(' char{'))) lines.push(...characters);
  return `${lines.join('\n')}\n`;
}

/** Adds what it needs to `rules`. */
function expression(shape: ReplyShape, rules: string[]): string {
  if ('fields' in shape) {
    const fields = Object.entries(shape.fields).map(
      ([name, field], i) => `${gbnfLiteral(`${i === 0 ? '{' : ','}"${name}":`)} ${expression(field, rules)}`,
    );
    return `${fields.join(' ')} "}"`;
  }
  if ('list' in shape) return list(named(expression(shape.list, rules), rules), shape.min, shape.max);
  if ('tuple' in shape) {
    return `"[" ${shape.tuple.map((place) => named(expression(place, rules), rules)).join(' "," ')} "]"`;
  }
  if ('oneOf' in shape) {
    return named(shape.oneOf.map((value) => gbnfLiteral(JSON.stringify(value))).join(' | '), rules);
  }
  if ('sequences' in shape) return oneOfMany(shape.sequences, rules);
  if ('texts' in shape) return oneOfMany(shape.texts, rules);
  return String.raw`"\"" first char{0,${shape.text - 1}} "\""`;
}

function oneOfMany(values: readonly (string | readonly string[])[], rules: string[]): string {
  const trie = trieGrammar(
    values.map((value) => JSON.stringify(value)),
    `seq${rules.length}`,
  );
  rules.push(...trie.rules);
  return named(trie.expression, rules);
}

function list(item: string, min: number, max: number): string {
  if (max === 0) return '"[]"';
  const further = `("," ${item}){${Math.max(min - 1, 0)},${max - 1}}`;
  const items = max === 1 ? item : `${item} ${further}`;
  return min === 0 ? `"[" (${items})? "]"` : `"[" ${items} "]"`;
}

/** A named rule, shared by equal expressions. */
function named(body: string, rules: string[]): string {
  if (/^[a-z0-9-]+$/.test(body)) return body;
  const known = rules.find((rule) => rule.endsWith(` ::= ${body}`));
  if (known !== undefined) return known.slice(0, known.indexOf(' '));
  const name = `part-${rules.length}`;
  rules.push(`${name} ::= ${body}`);
  return name;
}

/** A GBNF expression that derives exactly `texts`, and the rules that it needs. */
interface TrieGrammar {
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
function gbnfLiteral(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** First index from `at` where two texts differ, never between the halves of a character. */
function commonLength(a: string, b: string, at: number): number {
  let length = at;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  const insideOfPair = length > at && /[\ud800-\udbff]/.test(a[length - 1]!);
  return insideOfPair ? length - 1 : length;
}
