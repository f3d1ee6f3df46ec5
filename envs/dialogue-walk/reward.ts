/** What a walk earns: a terminal reward and, if asked, potential-based shaping. The only part of `envs` that reads golds. */
import type { WalkGold, WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { canonicalPath, pathKey } from '../../src/kg/graph.js';
import type { WalkState } from './rules.js';
import type { EnvSettings } from '../settings.js';

/** Φ of a state of a sample. May read the gold: shaping is part of the reward, which agents never see. */
export type Potential = (state: WalkState, sample: WalkSample) => number;

/**
 * Whether a finished walk hits. Stays are ignored on both sides. A gold that is not in the graph is never hit, not even
 * when another path happens to end at its target: such samples count as misses everywhere.
 */
export function hitsGold(graph: Graph, state: WalkState, gold: WalkGold, kind: EnvSettings['reward']['kind']): boolean {
  if (!gold.inGraph) return false;
  if (kind === 'first-hop') return state.current === gold.path[0]?.[2];
  if (kind === 'target') return (gold.targets ?? [gold.target]).includes(state.current);
  return (
    pathKey(canonicalPath(state.path, graph.equalRelation)) === pathKey(canonicalPath(gold.path, graph.equalRelation))
  );
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
