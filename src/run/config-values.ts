/** Settings as values: their canonical form, hash and differences. */
import { createHash } from 'node:crypto';
import { display } from './config-keys.js';
import { WorkbenchError } from './errors.js';

/** True for a section: keys with values, not a list. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Canonical JSON: sorted keys, no spaces; equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlain(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** sha256 (hex) of the canonical JSON: equal settings give equal hashes for any key order. */
export const configHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** Settings that change no weight and no figure: names, additional logs, sharing of encodings. */
const cosmetic: readonly string[] = ['name', 'log', 'encoder.workers'];

/** Settings without the cosmetic ones: a resumed run may change these, and seeds are grouped without them. */
export function decisiveSettings(config: Readonly<Record<string, unknown>>, prefix = ''): Record<string, unknown> {
  const kept = Object.entries(config).filter(([key]) => !cosmetic.includes(prefix + key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, isPlain(value) ? decisiveSettings(value, `${prefix}${key}.`) : value]),
  );
}

/** Dotted names of the keys with different values, in alphabetical order; lists are compared as a whole. */
export function diffConfig(a: unknown, b: unknown, prefix = ''): string[] {
  if (!isPlain(a) || !isPlain(b)) {
    return canonicalJson([a ?? null]) === canonicalJson([b ?? null]) ? [] : [prefix.slice(0, -1)];
  }
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.flatMap((key) => diffConfig(a[key], b[key], `${prefix}${key}.`));
}

/** Differences between settings: `ppo.clipRange: 0.2 in the run, 0.1 asked for`. @param where owner of the first values */
export function configDifferences(run: unknown, asked: unknown, where = 'the run'): string[] {
  return diffConfig(run, asked).map(
    (key) => `${key}: ${display(valueAt(run, key))} in ${where}, ${display(valueAt(asked, key))} asked for`,
  );
}

/** @throws WorkbenchError `config` that lists all differences, if there are any @param expected such as `the settings of the run` */
export function refuseDifferences(differences: readonly string[], expected: string, place: string, hint: string): void {
  if (differences.length === 0) return;
  const list = differences.map((one) => `\n  ${one}`).join('');
  throw new WorkbenchError('config', `expected ${expected}, got others, at ${place}:${list}`, { hint });
}

/** Value at a dotted key such as `ppo.clipRange`; undefined if absent. Only own keys are followed. */
export const valueAt = (value: unknown, key: string): unknown =>
  key.split('.').reduce((node, name) => (isPlain(node) && Object.hasOwn(node, name) ? node[name] : undefined), value);

/** Every setting by its dotted name: texts as they are, other values as JSON. */
export function settingsByKey(config: Readonly<Record<string, unknown>>, prefix = ''): Record<string, string> {
  const entries = Object.entries(config).flatMap(([key, value]): [string, string][] => {
    if (isPlain(value)) return Object.entries(settingsByKey(value, `${prefix}${key}.`));
    return [[prefix + key, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(entries);
}

/**
 * Settings in which some of several configurations differ, in alphabetical order, with the value of each; null where it lacks the
 * setting or does not run its phase, which alone is no difference.
 */
export function settingDifferences(configs: readonly Readonly<Record<string, unknown>>[]) {
  const all = configs.map((config) => settingsByKey(config));
  const keys = [...new Set(all.flatMap(Object.keys))].sort();
  const isOff = (one: Record<string, string>, key: string) =>
    !key.endsWith('.enabled') && one[`${key.split('.', 1)[0]}.enabled`] === 'false';
  return keys.flatMap((key) => {
    const on = all.filter((one) => !isOff(one, key));
    if (new Set(on.map((one) => one[key])).size < 2) return [];
    return [{ key, values: all.map((one) => (isOff(one, key) ? null : (one[key] ?? null))) }];
  });
}
