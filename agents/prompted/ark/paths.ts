/** Between paths and texts: those out of an entity as candidates of a prompt, and one that a model wrote as a walk. */
import { relationRange } from '../../../src/kg/frontier.js';
import type { Graph, Path, Triple } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';

/** One line of the prompt, and its paths. */
interface OutPathChoice {
  text: string;
  /** In the order of their ids; at most `maxPathsOfGroup`. */
  paths: readonly Path[];
}

/** Paths of a group that are kept: a chosen group cannot fill a longer ranking. */
const maxPathsOfGroup = 30;

/**
 * `outPaths`. Above `maxChoices` paths those of equal relations become one choice; above that many relation sequences the largest groups stay.
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

/** Every path of one or two edges, the one straight back left out, in the order of the graph. */
export function* outPaths(graph: Graph, start: number): Generator<Path> {
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

/**
 * Snaps each triple to an edge of where the walk stands: relation and tail must be names of one of its edges after
 * normalisation, the head is taken for granted. Where a step is no edge, or there is none, the
 * whole reading is no walk: a first step that is an edge is discarded with it.
 * @param written `head | relation | tail`, at most two are read; the relation Equal stays and ends
 */
export function writtenPath(graph: Graph, start: number, written: readonly string[]): Path | undefined {
  const path: Triple[] = [];
  let current = start;
  for (const text of written.slice(0, 2)) {
    const [, relation = '', tail = ''] = text.split('|').map(normalizeName);
    if (relation === 'equal') break;
    const triple = edgeNamed(graph, current, text, relation, tail);
    if (!triple) return undefined;
    path.push(triple);
    current = triple[2];
  }
  return path.length > 0 ? path : undefined;
}

function edgeNamed(graph: Graph, head: number, text: string, relation: string, tail: string): Triple | undefined {
  // `~` is punctuation to the normaliser; it decides between a relation and its inverse.
  const inverse = text.split('|')[1]?.trim().startsWith('~') ?? false;
  for (let id = 0; id < graph.numRelations; id++) {
    const name = graph.relationNames[id]!;
    if (name.startsWith('~') !== inverse || normalizeName(name) !== relation) continue;
    const [begin, end] = relationRange(graph, head, id);
    for (let edge = begin; edge < end; edge++) {
      if (normalizeName(graph.entityNames[graph.tails[edge]!]!) === tail) return [head, id, graph.tails[edge]!];
    }
  }
  return undefined;
}
