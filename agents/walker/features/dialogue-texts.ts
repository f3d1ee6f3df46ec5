/** The texts whose frozen vectors stand for a dialogue: encoded once a turn, whatever the walk does (`text-once`). */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { Graph } from '../../../src/kg/graph.js';
import { inversePrefix } from '../../../src/kg/graph.js';

/** What was said last; empty before the first message. */
export function lastMessageText(task: WalkTask): string {
  return task.messages.at(-1)?.text.trim() ?? '';
}

/** The last few messages, oldest first. */
export function windowText(task: WalkTask, numMessages: number): string {
  return task.messages
    .slice(-numMessages)
    .map((message) => message.text.trim())
    .join('\n')
    .trim();
}

/** How an encoder reads an entity. */
export function entityTexts(graph: Graph): string[] {
  return [...graph.entityNames];
}

/** How an encoder reads a relation: words instead of identifiers, `~r` as the inverse of `r`. */
export function relationTexts(graph: Graph): string[] {
  return graph.relationNames.map((name) => {
    const words = name.replace(/[_\-./]+/g, ' ').trim();
    return name.startsWith(inversePrefix) ? `inverse of ${words.slice(inversePrefix.length)}` : words;
  });
}
