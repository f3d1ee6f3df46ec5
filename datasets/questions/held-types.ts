/** Random hold-outs of question types, so that compositional generalisation is not judged on a single set. */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { inverseName } from '../../src/kg/graph.js';
import type { StoredQuestion } from './stored-question.js';

/** One in this many types per number of relations is held out, rounded: of MetaQA's 21 and 15 five and four. */
const heldShare = 4;

/**
 * Set of held-out types such that train still has every relation at every chain position. Never held: types of one relation, and those
 * that return (`directed_by`, `~directed_by`), as they are no new compositions.
 * @param questions all of a data set; a type's chain is that of its first question with one
 * @param seed of the draw alone: the same set for every run
 * @returns sorted by name
 * @throws WorkbenchError `usage` if questions have no types with chains, or too few
 */
export function drawHeldTypes(questions: Iterable<StoredQuestion>, seed: number): string[] {
  const chainOf = new Map<string, readonly string[]>();
  for (const { type, chains } of questions) {
    if (type !== undefined && chains?.[0] && !chainOf.has(type)) chainOf.set(type, chains[0]);
  }
  const types = [...chainOf.keys()].sort();
  const placesOf = (type: string) => chainOf.get(type)!.map((relation, place) => `${place} ${relation}`);
  const shown = new Map<string, number>();
  for (const place of types.flatMap(placesOf)) shown.set(place, (shown.get(place) ?? 0) + 1);

  const held: string[] = [];
  for (const length of [...new Set([...chainOf.values()].map((chain) => chain.length))].sort((a, b) => a - b)) {
    const all = types.filter((type) => chainOf.get(type)!.length === length);
    const order = Rng.named(seed, 'questions/held-types', length).shuffle(Int32Array.from(all.keys()));
    const most = length === 1 ? 0 : Math.round(all.length / heldShare);
    let taken = 0;
    for (const type of Array.from(order, (i) => all[i]!)) {
      const [first, second] = chainOf.get(type)!;
      const returns = length === 2 && second === inverseName(first!);
      if (taken === most || returns || placesOf(type).some((place) => shown.get(place) === 1)) continue;
      for (const place of placesOf(type)) shown.set(place, shown.get(place)! - 1);
      held.push(type);
      taken++;
    }
  }
  if (held.length > 0) return held.sort();
  throw new WorkbenchError(
    'usage',
    `expected question types with chains of several relations that can be held out, got ${types.length} types`,
    { hint: 'Hold out templates: --hold-out template, or data.holdOut=template.' },
  );
}
