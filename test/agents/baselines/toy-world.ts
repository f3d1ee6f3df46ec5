/** A small world for baselines: films, people and a genre, with both directions. */
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import { Graph, type Path } from '../../../src/kg/graph.js';

const facts = [
  ['Heat', 'directed_by', 'Mann'],
  ['Heat', 'starred', 'Pacino'],
  ['Heat', 'starred', 'De Niro'],
  ['Ali', 'directed_by', 'Mann'],
  ['Ali', 'starred', 'Smith'],
  ['Heat', 'genre', 'Drama'],
  ['Ali', 'genre', 'Drama'],
] as const;

const both = facts.flatMap(([head, relation, tail]) => [
  [head, relation, tail] as const,
  [tail, `~${relation}`, head] as const,
]);
const entities = [...new Set(both.map(([head]) => head)), 'Lonely'];
const relations = [...new Set(both.map(([, relation]) => relation))];
export const world = new Graph('toy', entities, relations, {
  heads: Int32Array.from(both, ([head]) => entities.indexOf(head)),
  relations: Int32Array.from(both, ([, relation]) => relations.indexOf(relation)),
  tails: Int32Array.from(both, ([, , tail]) => entities.indexOf(tail)),
});

/** `namedWalk('Heat', 'directed_by', 'Mann')`; unknown names become `unknownId`. */
export function namedWalk(...names: string[]): Path {
  const path: [number, number, number][] = [];
  for (let i = 0; i + 2 < names.length; i += 2) {
    path.push([world.entityId(names[i]!), world.relationId(names[i + 1]!), world.entityId(names[i + 2]!)]);
  }
  return path;
}

/** A sample whose gold is the walk; by default one dialogue each. */
export function sampleOf(id: string, path: Path, change: Partial<WalkTask> = {}): WalkSample {
  const start = path[0]![0];
  return {
    task: {
      id,
      dialogueId: id,
      messages: [{ sender: 'user', text: 'Do you know Heat?' }],
      sender: 'assistant',
      start,
      startName: world.entityNames[start] ?? 'unknown',
      earlierPaths: [],
      ...change,
    },
    gold: {
      path,
      target: path.at(-1)![2],
      inGraph: path.every((triple) => world.edgeIndex(...triple) >= 0),
    },
  };
}

/** Names of a path, for reading failures. */
export const readPath = (path: Path): string =>
  path.map(([, relation, tail]) => `${world.relationNames[relation]} ${world.entityNames[tail]}`).join(', ');
