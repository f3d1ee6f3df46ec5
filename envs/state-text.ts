/** The present state of a dialogue walk as plain text. */
import type { Message, Sender } from '../datasets/dialogue.js';
import { unknownId, type Graph } from '../src/kg/graph.js';
import type { Path } from '../src/kg/path.js';

/** What the text of a state is written from. */
export interface StateTextFields {
  /** Everything said so far, oldest first. */
  messages: readonly Message[];
  /** Who chooses the path. */
  sender: Sender;
  /** Paths chosen earlier in the dialogue, verbalised, oldest first. */
  earlierPaths: readonly string[];
  startEntity: string;
  /** Steps of this walk, verbalised; empty before the first. */
  walked: string;
  currentEntity: string;
  /** The step about to be taken, from 1. */
  step: number;
}

/**
 * Writes the fields with what does not change first, so that a language model's prefix is shared by all states of a
 * dialogue and then by all states of a walk.
 */
export function renderStateText(fields: StateTextFields): string {
  const { messages, sender, earlierPaths, startEntity, walked, currentEntity, step } = fields;
  const lines = messages.map((message) => `${message.sender}: ${message.text}`);
  if (earlierPaths.length > 0) lines.push('Earlier paths:', ...earlierPaths.map((path) => `- ${path}`));
  lines.push(`Next speaker: ${sender}`, `Start entity: ${startEntity}`);
  if (walked) lines.push(`Walked: ${walked}`);
  lines.push(`Current entity: ${currentEntity}`, `Step: ${step}`);
  return lines.join('\n');
}

/** `Inception -[directed_by]-> Christopher Nolan`; a stay reads `-[stay]->`; empty for an empty path. */
export function verbalizePath(graph: Graph, path: Path): string {
  if (path.length === 0) return '';
  const entity = (id: number) => (id === unknownId ? '(not in the graph)' : graph.entityNames[id]!);
  const relation = (id: number) =>
    id === graph.equalRelation ? 'stay' : id === unknownId ? '(not in the graph)' : graph.relationNames[id]!;
  return entity(path[0]![0]) + path.map(([, via, tail]) => ` -[${relation(via)}]-> ${entity(tail)}`).join('');
}
