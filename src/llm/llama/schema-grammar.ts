/**
 * A GBNF grammar that writes exactly the JSON which a schema allows, on one line. The library's own converter ignores
 * `minimum` and `maximum`, allows indented layouts (tokens spent on spaces) and ends with four line feeds.
 * @source llama.cpp grammars/README.md; JSON Schema 2020-12
 */

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about the text, and `uniqueItems`, which a grammar cannot say: readers drop repeats. */
const silent = new Set(['title', 'description', '$schema', 'default', 'examples', 'uniqueItems']);
const known: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum'],
  number: [],
  boolean: [],
  null: [],
};
/** A wider range of integers would make a grammar of thousands of alternatives. */
const widestRange = 1000;

/**
 * Objects write every property, in the order given, and no other. A space may follow `:` and `,`.
 * @throws Error for a keyword that it would have to ignore: a schema binds wholly or is refused
 */
export function schemaGrammar(schema: Schema): string {
  const rules = new Map<string, string>();

  function rule(body: string): string {
    let name = rules.get(body);
    if (name === undefined) rules.set(body, (name = `r${rules.size}`));
    return name;
  }

  function expression(node: Schema): string {
    const choices = node['anyOf'] ?? node['oneOf'];
    if (Array.isArray(choices)) {
      only(node, ['anyOf', 'oneOf']);
      return alternatives((choices as Schema[]).map(expression));
    }
    if ('const' in node || Array.isArray(node['enum'])) {
      only(node, ['type', 'const', 'enum']);
      const values = 'const' in node ? [node['const']] : (node['enum'] as unknown[]);
      if (values.length === 0) throw new Error('a schema with an empty enum allows nothing');
      return rule(alternatives(values.map((value) => literal(JSON.stringify(value)))));
    }
    const { type } = node;
    if (Array.isArray(type)) return alternatives(type.map((one) => expression({ ...node, type: one as string })));
    if (typeof type !== 'string' || !known[type]) throw new Error(`no grammar for the schema ${JSON.stringify(node)}`);
    only(node, ['type', ...known[type]]);
    return typed(type, node);
  }

  function typed(type: string, node: Schema): string {
    switch (type) {
      case 'object':
        return object(node);
      case 'array':
        return array(node);
      case 'string':
        return `"\\"" ${rule(String.raw`[^"\\\x7F\x00-\x1F] | "\\" ["\\/bnrt]`)}${times(bound(node, 'minLength') ?? 0, bound(node, 'maxLength'))} "\\""`;
      case 'integer':
        return integer(node);
      case 'number':
        return rule(`"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})?`);
      case 'boolean':
        return rule('"true" | "false"');
      default:
        return '"null"';
    }
  }

  function object(node: Schema): string {
    if (node['additionalProperties'] !== undefined && node['additionalProperties'] !== false) {
      throw new Error('a grammar needs additionalProperties to be false');
    }
    const members = Object.entries((node['properties'] ?? {}) as Record<string, Schema>).map(
      ([key, value]) => `${literal(`${JSON.stringify(key)}:`)} " "? ${expression(value)}`,
    );
    return rule(`"{" ${members.join(' "," " "? ')} "}"`);
  }

  function array(node: Schema): string {
    const [least, most] = [bound(node, 'minItems') ?? 0, bound(node, 'maxItems')];
    if (most === 0) return '"[]"';
    const item = rule(expression((node['items'] ?? {}) as Schema));
    const items = `${item} ("," " "? ${item})${times(Math.max(least - 1, 0), most === undefined ? undefined : most - 1)}`;
    return rule(`"[" ${least > 0 ? items : `(${items})?`} "]"`);
  }

  function integer(node: Schema): string {
    const [least, most] = [bound(node, 'minimum'), bound(node, 'maximum')];
    if (least === undefined && most === undefined) return rule('"-"? ("0" | [1-9] [0-9]{0,14})');
    if (least === undefined || most === undefined || most < least || most - least >= widestRange) {
      throw new Error(
        `no grammar for integers from ${least} to ${most}: give both ends, ${widestRange} values at most`,
      );
    }
    return rule(alternatives(Array.from({ length: most - least + 1 }, (_, i) => `"${least + i}"`)));
  }

  const root = expression(schema);
  return [`root ::= ${root}`, ...[...rules].map(([body, name]) => `${name} ::= ${body}`)].join('\n');
}

/** A text as GBNF writes it in quotes. */
function literal(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')}"`;
}

function alternatives(expressions: readonly string[]): string {
  return expressions.length === 1 ? expressions[0]! : `(${expressions.join(' | ')})`;
}

function times(least: number, most: number | undefined): string {
  return `{${least},${most ?? ''}}`;
}

function bound(node: Schema, keyword: string): number | undefined {
  const value = node[keyword];
  if (value === undefined) return undefined;
  if (!Number.isInteger(value)) throw new Error(`no grammar for ${keyword} = ${String(value)}`);
  return value as number;
}

function only(node: Schema, allowed: readonly string[]): void {
  for (const keyword of Object.keys(node)) {
    if (!allowed.includes(keyword) && !silent.has(keyword)) {
      throw new Error(`no grammar for the keyword ${keyword} in the schema ${JSON.stringify(node)}`);
    }
  }
}
