/** What the text of a state is written from. */
import type { Message, Sender } from '../../datasets/dialogue.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { unknownId, type Graph } from '../../src/kg/graph.js';
import type { Path } from '../../src/kg/path.js';
import type { WalkState } from '../rules.js';

/** What does not change while a task is walked. */
export interface TaskTextFields {
  /** Everything said so far, oldest first. */
  messages: readonly Message[];
  /** Who chooses the path. */
  sender: Sender;
  /** Paths chosen earlier in the dialogue, verbalised, oldest first. */
  earlierPaths: readonly string[];
}

/** Where the walk stands. */
export interface WalkTextFields {
  startEntity: string;
  /** Steps of this walk, verbalised; empty before the first. */
  walked: string;
  currentEntity: string;
  /** The step about to be taken, from 1. */
  step: number;
  /** Edges that lead out of the current entity, verbalised. Default: none. */
  outPaths?: readonly string[];
}

/** What the text of a state is written from. */
export interface StateTextFields extends TaskTextFields, WalkTextFields {}

/** The fields of a task. */
export function taskTextFields(graph: Graph, { messages, sender, earlierPaths }: WalkTask): TaskTextFields {
  return { messages, sender, earlierPaths: earlierPaths.map((path) => verbalizePath(graph, path)) };
}

/** The fields of a state of it. @param outPaths most edges that are named, in the graph's order */
export function walkTextFields(graph: Graph, task: WalkTask, state: WalkState, outPaths: number): WalkTextFields {
  const { current, path, hop } = state;
  const first = current < 0 ? 0 : graph.offsets[current]!;
  const named = current < 0 ? 0 : Math.min(outPaths, graph.degree(current));
  return {
    startEntity: task.startName,
    walked: verbalizePath(graph, path),
    currentEntity: graph.entityNames[current] ?? task.startName,
    step: hop + 1,
    outPaths: Array.from({ length: named }, (_, i) => {
      const edge = first + i;
      return `${graph.relationNames[graph.relations[edge]!]!} -> ${graph.entityNames[graph.tails[edge]!]!}`;
    }),
  };
}

/** `Inception -[directed_by]-> Christopher Nolan`; a stay reads `-[stay]->`; empty for an empty path. */
export function verbalizePath(graph: Graph, path: Path): string {
  if (path.length === 0) return '';
  const entity = (id: number) => (id === unknownId ? '(not in the graph)' : graph.entityNames[id]!);
  const relation = (id: number) =>
    id === graph.equalRelation ? 'stay' : id === unknownId ? '(not in the graph)' : graph.relationNames[id]!;
  return entity(path[0]![0]) + path.map(([, via, tail]) => ` -[${relation(via)}]-> ${entity(tail)}`).join('');
}
