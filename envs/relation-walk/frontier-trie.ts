/** Frontiers of relation sequences, remembered: questions share topics and explorations share prefixes. */
import { type Frontier, initialFrontier, stepFrontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';

/** A relation sequence from some topics and where it leads. What it gives must not be written to. */
export interface FrontierNode {
  /** Entity ids where the walk began. */
  readonly topics: readonly number[];
  /** Entity ids that never come back. */
  readonly excluded: readonly number[];
  /** int32 [relations walked]. */
  readonly relations: Int32Array;
  readonly frontier: Frontier;
  /**
   * uint8 [numRelations + 1], of the graph in memory: 1 for each relation that leads to an entity that is not excluded; the last element,
   * STOP, is 1 after the first relation. The graph must have the edges (`Graph.ensure`) before this and `follow` are used.
   */
  choices(): Uint8Array;
  /** One relation further; its frontier is empty where the relation leads nowhere else. */
  follow(relation: number): FrontierNode;
}

/** Source of frontiers. */
export interface FrontierTrie {
  /**
   * The node before the first relation. Topics the graph lacks are left out.
   * @param excluded entity ids that never come back; default the topics, see `excludedTopics` for a question's own rule
   */
  root(topics: readonly number[], excluded?: readonly number[]): FrontierNode;
  /** Bytes that are remembered, estimated. */
  readonly bytes: number;
}

/** Bytes of a node without its arrays: objects, views, its entry in the parent. */
const nodeBytes = 500;

/** Default bound of what is remembered: 256 MiB, some 300,000 nodes of MetaQA. */
const defaultTrieBytes = 256 * 2 ** 20;

interface Tree {
  root: FrontierNode;
  bytes: number;
  /** Once false it grows no further: who still walks in it computes what it needs and keeps it alone. */
  kept: boolean;
}

/**
 * One lazily expanded trie per topic set. Beyond `maxBytes` the least recently used topics are dropped, whole tries at
 * a time; 0 caches nothing. Results never depend on the cache.
 * @param maxBytes bound on 12 bytes per entity of a frontier, a byte per relation and 500 bytes per node
 */
export function frontierTrie(graph: Graph, maxBytes = defaultTrieBytes): FrontierTrie {
  /** By topics, longest unused first. */
  const trees = new Map<string, Tree>();
  let bytes = 0;

  const grow = (tree: Tree, frontier: Frontier) => {
    const more = nodeBytes + 12 * frontier.entities.length + graph.numRelations;
    tree.bytes += more;
    bytes += more;
    for (const [key, oldest] of trees) {
      if (bytes <= maxBytes) break;
      trees.delete(key);
      oldest.kept = false;
      bytes -= oldest.bytes;
    }
  };

  const node = (
    tree: Tree,
    origin: Pick<FrontierNode, 'topics' | 'excluded'>,
    relations: Int32Array,
    frontier: Frontier,
  ): FrontierNode => {
    const { excluded } = origin;
    let choices: Uint8Array | undefined;
    let children: (FrontierNode | undefined)[] | undefined;
    return {
      ...origin,
      relations,
      frontier,
      choices: () => (choices ??= feasibleRelations(graph, frontier, excluded, relations.length > 0)),
      follow: (relation) => {
        const known = children?.[relation];
        if (known) return known;
        const next = stepFrontier(graph, frontier, relation, excluded);
        const walked = new Int32Array(relations.length + 1);
        walked.set(relations);
        walked[relations.length] = relation;
        const child = node(tree, origin, walked, next);
        if (tree.kept) {
          (children ??= [])[relation] = child;
          grow(tree, next);
        }
        return child;
      },
    };
  };

  return {
    root: (topics, excluded = topics) => {
      const key = `${topics.join()}|${excluded.join()}`;
      let tree = trees.get(key);
      if (tree) trees.delete(key);
      else {
        const isKnown = (entity: number) => entity >= 0;
        const origin = { topics: topics.filter(isKnown), excluded: excluded.filter(isKnown) };
        tree = { root: undefined!, bytes: 0, kept: true };
        tree.root = node(tree, origin, new Int32Array(0), initialFrontier(topics));
      }
      trees.set(key, tree);
      if (tree.bytes === 0) grow(tree, tree.root.frontier);
      return tree.root;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** One pass over the frontier's edges, which skips the rest of a relation once it is known to lead somewhere. */
function feasibleRelations(
  { offsets, relations, tails, local: { numRelations } }: Graph,
  { entities }: Frontier,
  excluded: readonly number[],
  mayStop: boolean,
): Uint8Array {
  const found = new Uint8Array(numRelations + 1);
  for (const entity of entities) {
    const end = offsets[entity + 1]!;
    for (let edge = offsets[entity]!; edge < end; edge++) {
      const relation = relations[edge]!;
      // Relations that only an endpoint has lie beyond `found`, and are not 0 there.
      if (found[relation] === 0 && !excluded.includes(tails[edge]!)) found[relation] = 1;
    }
  }
  found[numRelations] = Number(mayStop);
  return found;
}
