/** Which messages and earlier paths of a task are told where not all of them fit. */
import type { TaskTextFields } from './fields.js';
import { messageLine, pathLine, taskText, type StateTextOptions } from './render.js';

/** The lines of a task's text that may be left out, and the text without any of them. */
export interface TaskLines {
  /** What is always told: the instruction, the last message, who speaks next. */
  kept: string;
  /** A line a message before the last one, oldest first; empty where they are not told. */
  messages: string[];
  /** A line an earlier path, oldest first. */
  earlierPaths: string[];
}

/** Cuts a task's text into what is protected and what is not. */
export function taskLines(fields: TaskTextFields, options: StateTextOptions): TaskLines {
  const kept = taskText(fields, { ...options, history: false, earlierPaths: false });
  return {
    kept,
    messages: options.history ? fields.messages.slice(0, -1).map(messageLine) : [],
    earlierPaths: options.earlierPaths ? fields.earlierPaths.map(pathLine) : [],
  };
}

/** Token counts of `TaskLines`, in its order. */
export interface LineTokens {
  kept: number;
  messages: readonly number[];
  earlierPaths: readonly number[];
}

/**
 * The fields without their oldest messages, and then without their oldest earlier paths, until the rest fits. What is protected
 * stays, even where it alone is longer.
 * @param budget tokens; those of a line are counted with its end, the heading of the earlier paths is not
 */
export function trimmedFields<Fields extends TaskTextFields>(
  fields: Fields,
  tokens: LineTokens,
  budget: number,
): Fields {
  const messages = [...tokens.messages];
  const earlierPaths = [...tokens.earlierPaths];
  const total = () => sum(messages) + sum(earlierPaths) + tokens.kept;
  while (messages.length > 0 && total() > budget) messages.shift();
  while (earlierPaths.length > 0 && total() > budget) earlierPaths.shift();
  return {
    ...fields,
    messages: fields.messages.slice(fields.messages.length && -1 - messages.length),
    earlierPaths: fields.earlierPaths.slice(fields.earlierPaths.length - earlierPaths.length),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
