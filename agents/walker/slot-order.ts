/** What the places of action lists stand for, where a network knows edges by their place alone. */
import type { EnvSettings } from '../../envs/settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import type { WalkerSettings } from './settings.js';

/**
 * sha256 (hex) over the edge policy, its longest list and the edges that may be walked, in their order: weights of slots mean
 * something for this order alone.
 * @param walked the graph whose rows are the action lists
 * @returns undefined for a network that reads the edges themselves
 */
export function slotOrder(
  { walker, env }: { walker: Pick<WalkerSettings, 'pathAware'>; env: Pick<EnvSettings, 'edgePolicy' | 'maxOut'> },
  walked: Graph,
): string | undefined {
  if (walker.pathAware) return undefined;
  const { edgePolicy, maxOut } = env;
  return configHash({ edgePolicy, maxOut, graph: walked.hash });
}
