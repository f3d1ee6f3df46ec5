/** The edges that walks may choose from, as a graph: what `env.edgePolicy` and `env.maxOut` say. */
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { splitNames, walkSamples, type SplitName } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import type { EnvSettings } from '../settings.js';
import { int32Column, relationColumn } from '../../src/kg/adjacency.js';

/** Chooses which edges of a hub to keep: `most` distinct indices in `begin .. end - 1`, any order. */
type ChooseEdges = (begin: number, end: number, most: number) => Int32Array;

interface KeptEdges {
  /** The input graph itself if nothing was dropped. */
  graph: Graph;
  /** int32 [edges kept]: index in the input graph of each edge, ascending; absent if nothing was dropped. */
  indices?: Int32Array;
  /** Number of entities that lost edges. */
  entitiesCut: number;
}

/** Caps the out-degree at `most`; names, ids and edge order stay. `choose` is called once per entity above the cap, ascending. O(edges). */
function keepEdges(whole: Graph, most: number, choose: ChooseEdges): KeptEdges {
  const { numEntities, offsets } = whole;
  let edges = 0;
  let entitiesCut = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    edges += Math.min(most, whole.degree(entity));
    entitiesCut += Number(whole.degree(entity) > most);
  }
  if (entitiesCut === 0) return { graph: whole, entitiesCut };
  const indices = int32Column(edges);
  const kept = int32Column(numEntities + 1);
  let at = 0;
  for (let entity = 0; entity < numEntities; entity++) {
    const begin = offsets[entity]!;
    const end = offsets[entity + 1]!;
    if (end - begin <= most) for (let edge = begin; edge < end; edge++) indices[at++] = edge;
    else {
      indices.set(choose(begin, end, most).slice().sort(), at);
      at += most;
    }
    kept[entity + 1] = at;
  }
  const relations = relationColumn(whole.numRelations, edges);
  const tails = int32Column(edges);
  for (let i = 0; i < edges; i++) {
    relations[i] = whole.relations[indices[i]!]!;
    tails[i] = whole.tails[indices[i]!]!;
  }
  return { graph: whole.withRows({ offsets: kept, relations, tails }), indices, entitiesCut };
}

/** Edges left out by a policy. */
export interface EdgeSelection {
  policy: Exclude<EnvSettings['edgePolicy'], 'full'>;
  /** Longest list of actions, staying included. */
  maxOut: number;
  /** Entities with shorter lists than they have edges. */
  entitiesCut: number;
  /** Edges of the whole graph, and those that may be walked. */
  edges: number;
  kept: number;
  /**
   * `ark` alone. By split: edges that may be walked only because its dialogues walk them, the graph's own order having no
   * place for them; an edge that several splits walk counts for each.
   */
  brought?: Record<SplitName, number>;
}

/** Walkable edges. */
export interface WalkGraph {
  /** Names and ids of the whole graph, and its edges as far as walks may take them; with `full` the whole graph itself. */
  graph: Graph;
  /** Absent with `full`. */
  selection?: EdgeSelection;
  /** uint8 [edges that may be walked], `ark` alone: bits 1, 2, 4 of the splits (train, valid, test) that brought each. */
  broughtBy?: Uint8Array;
}

/**
 * Environments, heads and beams all walk this graph, so training and evaluation have one set of actions. It hangs on the
 * data and these settings alone, not on the seed of a run.
 * @param dataset whose dialogues `ark` reads; the others read none
 * @throws WorkbenchError `usage` for `ark` without it
 */
export function walkGraph(
  whole: Graph,
  { edgePolicy: policy, maxOut }: Pick<EnvSettings, 'edgePolicy' | 'maxOut'>,
  dataset?: Pick<DialogueDataset, 'loadDialogues'>,
): WalkGraph {
  if (policy === 'full') return { graph: whole };
  if (policy === 'ark' && !dataset) {
    throw new WorkbenchError('usage', 'expected a data set with edgePolicy ark, got none, at walkGraph');
  }
  const table = policy === 'ark' ? arkTable(whole, dataset!) : undefined;
  const { graph, indices, entitiesCut } = keepEdges(whole, maxOut - 1, table?.choose ?? topDegree(whole));
  const selection = { policy, maxOut, entitiesCut, edges: whole.numEdges, kept: graph.numEdges };
  if (!table) return { graph, selection };
  const broughtBy = Uint8Array.from({ length: graph.numEdges }, (_, i) => table.broughtBy(indices?.[i] ?? i));
  const countOf = (split: SplitName) => broughtBy.reduce((sum, bits) => sum + Number((bits & splitBits[split]) > 0), 0);
  const brought = { train: countOf('train'), valid: countOf('valid'), test: countOf('test') };
  return { graph, selection: { ...selection, brought }, broughtBy };
}

interface ArkTable {
  choose: ChooseEdges;
  /** Bits (`splitBits`) of the splits whose dialogues brought an edge of the whole graph into a list; 0: none did. */
  broughtBy(edge: number): number;
}

/** By split, in the numbers of `ArkTable.broughtBy`. */
const splitBits: Readonly<Record<SplitName, number>> = { train: 1, valid: 2, test: 4 };

/**
 * Edge table as built by LLM-ARK's code, for comparison with its figures: reads every path of every dialogue, for any part of
 * them in training. Edges on paths of all splits come first, so that golds of valid and test are kept when others are cut: the
 * table leaks the answers. Not reproduced: that code lists each of those edges twice, the rest in the order of its file, and
 * shuffles the displayed list. Here an edge occurs once, and the rest and the displayed list are in the order of the graph.
 */
function arkTable(graph: Graph, dataset: Pick<DialogueDataset, 'loadDialogues'>): ArkTable {
  const bits = new Uint8Array(graph.numEdges);
  /** int32 [numEdges]: when dialogues first walk an edge, counted from 1; 0 where none does. */
  const walked = new Int32Array(graph.numEdges);
  let count = 0;
  const note = madeFromSamples('edge list', 'the edges that dialogues of all splits walk come first (edgePolicy: ark)');
  for (const split of splitNames) {
    for (const sample of walkSamples(dataset.loadDialogues(split), graph)) {
      note(sample);
      for (const triple of sample.gold.path) {
        const edge = graph.edgeIndex(...triple);
        if (edge < 0) continue;
        bits[edge]! |= splitBits[split];
        walked[edge] ||= ++count;
      }
    }
  }
  const brought = new Uint8Array(graph.numEdges);
  // One fixed stream: the table is the same for every seed of a run.
  const rng = Rng.named(0, 'env/ark-table');
  const choose: ChooseEdges = (begin, end, most) => {
    const edges = Int32Array.from({ length: end - begin }, (_, i) => begin + i);
    const place = (edge: number) => walked[edge]! || count + 1;
    edges.sort((a, b) => place(a) - place(b) || a - b);
    // One more than fits in addition to staying: reproduces the slip that loses an edge at random.
    const lost = rng.integer(most + 1);
    const kept = edges.subarray(0, most + 1).filter((_, slot) => slot !== lost);
    for (const edge of kept) if (edge - begin > most) brought[edge] = bits[edge]!;
    return kept;
  };
  return { choose, broughtBy: (edge) => brought[edge]! };
}

/**
 * Every relation gives its edges in turn, so that none crowds the others out: of each relation the edge whose tail has the
 * most edges, then of each the second, and so on. In the turn that does not fit as a whole, tails of more edges go first.
 * Equal degrees go by the ids of relation and tail. No dialogue is read.
 */
function topDegree(graph: Graph): ChooseEdges {
  const byDegree = (a: number, b: number) => graph.degree(graph.tails[b]!) - graph.degree(graph.tails[a]!) || a - b;
  return (begin, end, most) => {
    const edges = Int32Array.from({ length: end - begin }, (_, i) => begin + i);
    const turn = new Int32Array(end - begin);
    for (let first = begin, last = begin; first < end; first = last) {
      while (last < end && graph.relations[last] === graph.relations[first]) last++;
      edges
        .subarray(first - begin, last - begin)
        .sort(byDegree)
        .forEach((edge, index) => (turn[edge - begin] = index));
    }
    return edges.sort((a, b) => turn[a - begin]! - turn[b - begin]! || byDegree(a, b)).subarray(0, most);
  };
}
