/** Access control of `kgwalk serve`: this machine only, or holders of the token. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** True for loopback addresses: `localhost`, 127.0.0.0/8, `::1`. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** A random secret of 192 bits, URL-safe. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Compares a text with the token in constant time. */
export function isToken(given: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/**
 * Checks the `Host` header of a request. Another site can point its own name at 127.0.0.1 (DNS rebinding) and would
 * then read
 * the data as its own, so a loopback server answers to loopback names only.
 * @param header with or without a port
 * @param bound listening address; beyond loopback every name is accepted, because the token protects it
 */
export function isOwnName(header: string | undefined, bound: string): boolean {
  if (header === undefined) return false;
  return !isLoopback(bound) || isLoopback(header.replace(/:\d{1,5}$/, ''));
}
