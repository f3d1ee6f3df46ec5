/** Replies as GBNF, the grammar notation of llama.cpp: compact JSON, so that no token is spent on white space. */
import type { ReplyShape } from './reply-shape.js';
import { gbnfLiteral, trieGrammar } from './text-trie.js';

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
  if ('sequences' in shape) {
    const trie = trieGrammar(
      shape.sequences.map((names) => JSON.stringify(names)),
      `seq${rules.length}`,
    );
    rules.push(...trie.rules);
    return named(trie.expression, rules);
  }
  return String.raw`"\"" first char{0,${shape.text - 1}} "\""`;
}

function list(item: string, min: number, max: number): string {
  if (max === 0) return '"[]"';
  const further = `("," ${item}){${Math.max(min - 1, 0)},${max - 1}}`;
  const items = max === 1 ? item : `${item} ${further}`;
  return min === 0 ? `"[" (${items})? "]"` : `"[" ${items} "]"`;
}

/** A rule of its own, shared by equal expressions. */
function named(body: string, rules: string[]): string {
  if (/^[a-z0-9-]+$/.test(body)) return body;
  const known = rules.find((rule) => rule.endsWith(` ::= ${body}`));
  if (known !== undefined) return known.slice(0, known.indexOf(' '));
  const name = `part-${rules.length}`;
  rules.push(`${name} ::= ${body}`);
  return name;
}
