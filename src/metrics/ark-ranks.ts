/**
 * Hit counting of LLM-ARK's published code, for comparison with the paper only: it overrates targets and underrates paths; `path-hits.ts`
 * has the sound metrics. Pure, ids only; ranks are 1-based, 0 = absent.
 * @source the test of github.com/Airoura/LLM-ARK, as described by Huang 2024, "LLM-ARK", section 4
 */
import { canonicalPath, pathKey, type Path } from '../kg/graph.js';

/** Beam slots of the reference for any k: its "@25" is "@20". */
export const arkBeamWidth = 20;

/** Entity id of an empty slot. */
export const padEntity = -1;

/** The reference's beam over walks of exactly two steps. Slots are re-sorted at the second step, so a slot does not follow one walk. */
export interface ArkBeam {
  /** Start entity. */
  start: number;
  /** Entity of each slot after the first step, `padEntity` if the start has fewer edges. */
  afterFirst: readonly number[];
  /** Walk of each slot after the second step, stays included; undefined if there are fewer. As long as `afterFirst`. */
  walks: readonly (Path | undefined)[];
}

/** Gold positions by the reference's counting. */
export interface ArkRanks {
  /** Rank of the gold walk: ark-path@k. */
  path: number;
  /** Rank of the end of the gold's first hop, which the reference takes for the target: ark-target@k. */
  target: number;
  /** Rank of the gold's last entity, counted the same way: target-any@k. */
  anyTarget: number;
}

/** Gold ranks in a beam, bug-compatible with the reference. Golds of more than two hops are never found, but their targets are counted. */
export function arkRanks(beam: ArkBeam, gold: Path, equalRelation: number): ArkRanks {
  const hops = canonicalPath(gold, equalRelation);
  const first = hops[0]?.[2] ?? beam.start;
  const last = hops.at(-1)?.[2] ?? beam.start;
  return {
    path: pathRank(beam, hops, equalRelation),
    target: targetRank(beam, first),
    anyTarget: targetRank(beam, last),
  };
}

/**
 * Both triples must match, one-hop golds ending in a stay. Slots that are empty after the first step are skipped after the second,
 * although they hold another walk by then.
 */
function pathRank({ afterFirst, walks }: ArkBeam, hops: Path, equalRelation: number): number {
  const wanted = hops.length === 1 ? [...hops, [hops[0]![2], equalRelation, hops[0]![2]] as const] : hops;
  const listed = walks.filter((walk, slot) => walk !== undefined && afterFirst[slot] !== padEntity);
  return 1 + listed.findIndex((walk) => pathKey(walk!) === pathKey(wanted));
}

/**
 * First slot with the target after either step, or 1 if the walk starts there. Slots with equal entities all count, including those
 * skipped by `pathRank`.
 */
function targetRank({ start, afterFirst, walks }: ArkBeam, target: number): number {
  if (start === target) return 1;
  return (
    1 +
    afterFirst.findIndex((entity, slot) => {
      const end = walks[slot]?.at(-1)?.[2];
      return (entity !== padEntity && entity === target) || end === target;
    })
  );
}
