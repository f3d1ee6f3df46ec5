/** The paths out of an entity as candidates of a prompt: each by itself where they are few, by their relations where they are many. */
import type { Graph, Path, Triple } from '../../../src/kg/graph.js';

/** One line of the prompt, and the paths it stands for. */
export interface OutPathChoice {
  text: string;
  /** In the order of their ids; at most `maxPathsOfGroup`. */
  paths: readonly Path[];
}

/** Paths of a group that are kept: a chosen group cannot fill a longer ranking. */
const maxPathsOfGroup = 30;

/**
 * Every path of one or two edges, the one straight back left out, in the order of the graph. Above `maxChoices` paths those
 * of equal relations become one choice; above that many relation sequences the largest groups stay.
 */
export function outPathChoices(graph: Graph, start: number, maxChoices: number): OutPathChoice[] {
  const single: OutPathChoice[] = [];
  const groups = new Map<string, { paths: Path[]; size: number }>();
  for (const path of outPaths(graph, start)) {
    if (single.length <= maxChoices)
      single.push({ text: path.map((triple) => step(graph, triple)).join(', '), paths: [path] });
    const relations = path.map(([, relation]) => graph.relationNames[relation]!).join(' → ');
    const group = groups.get(relations) ?? { paths: [], size: 0 };
    groups.set(relations, group);
    group.size++;
    if (group.paths.length < maxPathsOfGroup) group.paths.push(path);
  }
  if (single.length <= maxChoices) return single;
  return [...groups]
    .sort(([a, { size: sizeA }], [b, { size: sizeB }]) => sizeB - sizeA || (a < b ? -1 : 1))
    .slice(0, maxChoices)
    .map(([relations, { paths, size }]) => ({ text: `${relations} (${size})`, paths }));
}

function* outPaths(graph: Graph, start: number): Generator<Path> {
  for (const first of edgesOf(graph, start)) {
    yield [first];
    for (const second of edgesOf(graph, first[2])) if (second[2] !== start) yield [first, second];
  }
}

function* edgesOf(graph: Graph, entity: number): Generator<Triple> {
  for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
    yield [entity, graph.relations[edge]!, graph.tails[edge]!];
  }
}

const step = (graph: Graph, [, relation, tail]: Triple) =>
  `${graph.relationNames[relation]!} → ${graph.entityNames[tail]!}`;
