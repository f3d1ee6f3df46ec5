import type { Decision, ReplyOf } from '../decision.js';

/** Reply form of one kind of decision. */
export interface ReplyForm<D extends Decision> {
  /** Instruction that a small model cannot copy as a reply; the same for every decision of a phase, as part of the cached head. */
  instruction: (decision: D) => string;
  /** Numbers that hold for this decision alone, such as how many may be chosen. */
  limits?: (decision: D) => string;
  /** The JSON value that says the reply; numbers count from 1, 0 is none. */
  write: (decision: D, reply: ReplyOf<D>) => unknown;
  shape: (decision: D) => ReplyShape;
  /** The reply that a JSON value says. @param lenient other field names, bare values, and names where numbers were asked, count too */
  read: (decision: D, value: unknown, lenient: boolean) => ReplyOf<D> | undefined;
  /**
   * The reply of a text with brackets as a whole: several lists that add up, or sentences that hold brackets. Tried
   * before `read` gets the pieces.
   */
  readWhole?: (decision: D, text: string) => ReplyOf<D> | undefined;
  /** The reply that lines of text say, where there is no JSON: numbered lists, `key: value`, semicolons. */
  readLines: (decision: D, lines: readonly string[]) => ReplyOf<D> | undefined;
}

/** A JSON value that may be written, as a small closed grammar. */
export type ReplyShape =
  /** All fields, in this order. */
  | { fields: Readonly<Record<string, ReplyShape>> }
  | { list: ReplyShape; min: number; max: number }
  | { tuple: readonly ReplyShape[] }
  | { oneOf: readonly (string | number)[] }
  /** One of these texts: many, and often alike at the beginning. */
  | { texts: readonly string[] }
  | { sequences: readonly (readonly string[])[] }
  | { text: number };

/** Whole numbers `low` … `high` as alternatives: bounds such as `minimum` do not bind every grammar. */
export function wholeNumbers(low: number, high: number): ReplyShape {
  return { oneOf: Array.from({ length: high - low + 1 }, (_, i) => low + i) };
}

/** JSON Schema in the subset that servers with structured output have in common. */
export function shapeSchema(shape: ReplyShape): Record<string, unknown> {
  if ('fields' in shape) {
    return {
      type: 'object',
      properties: Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, shapeSchema(field)])),
      required: Object.keys(shape.fields),
      additionalProperties: false,
    };
  }
  if ('list' in shape) return listSchema(shapeSchema(shape.list), shape.min, shape.max);
  if ('tuple' in shape) return listSchema(tupleItems(shape.tuple), shape.tuple.length, shape.tuple.length);
  if ('oneOf' in shape) {
    return { type: typeof shape.oneOf[0] === 'number' ? 'integer' : 'string', enum: [...shape.oneOf] };
  }
  if ('texts' in shape) return { type: 'string', enum: [...new Set(shape.texts)] };
  if ('sequences' in shape) {
    const names = [...new Set(shape.sequences.flat())];
    const lengths = shape.sequences.map(({ length }) => length);
    const items = { type: 'string', ...(names.length > 0 && { enum: names }) };
    return listSchema(items, Math.min(...lengths), Math.max(...lengths));
  }
  return { type: 'string', maxLength: shape.text };
}

function listSchema(items: unknown, minItems: number, maxItems: number): Record<string, unknown> {
  return { type: 'array', items, minItems, maxItems };
}

/** Tuples (of whole numbers) are not in the common subset: every place may hold what any of them may. */
function tupleItems(tuple: readonly ReplyShape[]): Record<string, unknown> {
  const values = new Set(tuple.flatMap((place) => ('oneOf' in place ? place.oneOf : [])));
  return shapeSchema({ oneOf: [...values].sort((a, b) => Number(a) - Number(b)) });
}

/** About as many tokens as the longest sensible value takes: a bound for generation, not for what may be read. */
export function shapeTokens(shape: ReplyShape): number {
  if ('fields' in shape) {
    return Object.entries(shape.fields).reduce((sum, [name, field]) => sum + name.length + 4 + shapeTokens(field), 2);
  }
  // Names in a list rarely use their full length; single texts do.
  if ('list' in shape) {
    const each = 'text' in shape.list ? Math.ceil(shape.list.text / 5) : shapeTokens(shape.list);
    return 2 + shape.max * (each + 1);
  }
  if ('tuple' in shape) return shape.tuple.reduce((sum, place) => sum + shapeTokens(place) + 1, 2);
  if ('oneOf' in shape) return longest(shape.oneOf.map((value) => JSON.stringify(value).length));
  if ('texts' in shape) return longest(shape.texts.map((text) => tokensOf(text) + 1));
  if ('sequences' in shape) return longest(shape.sequences.map(tokensOf));
  return Math.ceil(shape.text / 2) + 2;
}

/** Token estimate of JSON: one per two ASCII characters, one per byte of other letters. */
function tokensOf(value: unknown): number {
  const json = JSON.stringify(value);
  const others = Buffer.byteLength(json.replace(/[\0-\x7f]/g, ''));
  return Math.ceil((Buffer.byteLength(json) - others) / 2) + others;
}

const longest = (lengths: readonly number[]): number => lengths.reduce((most, length) => Math.max(most, length), 0);

/**
 * Characters of a JSON string; escapes only where there is no other spelling. Free text does not begin like the end of
 * a list: small models would fill it with noise.
 */
const characters = [
  String.raw`first ::= [^"\\\x00-\x1F\x7F ,:}\]] | "\\" ["\\]`,
  String.raw`char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\]`,
];

/** The GBNF grammar (llama.cpp's) of the compact JSON texts of a shape; its start is `root`. No token is spent on white space. */
export function shapeGrammar(shape: ReplyShape): string {
  const rules: string[] = [];
  const lines = [`root ::= ${expression(shape, rules)}`, ...rules];
  if (lines.some((line) => line.includes(' char{'))) lines.push(...characters);
  return `${lines.join('\n')}\n`;
}

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
  if ('oneOf' in shape) return named(shape.oneOf.map((value) => gbnfLiteral(JSON.stringify(value))).join(' | '), rules);
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

function named(body: string, rules: string[]): string {
  if (/^[a-z0-9-]+$/.test(body)) return body;
  const known = rules.find((rule) => rule.endsWith(` ::= ${body}`));
  if (known !== undefined) return known.slice(0, known.indexOf(' '));
  const name = `part-${rules.length}`;
  rules.push(`${name} ::= ${body}`);
  return name;
}

/**
 * A GBNF expression that derives exactly `texts`, and the rules that it needs: their trie with equal subtrees merged, so
 * that the sampler follows one branch instead of trying every text.
 * @param texts at least one; without unpaired surrogates
 * @param prefix of the names of the rules: letters and dashes
 */
export function trieGrammar(texts: Iterable<string>, prefix: string): { expression: string; rules: string[] } {
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
const gbnfLiteral = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** First index from `at` where two texts differ, never between the halves of a character. */
function commonLength(a: string, b: string, at: number): number {
  let length = at;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  const insideOfPair = length > at && /[\ud800-\udbff]/.test(a[length - 1]!);
  return insideOfPair ? length - 1 : length;
}
