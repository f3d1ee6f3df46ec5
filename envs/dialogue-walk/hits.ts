/** Hit reward of a finished walk. With shaping, the only part of `envs` that reads golds. */
import type { WalkGold } from '../../datasets/walk-sample.js';
import { canonicalPath, type Graph, type Path, pathKey } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';

type EndedWalk = { current: number; path: Path };

/** True if a finished walk over a gold inside the graph is a hit. Stays are ignored on both sides. */
type HitRule = (graph: Graph, state: EndedWalk, gold: WalkGold) => boolean;

const hitRules = new Map<string, HitRule>([
  ['target', (_, { current }, { target }) => current === target],
  [
    'path',
    ({ equalRelation }, { path }, gold) => {
      const keyOf = (walked: Path) => pathKey(canonicalPath(walked, equalRelation));
      return keyOf(path) === keyOf(gold.path);
    },
  ],
  ['first-hop', (_, { current }, { path }) => current === path[0]?.[2]],
]);

/** Makes a kind of reward known to `env.reward.kind`. @throws WorkbenchError `usage` for a name that is taken */
export function registerReward(kind: string, rule: HitRule): void {
  if (hitRules.has(kind)) {
    throw new WorkbenchError('usage', `expected the name of a new reward, got "${kind}", which is registered already`);
  }
  hitRules.set(kind, rule);
}

/** Kinds of rewards that are known, ours first. */
export const rewardKinds = (): string[] => [...hitRules.keys()];

/**
 * Whether a finished walk hits. Stays are ignored on both sides. A gold that is not in the graph is never hit, not even
 * when another path happens to end at its target: such samples count as misses everywhere.
 */
export function hitsGold(graph: Graph, state: EndedWalk, gold: WalkGold, kind: string): boolean {
  return gold.inGraph && hitRules.get(kind)!(graph, state, gold);
}
