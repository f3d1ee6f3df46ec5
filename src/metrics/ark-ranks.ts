/**
 * How the code published with LLM-ARK counts hits, for comparing with the paper's figures. It favours targets and is hard on
 * paths, so none of it says how good an agent is: `path-hits.ts` does. Pure, ids only; every rank is 1-based, 0 = absent.
 * @source the test of github.com/Airoura/LLM-ARK, as described by Huang 2024, "LLM-ARK", section 4
 */
import { canonicalPath, pathKey, type Path } from '../kg/graph.js';

/** Slots of the reference's beam, whatever k is counted: its "@25" is "@20". */
export const arkBeamWidth = 20;

/** In the place of an entity: the slot holds no walk. */
export const padEntity = -1;

/**
 * The reference's beam over walks of exactly two steps. A slot does not hold one walk through both steps: the second
 * sorts all anew.
 */
export interface ArkBeam {
  /** Entity where the walk begins. */
  start: number;
  /** Where the walk in each slot stands after the first step, `padEntity` where the start has fewer edges. */
  afterFirst: readonly number[];
  /** The walk in each slot after the second step, stays written out; undefined where there are fewer. As long as `afterFirst`. */
  walks: readonly (Path | undefined)[];
}

/** Positions of the gold as the reference counts them. */
export interface ArkRanks {
  /** Of the gold walk: ark-path@k. */
  path: number;
  /** Of the end of the gold's first hop, which the reference takes for the target: ark-target@k. */
  target: number;
  /** Of the gold's last entity, by the same bookkeeping: target-any@k. */
  anyTarget: number;
}

/**
 * Ranks of the gold in a beam, bug for bug.
 * @param gold of one or two hops; longer ones are never found, and have the targets that they have
 */
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
 * Both triples must be the gold's, a gold of one hop ending in a stay. A slot without a walk after the first step is left
 * out after the second as well, although it holds another walk by then.
 */
function pathRank({ afterFirst, walks }: ArkBeam, hops: Path, equalRelation: number): number {
  const wanted = hops.length === 1 ? [...hops, [hops[0]![2], equalRelation, hops[0]![2]] as const] : hops;
  const listed = walks.filter((walk, slot) => walk !== undefined && afterFirst[slot] !== padEntity);
  return 1 + listed.findIndex((walk) => pathKey(walk!) === pathKey(wanted));
}

/**
 * The first slot that held the target after either step, or 1 where the walk begins at it. Slots that hold the same entity
 * count each, and those that `pathRank` leaves out count too.
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
