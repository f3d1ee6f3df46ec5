/** One conversation in OpenDialKG's `Messages` format: chat items and `kgwalk/choose_path` actions. */
import { WorkbenchError } from '../../src/run/errors.js';
import { shownJson } from '../../src/run/read-json.js';
import type { Dialogue, Message, PathAction, Sender } from '../dialogue.js';

/** Why a path did not become a sample. */
export type DropReason = 'blank field' | 'not contiguous' | 'empty path' | 'malformed path';

/** What was left out. */
export interface ParseCounts {
  /** Paths left out, by reason. */
  dropped: Record<DropReason, number>;
  /** Actions that carry no path, such as `meta_thread/send_meta_message`. */
  otherActions: number;
}

/** Counts before anything was read. */
export function emptyCounts(): ParseCounts {
  return {
    dropped: { 'blank field': 0, 'not contiguous': 0, 'empty path': 0, 'malformed path': 0 },
    otherActions: 0,
  };
}

/**
 * Reads the items of one conversation. A path that cannot be used is dropped and counted, the dialogue stays.
 * @param items the parsed JSON: a list of `{message, sender}` and `{metadata, action_id, sender}`
 * @param place where it stands, for errors, such as `train.csv, row 17`
 * @param counts added to
 * @throws WorkbenchError `data` when it is no list, an item is neither chat nor action, or a sender is unknown
 */
export function parseMessages(items: unknown, place: string, counts: ParseCounts): Omit<Dialogue, 'id'> {
  if (!Array.isArray(items)) throw wrongShape('a list of messages', items, place);
  const messages: Message[] = [];
  const paths: PathAction[] = [];
  items.forEach((item: unknown, index) => {
    const at = `${place}, item ${index + 1}`;
    if (!isRecord(item)) throw wrongShape('an object', item, at);
    if (isRecord(item.metadata)) {
      if (item.action_id !== 'kgwalk/choose_path') {
        counts.otherActions++;
        return;
      }
      const triples = usablePath(item.metadata.path);
      if (typeof triples === 'string') counts.dropped[triples]++;
      else paths.push({ sender: senderOf(item, at), position: messages.length, triples });
    } else if (typeof item.message === 'string') {
      messages.push({ sender: senderOf(item, at), text: item.message });
    } else {
      throw wrongShape('a message text or the metadata of an action', item, at);
    }
  });
  return { messages, paths };
}

function usablePath(path: unknown): PathAction['triples'] | DropReason {
  const steps: unknown = Array.isArray(path) ? path[1] : undefined;
  if (!Array.isArray(steps)) return 'malformed path';
  if (steps.length === 0) return 'empty path';
  if (!steps.every(isTriple)) return 'malformed path';
  if (steps.some((step) => step.some((name) => name.trim() === ''))) return 'blank field';
  if (steps.some(([head], index) => index > 0 && head !== steps[index - 1]![2])) return 'not contiguous';
  return steps;
}

function isTriple(step: unknown): step is [string, string, string] {
  return Array.isArray(step) && step.length === 3 && step.every((name) => typeof name === 'string');
}

function senderOf(item: Record<string, unknown>, place: string): Sender {
  if (item.sender === 'user' || item.sender === 'assistant') return item.sender;
  throw wrongShape('sender "user" or "assistant"', item.sender, place);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error for JSON of another shape than expected. */
export function wrongShape(expected: string, got: unknown, place: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expected}, got ${shownJson(got)}, at ${place}`, {
    hint: 'A conversation is a list of {"message": …, "sender": "user" | "assistant"} and kgwalk/choose_path actions.',
  });
}
