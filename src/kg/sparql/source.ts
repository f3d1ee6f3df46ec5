/** Endpoint graphs on the command line (`sparql:http://127.0.0.1:7878/query#prefix=http://example.org/&maxTails=1000`), and their terms. */
import { join } from 'node:path';
import { z } from 'zod';
import { configHash } from '../../run/config-values.js';
import { WorkbenchError } from '../../run/errors.js';
import { cacheFolder } from '../../run/locations.js';

const scheme = 'sparql:';

/** True if `--graph` is an endpoint. */
export const isSparqlSource = (text: string | undefined): text is string => text?.startsWith(scheme) ?? false;

const yesOrNo = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Options after `#`, separated by `&`. */
const optionsSchema = z.strictObject({
  /** Prefix of names that are no IRI; hidden in displayed names. */
  prefix: z.string().default('http://kgwalk.invalid/'),
  /** The same for relations. Default `prefix`. */
  relationPrefix: z.string().optional(),
  /** Relation that names entities, such as rdfs:label; default: IRIs are the names. */
  label: z.url().optional(),
  /** Maximum tails per relation of an entity. */
  maxTails: z.coerce.number().int().min(1).max(1_000_000).default(1000),
  /** Use the cache only. */
  offline: yesOrNo.default(false),
  /** Set by the user after the graph has changed: each version has its own cache. */
  version: z.string().default(''),
  /** Seconds per query. */
  timeout: z.coerce.number().min(0.01).max(3600).default(60),
  /** Retries after a temporary failure. */
  retries: z.coerce.number().int().min(0).max(100).default(8),
});

/** Graph behind an endpoint. */
export interface SparqlSource extends z.output<typeof optionsSchema> {
  endpoint: URL;
  /** Normalised text without `offline`, which does not affect answers: stored in records and opened by a replay. */
  name: string;
  relationPrefix: string;
}

/** @throws WorkbenchError `usage` for an invalid address or option */
export function parseSparqlSource(text: string): SparqlSource {
  const address = text.slice(scheme.length);
  const endpoint = URL.canParse(address) ? new URL(address) : undefined;
  if (!endpoint || !/^https?:$/.test(endpoint.protocol) || endpoint.username || endpoint.password) {
    throw new WorkbenchError('usage', `expected sparql:http://HOST/PATH, got ${JSON.stringify(text)}, at --graph`, {
      hint: 'The address of a SPARQL 1.1 endpoint, without a user name; `?default-graph-uri=IRI` selects a graph.',
    });
  }
  const given = new URLSearchParams(endpoint.hash.slice(1));
  const options = optionsSchema.safeParse(Object.fromEntries(given));
  if (!options.success) {
    const problems = options.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ');
    throw new WorkbenchError('usage', `expected graph options after #, got ${problems}, at ${text}`, {
      hint: `Options: ${Object.keys(optionsSchema.shape).join(', ')}; such as #maxTails=1000&label=IRI.`,
    });
  }
  endpoint.hash = '';
  given.delete('offline');
  const name = `${scheme}${endpoint.href}${given.size > 0 ? `#${given.toString()}` : ''}`;
  return { ...options.data, endpoint, name, relationPrefix: options.data.relationPrefix ?? options.data.prefix };
}

/** Cache folder, by everything that answers depend on (which excludes naming). */
export function sourceFolder({ endpoint, label, maxTails, version }: SparqlSource, cache = cacheFolder()): string {
  return join(cache, 'graphs', configHash([endpoint.href, label, maxTails, version]).slice(0, 16));
}

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
