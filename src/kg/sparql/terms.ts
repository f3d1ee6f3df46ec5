/** Terms of an endpoint in N-Triples syntax, as used in queries, and their names as seen by agents. */
import { z } from 'zod';
import { WorkbenchError } from '../../run/errors.js';

/** A term of a result. @source SPARQL 1.1 Query Results JSON Format, 3.2.2; the value of a `triple` (SPARQL 1.2) is an object */
export const bindingSchema = z.object({
  type: z.string(),
  value: z.union([z.string(), z.looseObject({}).transform(() => '')]),
  'xml:lang': z.string().optional(),
  datatype: z.string().optional(),
});

export type Binding = z.output<typeof bindingSchema>;

/** Characters not allowed in an IRI. @source SPARQL 1.1, `IRIREF` */
const forbidden = /[\u0000-\u0020<>"{}|^`\\]/gu;

const isIri = (text: string) => /^[a-z][a-z0-9+.-]*:/i.test(text) && text.search(forbidden) < 0;

/** `<iri>`. @throws WorkbenchError `data` for text that would close the brackets early */
export function iriTerm(iri: string): string {
  if (isIri(iri)) return `<${iri}>`;
  throw new WorkbenchError('data', `expected an IRI, got ${JSON.stringify(iri)}, at a term of the graph`, {
    hint: 'An IRI starts with a scheme and has no space, quote, bracket or backslash.',
  });
}

/** `"text"@en`, with quotes, backslashes and line ends escaped. */
export function literalTerm(
  text: string,
  { language, datatype }: Partial<Record<'language' | 'datatype', string | undefined>> = {},
) {
  const quoted = `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
  if (language !== undefined && /^[a-z]+(?:-[a-z0-9]+)*$/i.test(language)) return `${quoted}@${language}`;
  return datatype === undefined ? quoted : `${quoted}^^${iriTerm(datatype)}`;
}

/** Term in query syntax; undefined if it cannot be queried again: blank nodes, quoted triples and invalid IRIs. */
export function termOf({ type, value, datatype, 'xml:lang': language }: Binding): string | undefined {
  if (type === 'uri') return isIri(value) ? `<${value}>` : undefined;
  if (type !== 'literal' && type !== 'typed-literal') return undefined;
  if (datatype !== undefined && !isIri(datatype)) return undefined;
  return literalTerm(value, { language, datatype });
}

/** IRI of a name: itself if it is one, else the prefix and the percent-encoded name. @throws as `iriTerm` */
export function termOfName(name: string, prefix: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return iriTerm(name);
  return iriTerm(prefix + escaped(name));
}

/** Servers also validate against RFC 3987, which wants brackets and `#` escaped. */
const escaped = (name: string) =>
  name
    .replaceAll('%', '%25')
    .replace(forbidden, encodeURIComponent)
    .replace(/[[\]#]/g, encodeURIComponent);

/** Name of a term, the inverse of `termOfName`: an IRI without the prefix, or a literal's text. */
export function nameOfTerm(term: string, prefix: string): string {
  if (term.startsWith('"')) {
    const text = term.slice(1, term.lastIndexOf('"'));
    return text.replace(/\\(.)/gu, (_, code: string) => ({ n: '\n', r: '\r' })[code] ?? code);
  }
  const iri = term.slice(1, -1);
  if (!iri.startsWith(prefix) || iri === prefix) return iri;
  const name = unescaped(iri.slice(prefix.length));
  return name !== undefined && prefix + escaped(name) === iri && !name.includes('://') ? name : iri;
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
