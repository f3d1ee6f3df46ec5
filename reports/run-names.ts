/** What runs of one preset have in common: their settings but for the seed, their name but for time and seed. */
import { configHash } from '../src/run/config.js';

/** Equal for configurations that differ in nothing but the seed. */
export function settingsKey(config: Record<string, unknown>): string {
  return configHash(withoutSeed(config));
}

/** Settings that set runs apart. */
export function withoutSeed(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== 'seed'));
}

/** A run's name without time and seed. */
export function plainName(id: string): string {
  return id.replace(/-\d{8}-\d{6}/, '').replace(/-?(s|seed-?)\d+$/, '') || id;
}
