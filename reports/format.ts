/** Formats numbers, agents, figures, runs and relations for readers. */
import { configHash, decisiveSettings } from '../src/run/config-values.js';
import { agentTitle } from '../src/run/evaluation.js';
import { numberText, type Figure } from '../src/run/figures.js';

/**
 * Training method of a checkpoint: `PPO`, `REINFORCE`, `clone` or the kind of a reader or exact walker, from its phase; otherwise from its
 * name and its run's settings; undefined if these do not determine it (the best of a cloned run may be either).
 */
export function methodOf(config: Record<string, unknown>, checkpoint: string, phase?: string): string | undefined {
  const { kind } = (config.reader ?? config.exactWalker ?? {}) as { kind?: unknown };
  if (typeof kind === 'string') return kind;
  if (phase !== undefined) return phase === 'ppo' ? algorithmOf(config) : agentTitle(phase);
  const [ppo, clone] = [config.ppo, config.clone].map((one) => (one as { enabled?: unknown } | undefined)?.enabled);
  if (typeof ppo !== 'boolean') return undefined;
  if (!ppo || checkpoint === 'clone') return 'clone';
  return algorithmOf(config) + (checkpoint === 'best' && clone === true ? ' or clone' : '');
}

/** Kind of a run: `walker`, `reader`, `exactWalker` or `policy`. Settings compare within one kind. */
export function kindOf(config: Record<string, unknown>): string {
  return ['reader', 'exactWalker', 'policy'].find((kind) => config[kind] !== undefined) ?? 'walker';
}

/** Final training method of a run from its settings. */
export const trainedMethodOf = (config: Record<string, unknown>): string | undefined => methodOf(config, 'last');

/** Optimiser of a run's `ppo` phase. */
export function algorithmOf(config: Record<string, unknown>): 'PPO' | 'REINFORCE' {
  const { algorithm } = (config.ppo ?? {}) as { algorithm?: unknown };
  return algorithm === 'reinforce' ? 'REINFORCE' : 'PPO';
}

/** `PPO (best; two-hop bonus 0.6)`; details already in the name are left out. */
export function labelOf(name: string, details: readonly string[]): string {
  const shown = details.filter((detail) => detail !== name);
  return shown.length > 0 ? `${name} (${shown.join('; ')})` : name;
}

/** Equal for configurations that do not differ in a distinguishing setting. */
export const settingsKey = (config: Record<string, unknown>): string => configHash(withoutSeed(config));

/** Distinguishing settings: not the seed, nor settings that change no weight and no figure. */
export function withoutSeed(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(decisiveSettings(config)).filter(([key]) => key !== 'seed'));
}

/** A run's name without time and seed. */
export const plainName = (id: string): string => id.replace(/-\d{8}-\d{6}/, '').replace(/-?(s|seed-?)\d+$/, '') || id;

/** The graph's mark for an edge walked against its direction. */
const inversePrefix = '~';

/** @returns the name without its mark, and whether it had one */
export function readRelation(name: string): { relation: string; inverse: boolean } {
  const inverse = name.startsWith(inversePrefix);
  return { relation: inverse ? name.slice(inversePrefix.length) : name, inverse };
}

/** `0.2912` → `29.1`. */
export const percent = (fraction: number): string => (100 * fraction).toFixed(1);

/** `+6.4`, `−6.4`, in the figure's unit. */
export function signed(value: number, { unit }: Pick<Figure, 'unit'>): string {
  const text = numberText(Math.abs(value), unit);
  return /[1-9]/.test(text) ? `${value < 0 ? '−' : '+'}${text}` : text;
}

/** `= 0.03`, `< 0.001`. */
export const pText = (p: number): string => (p < 0.001 ? '< 0.001' : `= ${p.toFixed(p < 0.0995 ? 3 : 2)}`);

/** `14213` → `14,213`; fractions keep four significant digits. */
export function plain(value: number): string {
  return value.toLocaleString('en-US', Number.isInteger(value) ? {} : { maximumSignificantDigits: 4 });
}

/** `512.7` → `8 min 33 s`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
}

/** `1.84` → `1.8 ms`, `5123` → `5.1 s`. */
export function milliseconds(ms: number): string {
  return ms < 1000 ? `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms` : duration(ms / 1000);
}

/** `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** `promptTokens` → `prompt tokens`. */
export const wordsOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
