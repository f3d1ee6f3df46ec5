/** Which addresses a download may go to: https anywhere, http only on this machine. */
import { env } from 'node:process';
import { WorkbenchError } from '../errors.js';

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The address to ask for `text`. Where `KGWALK_DOWNLOADS_BASE` names a mirror, `https://HOST/PATH` is asked for as
 * `BASE/HOST/PATH`; hashes are checked all the same.
 * @throws WorkbenchError `usage` for what is no address that may be asked
 */
export function downloadAddress(text: string): URL {
  const wanted = checked(text);
  const base = env.KGWALK_DOWNLOADS_BASE;
  return base ? checked(`${base.replace(/\/+$/, '')}/${wanted.host}${wanted.pathname}${wanted.search}`) : wanted;
}

/**
 * Where a redirect leads.
 * @throws WorkbenchError `failure` for one to another scheme, or from outside to this machine
 */
export function redirectAddress(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to && isAllowed(to) && (!isLoopback(to) || isLoopback(from))) return to;
  throw new WorkbenchError(
    'failure',
    `expected a redirect to https, got one to ${to?.origin ?? 'nowhere'}, at ${from.origin}${from.pathname}`,
    {
      hint: 'Nothing was taken from there.',
    },
  );
}

function checked(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && isAllowed(url)) return url;
  throw new WorkbenchError('usage', `expected an address https://…, got ${JSON.stringify(url?.origin ?? text)}`, {
    hint: 'Plain http is taken from 127.0.0.1 and localhost alone, and no address may hold a password.',
  });
}

function isAllowed(url: URL): boolean {
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

function isLoopback(url: URL): boolean {
  return loopback.includes(url.hostname);
}
