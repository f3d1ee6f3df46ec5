/** Masks keys and passwords in everything that is shown or written. */
import { env } from 'node:process';
import { WorkbenchError } from './errors.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Environment variables with the key of a language-model server, in order of precedence. */
const keyVariables = ['KGWALK_LLM_KEY', 'OPENAI_API_KEY'];

const secretVariables = [...keyVariables, 'KGWALK_SPARQL_KEY', 'KGWALK_SPARQL_PASSWORD'];

/** Shorter keys are placeholders for servers without keys; masking them would damage ordinary texts. */
const shortestKey = 8;

/** `user:password@` of a URL. A password may contain `@` and (invalidly) `/`. */
const login = /(?<=:\/\/)(?:[^\s/?#]+|[^\s/?#@:]*:(?!\d+[/?#])\S{1,500})@/g;

/** Values of `?key=…`, `&X-Amz-Signature=…`, `--api-key=…`, `llm.apiKey=…`; not a lone `KEY=VALUE`. */
const named = /(?<=[?&\w.-])(key|token|secret|password|credential|signature|sig|auth)=[^\s&#"',;]+/gi;

/**
 * Key for a language-model server, trimmed; undefined if none is set.
 * @throws WorkbenchError `config` for a key that is not valid in a request header
 */
export function serverKey(variables: Variables = env, names = keyVariables): string | undefined {
  const name = names.find((one) => variables[one]?.trim());
  if (name === undefined) return undefined;
  const key = variables[name]!.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new WorkbenchError('config', `expected a key of printable ASCII characters, got others, at ${name}`, {
    hint: 'Set it again, without line breaks and spaces.',
  });
}

/**
 * Headers for a SPARQL endpoint, by lower-case name: `authorization` of KGWALK_SPARQL_USER and _PASSWORD, or of the bearer token
 * KGWALK_SPARQL_KEY, and those of KGWALK_SPARQL_HEADERS, a JSON object.
 * @throws WorkbenchError `config` for what is no header; its text is not repeated
 */
export function endpointHeaders(variables: Variables = env): Record<string, string> {
  const { KGWALK_SPARQL_USER: user = '', KGWALK_SPARQL_PASSWORD: password } = variables;
  const key = serverKey(variables, ['KGWALK_SPARQL_KEY']);
  const login = password && `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const authorization = key ? `Bearer ${key}` : login;
  const own = ownHeaders(variables);
  if (own) return { ...(authorization && { authorization }), ...own };
  const message = 'expected headers as a JSON object, got something else, at KGWALK_SPARQL_HEADERS';
  throw new WorkbenchError('config', message, { hint: 'Such as {"user-agent": "NAME (MAIL)"}.' });
}

/** Headers of KGWALK_SPARQL_HEADERS, by lower-case name; undefined for what is none. */
function ownHeaders({ KGWALK_SPARQL_HEADERS: json }: Variables): Record<string, string> | undefined {
  if (!json?.trim()) return {};
  try {
    return Object.fromEntries(new Headers(JSON.parse(json) as Record<string, string>));
  } catch {
    return undefined;
  }
}

/**
 * Replaces the key by `***`: plain, in JSON, in hexadecimal, in base64 at any offset, and each of these inside a URL.
 * Keys below 8 characters are kept.
 */
export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < shortestKey) return text;
  return writtenForms(key).reduce((rest, form) => rest.replaceAll(form, '***'), text);
}

function writtenForms(key: string): string[] {
  const hex = Buffer.from(key).toString('hex');
  const alone = (['base64', 'base64url'] as const).map((form) => Buffer.from(key).toString(form).split('=', 1)[0]!);
  const encoded = [0, 1, 2].flatMap((before) => base64Within(key, before));
  const plain = [key, JSON.stringify(key).slice(1, -1), hex, hex.toUpperCase(), ...alone, ...encoded];
  const inAddresses = plain.map(encodeURIComponent);
  const lowerCase = inAddresses.map((form) => form.replace(/%../g, (escape) => escape.toLowerCase()));
  return [...new Set([...plain, ...inAddresses, ...lowerCase])];
}

/** Characters of the base64 form that depend on the key alone, after this many preceding bytes (such as `Bearer `). */
function base64Within(key: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
  const [begin, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(begin, end));
}

/** Masks keys and passwords of the environment, passwords in URLs and values named as secrets, in what is shown or written. */
export function masked(text: string, variables: Variables = env): string {
  const ofHeaders = Object.values(ownHeaders(variables) ?? {});
  const secrets = [...secretVariables.map((name) => variables[name]?.trim()), ...ofHeaders];
  const clean = secrets.reduce<string>((rest, secret) => withoutKey(rest, secret), text);
  return clean.replace(login, '***@').replace(named, '$1=***');
}
