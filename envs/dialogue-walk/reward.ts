/** What a walk earns: a terminal reward and, if asked, potential-based shaping. The only part of `envs` that reads golds. */
import type { WalkGold, WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { canonicalPath, pathKey, type Path } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { WalkState } from './rules.js';

/** Φ of a state of a sample. May read the gold: shaping is part of the reward, which agents never see. */
export type Potential = (state: WalkState, sample: WalkSample) => number;

/** Whether a finished walk over a gold that the graph holds earns the hit. Stays are in neither's way. */
export type HitRule = (graph: Graph, state: WalkState, gold: WalkGold) => boolean;

const hitRules = new Map<string, HitRule>([
  ['target', (_, { current }, { target, targets = [target] }) => targets.includes(current)],
  [
    'path',
    ({ equalRelation }, { path }, gold) => {
      const keyOf = (walked: Path) => pathKey(canonicalPath(walked, equalRelation));
      return keyOf(path) === keyOf(gold.path);
    },
  ],
  ['first-hop', (_, { current }, { path }) => current === path[0]?.[2]],
]);

/**
 * Makes a kind of reward known to `env.reward.kind`.
 * @throws WorkbenchError `usage` for a name that is taken
 */
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
export function hitsGold(graph: Graph, state: WalkState, gold: WalkGold, kind: string): boolean {
  return gold.inGraph && hitRules.get(kind)!(graph, state, gold);
}

/**
 * F = γΦ(s′) − Φ(s), with Φ = 0 once the walk is over. Leaves the best policy what it was.
 * @source Ng, Harada and Russell 1999, "Policy invariance under reward transformations", theorem 1
 */
export function shapingReward(
  potential: Potential,
  sample: WalkSample,
  state: WalkState,
  next: WalkState,
  gamma: number,
): number {
  return (next.done ? 0 : gamma * potential(next, sample)) - potential(state, sample);
}

/**
 * Φ = cosine between the embeddings of the current entity and of the gold target, in [-1, 1]; 0 where either is unknown.
 * @param vectors float32 [numEntities, dim], row-major
 */
export function embeddingPotential(vectors: Float32Array, dim: number): Potential {
  return ({ current }, { gold: { target } }) => {
    if (current < 0 || target < 0) return 0;
    let dot = 0;
    let a = 0;
    let b = 0;
    for (let i = 0; i < dim; i++) {
      const x = vectors[current * dim + i]!;
      const y = vectors[target * dim + i]!;
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    return a > 0 && b > 0 ? dot / Math.sqrt(a * b) : 0;
  };
}
