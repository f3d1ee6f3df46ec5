/** Reply form of one kind of decision: instruction, writer, grammar and parser. */
import type { Decision, ReplyOf } from '../decision.js';

/** Reply form of one kind of decision. */
export interface ReplyForm<D extends Decision> {
  /** Instruction, in a form that a small model cannot copy as if it were a reply; the same for every decision of a phase, as part of the cached head. */
  instruction: (decision: D) => string;
  /** Numbers that hold for this decision alone, such as how many may be chosen. */
  limits?: (decision: D) => string;
  /** The JSON value that says the reply; numbers count from 1, 0 is none. */
  write: (decision: D, reply: ReplyOf<D>) => unknown;
  shape: (decision: D) => ReplyShape;
  /**
   * The reply that a JSON value says.
   * @param lenient other field names, bare values, and names where numbers were asked, count too
   */
  read: (decision: D, value: unknown, lenient: boolean) => ReplyOf<D> | undefined;
  /**
   * The reply that a text with brackets says as a whole, where they are no drafts of which the last counts: several lists
   * that add up, or sentences that hold brackets. Tried before `read` gets what may be meant, piece by piece.
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
  /** A list of fixed length whose places differ. */
  | { tuple: readonly ReplyShape[] }
  | { oneOf: readonly (string | number)[] }
  /** One of these texts: many, and often alike at the beginning. */
  | { texts: readonly string[] }
  /** One of these lists of names, and no other. */
  | { sequences: readonly (readonly string[])[] }
  /** Free text of 1 to that many characters. */
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
    return listSchema(
      { type: 'string', ...(names.length > 0 && { enum: names }) },
      Math.min(...lengths),
      Math.max(...lengths),
    );
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
  if ('sequences' in shape) {
    return longest(shape.sequences.map((names) => tokensOf(names)));
  }
  return Math.ceil(shape.text / 2) + 2;
}

/** Token estimate of JSON: one per two ASCII characters, one per byte of other letters. */
function tokensOf(value: unknown): number {
  const json = JSON.stringify(value);
  const others = Buffer.byteLength(json.replace(/[\0-\x7f]/g, ''));
  return Math.ceil((Buffer.byteLength(json) - others) / 2) + others;
}

function longest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}
