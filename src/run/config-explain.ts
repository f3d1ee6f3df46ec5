/** What a settings key means, from the schema alone: the same truth that checks files and `--set`. */
import type { z } from 'zod';
import { expectation, isSection, keyNames, keySchemaAt, keySchemaOf, nearestKey } from './config-keys.js';
import { WorkbenchError } from './errors.js';

/** What there is to know of one key. */
export interface KeyExplanation {
  /** Dotted name. */
  key: string;
  /** What it takes, with range or allowed values: `an integer in [1, 64]`, `one of path, target`. */
  takes: string;
  /** Value when nothing is given; undefined where the key may be absent. */
  default: unknown;
  description: string;
}

/**
 * Explains one key, or every key of a section; without a key, all of them.
 * @throws WorkbenchError `usage` for a name the schema does not have, with the nearest one
 */
export function explainConfig(schema: z.ZodType, key = ''): KeyExplanation[] {
  const root = keySchemaOf(schema);
  const path = key === '' ? [] : key.split('.');
  const found = keySchemaAt(root, path);
  if (!found) {
    const near = nearestKey(root, key);
    throw new WorkbenchError('usage', `unknown key ${key}${near ? `; did you mean ${near}?` : ''}`, {
      hint: 'All keys: `kgwalk config explain`.',
    });
  }
  const prefix = key === '' ? '' : `${key}.`;
  const names = isSection(found) ? keyNames(found).map((name) => prefix + name) : [key];
  return names.flatMap((name) => {
    const one = keySchemaAt(root, name.split('.'))!;
    if (isSection(one)) return [];
    return [{ key: name, takes: expectation(one), default: one.default, description: one.description ?? '' }];
  });
}
