/** The walks of a batch of states as a forest: a beginning that several share is one node, encoded once. */
import type { LinkRequest } from './request.js';

/** The nodes of one depth, which stand one after another in the order of first use. */
export interface PrefixLevel {
  /** int32 [nodes]: place of the walk without its last step among the nodes of the level above; empty at the first level. */
  parents: Int32Array;
  /** int32 [nodes]: relation of the last step; at the first level the row of "no step yet". */
  relations: Int32Array;
  /** int32 [nodes]: entity that it leads to; at the first level the head. */
  entities: Int32Array;
}

/** Every beginning of the walks of some states. */
export interface Prefixes {
  /** By steps taken; one more than the longest walk has. */
  levels: PrefixLevel[];
  /** int32 [states]: the node of each state's walk, counted over all levels in their order. */
  nodes: Int32Array;
}

interface OpenLevel {
  nodeOf: Map<number, number>;
  parents: number[];
  relations: number[];
  entities: number[];
}

/**
 * @param sizes of the tables: `noStep` is the row of relations that stands at the first level
 */
export function prefixesOf(
  requests: readonly Pick<LinkRequest, 'head' | 'hop' | 'path'>[],
  sizes: { numEntities: number; noStep: number },
): Prefixes {
  const { numEntities, noStep } = sizes;
  const levels: OpenLevel[] = [];
  const nodeAt = (depth: number, parent: number, relation: number, entity: number) => {
    const level = (levels[depth] ??= { nodeOf: new Map(), parents: [], relations: [], entities: [] });
    // Below 2^53: a million parents, relations of thousands and entities of millions.
    const key = (parent * (noStep + 1) + relation) * numEntities + entity;
    let node = level.nodeOf.get(key);
    if (node === undefined) {
      level.nodeOf.set(key, (node = level.nodeOf.size));
      level.parents.push(parent);
      level.relations.push(relation);
      level.entities.push(entity);
    }
    return node;
  };
  const places = Int32Array.from(requests, ({ head, hop, path }) => {
    let node = nodeAt(0, 0, noStep, head);
    for (let step = 0; step < hop; step++) node = nodeAt(step + 1, node, path[2 * step]!, path[2 * step + 1]!);
    return node;
  });
  const begins: number[] = [];
  let count = 0;
  for (const { entities } of levels) {
    begins.push(count);
    count += entities.length;
  }
  return {
    levels: levels.map(({ parents, relations, entities }, depth) => ({
      parents: Int32Array.from(depth === 0 ? [] : parents),
      relations: Int32Array.from(relations),
      entities: Int32Array.from(entities),
    })),
    nodes: places.map((place, i) => begins[requests[i]!.hop]! + place),
  };
}
