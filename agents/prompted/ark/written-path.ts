/** From triples that a model wrote to a walk of the graph. */
import { relationRange } from '../../../src/kg/frontier.js';
import type { Graph, Path, Triple } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';

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
