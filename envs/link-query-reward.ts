/** What a walk of `kgwalk/LinkQuery-v1` earns: the hit, and what a pretrained scorer thinks of the entity if asked. */
import { WorkbenchError } from '../src/run/errors.js';
import type { LinkQueryWorld } from './link-query-world.js';

/** Reward beside the hit, for training. It may know the answer's probability; walkers never see it. */
export interface LinkShaping {
  /**
   * `terminal`: a walk that ends elsewhere than at its answer earns weight · p(head, relation, end).
   * `potential`: each step earns γΦ(s′) − Φ(s) with Φ = weight · p(head, relation, current), 0 at the end; the best policy stays
   * what it was.
   * @source terminal: Lin et al. 2018, arXiv:1808.10568, eq. 7; potential: Ng, Harada and Russell 1999, theorem 1
   */
  kind: 'terminal' | 'potential';
  /** At least 0. */
  weight: number;
  /** γ of the potential's gain, in [0, 1]: the trainer's discount, else the policy does not stay the same. Default 1. */
  gamma?: number;
  /** Probability in [0, 1] that a triple is true, by ids of the graph; asked once a walk (`terminal`) or once a state. */
  probability(head: number, relation: number, tail: number): number;
}

/** @throws WorkbenchError `usage` for a weight below 0 and a gamma outside [0, 1] */
export function checkShaping({ weight, gamma = 1 }: LinkShaping): void {
  const refuse = (expected: string, got: number, key: string) => {
    throw new WorkbenchError('usage', `expected ${expected}, got ${got}, at shaping.${key} of link queries`);
  };
  if (!(weight >= 0 && Number.isFinite(weight))) refuse('a finite number of at least 0', weight, 'weight');
  if (!(gamma >= 0 && gamma <= 1)) refuse('a number from 0 to 1', gamma, 'gamma');
}

/** Φ of standing at `current` before the end; 0 without potential-based shaping. */
export function potentialOf(world: LinkQueryWorld, query: number, current: number): number {
  return world.shaping?.kind === 'potential' ? worth(world, world.shaping, query, current) : 0;
}

/**
 * Reward of one step.
 * @param hit whether the walk ended at its answer; undefined where it goes on
 * @param before Φ of where the step began
 * @param now Φ of where it led; at the end not read
 */
export function stepReward(
  world: LinkQueryWorld,
  query: number,
  current: number,
  hit: boolean | undefined,
  before: number,
  now: number,
): number {
  const { shaping } = world;
  if (!shaping) return hit ? 1 : 0;
  if (shaping.kind === 'potential') {
    return (hit === undefined ? (shaping.gamma ?? 1) * now : Number(hit)) - before;
  }
  return hit ? 1 : hit === false ? worth(world, shaping, query, current) : 0;
}

/** @throws WorkbenchError `data` for a probability outside [0, 1], which would teach anything */
function worth({ queries }: LinkQueryWorld, { weight, probability }: LinkShaping, query: number, entity: number) {
  const [head, relation] = [queries.heads[query]!, queries.relations[query]!];
  const value = probability(head, relation, entity);
  if (value >= 0 && value <= 1) return weight * value;
  throw new WorkbenchError(
    'data',
    `expected a probability from 0 to 1, got ${value}, at shaping of (${head}, ${relation}, ${entity})`,
  );
}
