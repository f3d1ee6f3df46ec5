/** A graph behind an endpoint as a command names it: `sparql:http://127.0.0.1:7878/query#prefix=http://example.org/&maxTails=1000`. */
import { join } from 'node:path';
import { z } from 'zod';
import { configHash } from '../run/config.js';
import { WorkbenchError } from '../run/errors.js';
import { cacheFolder } from '../run/locations.js';

const scheme = 'sparql:';

/** Whether `--graph` names an endpoint. */
export const isSparqlSource = (text: string | undefined): text is string => text?.startsWith(scheme) ?? false;

const yesOrNo = z.enum(['true', 'false']).transform((text) => text === 'true');

/** What may stand behind `#`, with `&` between. */
const optionsSchema = z.strictObject({
  /** Stands before a name that is no IRI; IRIs are shown without it. */
  prefix: z.string().default('http://kgwalk.invalid/'),
  /** The same of relations. Default `prefix`. */
  relationPrefix: z.string().optional(),
  /** Relation that names entities, such as rdfs:label; without one the IRIs are the names. */
  label: z.url().optional(),
  /** Tails of one relation of an entity that are brought at most. */
  maxTails: z.coerce.number().int().min(1).max(1_000_000).default(1000),
  /** Answers come out of the cache alone. */
  offline: yesOrNo.default(false),
  /** Told by the user of a graph that changed: another version has another cache. */
  version: z.string().default(''),
  /** Seconds for one query. */
  timeout: z.coerce.number().min(0.01).max(3600).default(60),
  /** Further tries after a failure that may pass. */
  retries: z.coerce.number().int().min(0).max(100).default(8),
});

/** A graph behind an endpoint. */
export interface SparqlSource extends z.output<typeof optionsSchema> {
  endpoint: URL;
  /** The whole of it but `offline`, which changes no answer: what a record keeps, and a replay opens again. */
  name: string;
  relationPrefix: string;
}

/** @throws WorkbenchError `usage` for an address or an option that is none */
export function parseSparqlSource(text: string): SparqlSource {
  const address = text.slice(scheme.length);
  const endpoint = URL.canParse(address) ? new URL(address) : undefined;
  if (!endpoint || !/^https?:$/.test(endpoint.protocol) || endpoint.username || endpoint.password) {
    throw new WorkbenchError('usage', `expected sparql:http://HOST/PATH, got ${JSON.stringify(text)}, at --graph`, {
      hint: 'The address of a SPARQL 1.1 endpoint, without a user name; `?default-graph-uri=IRI` chooses one graph of it.',
    });
  }
  const given = new URLSearchParams(endpoint.hash.slice(1));
  const options = optionsSchema.safeParse(Object.fromEntries(given));
  if (!options.success) {
    const problems = options.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ');
    throw new WorkbenchError('usage', `expected options of a graph behind #, got ${problems}, at ${text}`, {
      hint: `There are ${Object.keys(optionsSchema.shape).join(', ')}: #maxTails=1000&label=IRI.`,
    });
  }
  endpoint.hash = '';
  given.delete('offline');
  const name = `${scheme}${endpoint.href}${given.size > 0 ? `#${given.toString()}` : ''}`;
  return { ...options.data, endpoint, name, relationPrefix: options.data.relationPrefix ?? options.data.prefix };
}

/** Where the answers of a source are kept: by all that they depend on. How names are made does not belong to that. */
export function sourceFolder({ endpoint, label, maxTails, version }: SparqlSource, cache = cacheFolder()): string {
  return join(cache, 'graphs', configHash([endpoint.href, label, maxTails, version]).slice(0, 16));
}
