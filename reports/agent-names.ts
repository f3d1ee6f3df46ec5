/** What agents are called on the page. */

const baselines: Readonly<Record<string, string>> = {
  frequency: 'most frequent',
  transe: 'TransE',
  distmult: 'DistMult',
  complex: 'ComplEx',
  rules: 'relation chains',
};

/** The name of an agent that no run trained. */
export function baselineName(agent: string): string {
  return baselines[agent] ?? agent;
}

/** What a checkpoint was trained by, as the settings of its run say it: `PPO`, `REINFORCE`, `clone`; undefined where they do not. */
export function methodOf(config: Record<string, unknown>, checkpoint: string): string | undefined {
  const { enabled } = (config.ppo ?? {}) as { enabled?: unknown };
  if (typeof enabled !== 'boolean') return undefined;
  return enabled && checkpoint !== 'clone' ? algorithmOf(config) : 'clone';
}

/** What a run's phase `ppo` optimises by. */
export function algorithmOf(config: Record<string, unknown>): 'PPO' | 'REINFORCE' {
  const { algorithm } = (config.ppo ?? {}) as { algorithm?: unknown };
  return algorithm === 'reinforce' ? 'REINFORCE' : 'PPO';
}

/** `PPO (best; two-hop bonus 0.6)`; a detail that says what the name says is left out. */
export function labelOf(name: string, details: readonly string[]): string {
  const shown = details.filter((detail) => detail !== name);
  return shown.length > 0 ? `${name} (${shown.join('; ')})` : name;
}
