/** Equal contexts in different dialogues, to compare the choices of annotators. */
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';

/** Compared part of the context: the whole history with speakers, or the last message. The start always. */
export type ContextKey = 'history' | 'last message';

/** Lower case, non-letters as single spaces. */
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
 * Groups of samples with equal contexts from at least two dialogues, in order of their first sample. Golds missing from the graph are
 * left out: their ids are not distinct.
 */
export function recurringContexts(samples: readonly WalkSample[], by: ContextKey = 'history'): WalkSample[][] {
  const inGraph = samples.filter(({ gold }) => gold.inGraph);
  const groups = Map.groupBy(inGraph, ({ task }) => keyOf(task, by));
  return [...groups.values()].filter((group) => new Set(group.map(({ task }) => task.dialogueId)).size > 1);
}
