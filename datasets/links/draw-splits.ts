/** Validation and test triples drawn from data that comes in one file. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { TripleSet } from './triple-set.js';

/** Seed and share of valid and of test: fixed, so that equal files give equal splits everywhere. */
export const drawnSplits = { seed: 0, share: 0.05 } as const;

/**
 * Draws without replacement. A triple that is the last one in train of its head, relation or tail stays there: nothing could
 * be learnt of what train lacks. So valid and test are the share of all triples, at least one, or as many as train can spare.
 * @returns valid and test empty where train can spare none
 */
export function drawSplits(all: TripleColumns): { train: TripleSet; valid: TripleSet; test: TripleSet } {
  const { heads, relations, tails } = all;
  const entityUses = new Map<number, number>();
  const relationUses = new Map<number, number>();
  for (let i = 0; i < heads.length; i++) {
    for (const entity of entitiesOf(heads[i]!, tails[i]!)) add(entityUses, entity, 1);
    add(relationUses, relations[i]!, 1);
  }
  const wanted = Math.max(1, Math.round(drawnSplits.share * heads.length));
  const order = Rng.named(drawnSplits.seed, 'datasets/links/splits').shuffle(Int32Array.from(heads.keys()));
  const role = new Uint8Array(heads.length);
  const left = [0, wanted, wanted];
  for (const i of order) {
    const split = left[1]! >= left[2]! ? 1 : 2;
    if (left[split] === 0) break;
    const entities = entitiesOf(heads[i]!, tails[i]!);
    if (relationUses.get(relations[i]!) === 1 || entities.some((entity) => entityUses.get(entity) === 1)) continue;
    for (const entity of entities) add(entityUses, entity, -1);
    add(relationUses, relations[i]!, -1);
    role[i] = split;
    left[split]!--;
  }
  const sets = [new TripleSet(), new TripleSet(), new TripleSet()] as const;
  for (let i = 0; i < heads.length; i++) sets[role[i] as 0 | 1 | 2].add(heads[i]!, relations[i]!, tails[i]!);
  return { train: sets[0], valid: sets[1], test: sets[2] };
}

/** A loop is one use of its entity. */
const entitiesOf = (head: number, tail: number): number[] => (head === tail ? [head] : [head, tail]);

function add(uses: Map<number, number>, id: number, change: number): void {
  uses.set(id, (uses.get(id) ?? 0) + change);
}
