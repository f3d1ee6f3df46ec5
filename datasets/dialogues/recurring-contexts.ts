/** Turns of different dialogues that were asked the same: what one annotator chose there can be held against another's choice. */
import type { WalkSample, WalkTask } from '../walk-sample.js';

/** What must be equal: everything said so far and by whom, or the last message alone. The start always. */
export type ContextKey = 'history' | 'last message';

/** Lower case, runs of other than letters as one space. */
const spoken = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();

function keyOf({ messages, startName }: WalkTask, by: ContextKey): string {
  const said = by === 'history' ? messages : messages.slice(-1);
  return JSON.stringify([said.map(({ sender, text }) => [by === 'history' ? sender : '', spoken(text)]), startName]);
}

/**
 * Groups of samples with equal contexts, of two dialogues at least, in the order of their first samples. Golds that the graph lacks
 * are left out: their ids do not tell them apart.
 */
export function recurringContexts(samples: readonly WalkSample[], by: ContextKey = 'history'): WalkSample[][] {
  const groups = new Map<string, WalkSample[]>();
  for (const sample of samples) {
    if (!sample.gold.inGraph) continue;
    const key = keyOf(sample.task, by);
    const group = groups.get(key);
    if (group) group.push(sample);
    else groups.set(key, [sample]);
  }
  return [...groups.values()].filter((group) => new Set(group.map(({ task }) => task.dialogueId)).size > 1);
}
