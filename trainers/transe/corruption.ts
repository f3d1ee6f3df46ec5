/** Which side of a triple to corrupt. */
import type { TripleColumns } from '../../src/kg/graph.js';

/**
 * The chance of corrupting the tail (else the head) for each relation: tails a head / (tails a head + heads a tail), as
 * seen from the other side, so that the side with more true answers, where a random entity is more often true, is
 * corrupted less.
 * @returns float64 [numRelations]; 0.5 where a relation has no triple
 * @source Wang et al. 2014, "Knowledge graph embedding by translating on hyperplanes", section 3.2
 */
export function tailCorruptionChance({ heads, relations, tails }: TripleColumns, numRelations: number): Float64Array {
  const distinctHeads = Array.from({ length: numRelations }, () => new Set<number>());
  const distinctTails = Array.from({ length: numRelations }, () => new Set<number>());
  for (let i = 0; i < heads.length; i++) {
    distinctHeads[relations[i]!]!.add(heads[i]!);
    distinctTails[relations[i]!]!.add(tails[i]!);
  }
  // tails a head : heads a tail = 1 / distinct heads : 1 / distinct tails
  return Float64Array.from({ length: numRelations }, (_, relation) => {
    const [numHeads, numTails] = [distinctHeads[relation]!.size, distinctTails[relation]!.size];
    return numHeads === 0 ? 0.5 : numHeads / (numHeads + numTails);
  });
}
