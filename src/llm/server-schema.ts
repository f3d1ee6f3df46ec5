/** Limits of servers on JSON schemas: too long enumerations are left out, so that the schema is not refused. */

/**
 * Values of all enumerations of a schema together; and characters of one that has more than `freeValues` texts. Those of OpenAI,
 * which are the narrowest that are documented; llama.cpp makes a grammar of the whole and refuses it somewhere beyond.
 * @source https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas
 */
const mostValues = 1000;
const freeValues = 250;
const mostCharacters = 15_000;

type Schema = Readonly<Record<string, unknown>>;

/**
 * The schema as a server takes it: without the enumerations that go beyond its limits, the longest first.
 * @returns `whole`: nothing was left out, so that a reply is bound to all that may be said
 */
export function withinLimits(schema: Schema): { schema: Schema; whole: boolean } {
  const all = enumsOf(schema);
  const left = new Set(all.filter(isTooLong));
  let values = all.reduce((sum, one) => sum + (left.has(one) ? 0 : one.length), 0);
  for (const one of all.toSorted((a, b) => b.length - a.length)) {
    if (values <= mostValues) break;
    if (left.has(one)) continue;
    left.add(one);
    values -= one.length;
  }
  return left.size === 0 ? { schema, whole: true } : { schema: without(schema, left) as Schema, whole: false };
}

type Enumeration = readonly unknown[];

function isTooLong(values: Enumeration): boolean {
  const characters = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  return values.length > freeValues && characters > mostCharacters;
}

function enumsOf(schema: unknown): Enumeration[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === 'enum' && Array.isArray(value) ? [value as Enumeration] : enumsOf(value),
  );
}

function without(schema: unknown, left: ReadonlySet<unknown>): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((one) => without(one, left));
  const kept = Object.entries(schema).filter(([, value]) => !left.has(value));
  return Object.fromEntries(kept.map(([key, value]) => [key, without(value, left)]));
}
