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

/** `text` with `***` for the key, as it is, in base64 or as part of an address. Keys below 8 characters are left. */
export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < shortestKey) return text;
  const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64').replace(/=+$/, '')];
  return forms.reduce((rest, form) => rest.replaceAll(form, '***'), text);
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
