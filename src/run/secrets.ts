/** Keys and passwords, kept out of everything that is shown or written. */
import { env } from 'node:process';
import { WorkbenchError } from './errors.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where the key of a language-model server is looked for, in this order. */
const keyVariables = ['KGWALK_LLM_KEY', 'OPENAI_API_KEY'];

/** Shorter ones are words that servers without keys are content with; hiding them would spoil ordinary texts. */
const shortestKey = 8;

/** `user:password@` of an address. A password may hold an `@`; and a `/`, though such an address is none. */
const login = /(?<=:\/\/)(?:[^\s/?#]+|[^\s/?#@:]*:(?!\d+[/?#])\S{1,500})@/g;

/** The value of `?key=…`, `&X-Amz-Signature=…`, `--api-key=…`, `llm.apiKey=…`; a lone `KEY=VALUE` explains something. */
const named = /(?<=[?&\w.-])(key|token|secret|password|credential|signature|sig|auth)=[^\s&#"',;]+/gi;

/**
 * The key for a language-model server, without space around it; undefined where none is set.
 * @param variables default the process's environment
 * @throws WorkbenchError `config` for one that no request can carry
 */
export function serverKey(variables: Variables = env): string | undefined {
  const name = keyVariables.find((one) => variables[one]?.trim());
  if (name === undefined) return undefined;
  const key = variables[name]!.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new WorkbenchError('config', `expected a key of printable ASCII characters, got others, at ${name}`, {
    hint: 'Set it again, without line breaks and spaces.',
  });
}

/**
 * `text` with `***` for the key: as it is, in JSON, in hexadecimal, in base64 whatever stands before it, and each of these as part of
 * an address. Keys below 8 characters are left.
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

/** What base64 makes of the key alone where so many bytes stand before it, `Bearer ` say: without the signs that it shares with others. */
function base64Within(key: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
  const [begin, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(begin, end));
}

/**
 * `text` without the server keys of the environment, passwords in addresses and values that are named as secrets. For
 * whatever a user typed and a program or a server said, before it is shown or written.
 * @param variables default the process's environment
 */
export function masked(text: string, variables: Variables = env): string {
  const clean = keyVariables.reduce((rest, name) => withoutKey(rest, variables[name]?.trim()), text);
  return clean.replace(login, '***@').replace(named, '$1=***');
}
