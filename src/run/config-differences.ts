/** Two settings of one run compared, told so that a person sees what to change. */
import { diffConfig } from './config.js';
import { display } from './config-keys.js';
import { WorkbenchError } from './errors.js';

/**
 * Every setting whose value differs: `ppo.clipRange: 0.2 in the run, 0.1 asked for`.
 * @param run values of the run, by name
 * @param asked values that were asked for
 */
export function configDifferences(run: unknown, asked: unknown): string[] {
  return diffConfig(run, asked).map(
    (key) => `${key}: ${display(valueAt(run, key))} in the run, ${display(valueAt(asked, key))} asked for`,
  );
}

/**
 * Refuses differences.
 * @param expected what there should have been, such as `the settings of the run`
 * @param place where the run lies
 * @throws WorkbenchError `config` that lists them all
 */
export function refuseDifferences(differences: readonly string[], expected: string, place: string, hint: string): void {
  if (differences.length === 0) return;
  const list = differences.map((one) => `\n  ${one}`).join('');
  throw new WorkbenchError('config', `expected ${expected}, got others, at ${place}:${list}`, { hint });
}

function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce((node, name) => (node as Record<string, unknown> | undefined)?.[name], value);
}
