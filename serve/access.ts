/** Who may read what `kgwalk serve` shows: this machine alone, or whoever has the token. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Whether an address or name means this machine and nobody else can reach it: `localhost`, 127.0.0.0/8, `::1`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** A secret of 192 random bits, in letters that an address can hold. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Whether a text is the token; takes as long for every text of a length, so that its letters cannot be found one by one. */
export function isToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/**
 * Whether the `Host` of a request may be answered. A page elsewhere can have its own name point at 127.0.0.1 (DNS rebinding)
 * and would then read what is served as its own: so a server on this machine answers to its own names alone.
 * @param header with or without a port
 * @param bound the address that the server listens on; beyond loopback every name is taken, because there the token guards
 */
export function isOwnName(header: string | undefined, bound: string): boolean {
  if (header === undefined) return false;
  return !isLoopback(bound) || isLoopback(header.replace(/:\d{1,5}$/, ''));
}
