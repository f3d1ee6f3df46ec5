/** Conversation files: the release's CSV, or the same JSON shape as `.json` or `.jsonl`. */
import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import { type Info, parse } from 'csv-parse';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile, refuseSpecial } from '../../src/run/files.js';
import { printable } from '../../src/run/printable.js';
import { shownJson } from '../../src/run/read-json.js';
import type { Dialogue, Message, PathAction, Sender } from '../dialogue.js';
import { type WalkSample, type WalkSampleOptions, walkSamples } from '../walk-sample.js';

/** Supported file extensions. */
export const dialogueExtensions: readonly string[] = ['.csv', '.json', '.jsonl'];

/** Conversations of a file, and counts of dropped items. */
export type DialogueFile = { dialogues: Dialogue[]; counts: ParseCounts };

/**
 * Reads all conversations of a file. Ids are the file stem and the conversation number from 1: `train-17`. `.csv`: a column `Messages`
 * with JSON. `.json`: a list of conversations, or one. `.jsonl`: one per line. Outside CSV a conversation is a list of items or an object
 * with the list under `Messages` or `messages`.
 * @throws WorkbenchError `data` with file, row and line
 */
export async function readDialogues(file: string): Promise<DialogueFile> {
  const stem = basename(file, extname(file));
  const result: DialogueFile = { dialogues: [], counts: emptyCounts() };
  const add = (items: unknown, place: string) => {
    const id = `${stem}-${result.dialogues.length + 1}`;
    result.dialogues.push({ id, ...parseMessages(items, place, result.counts) });
  };
  const extension = extname(file).toLowerCase();
  if (extension === '.csv') await readCsv(file, add);
  else if (extension === '.json') readJson(file, add);
  else if (extension === '.jsonl') readJsonLines(file, add);
  else {
    throw new WorkbenchError('data', `expected a ${dialogueExtensions.join(', ')} file, got ${file}`, {
      hint: 'Dialogues are read from the release’s CSV or from the same shape as JSON.',
    });
  }
  return result;
}

type AddConversation = (items: unknown, place: string) => void;

async function readCsv(file: string, add: AddConversation): Promise<void> {
  let row = 0;
  let line = 1;
  try {
    refuseSpecial(file, 'a CSV file');
    const source = createReadStream(file);
    const records = source.pipe(parse({ bom: true, columns: true, info: true, skip_empty_lines: true }));
    source.on('error', (error) => records.destroy(error));
    for await (const { record, info } of records as AsyncIterable<{ record: Record<string, string>; info: Info }>) {
      row++;
      const place = `${file}, row ${row} (line ${line + 1})`;
      line = info.lines;
      if (record.Messages === undefined) {
        throw wrongShape('a column "Messages"', Object.keys(record), `${file}, line 1`);
      }
      add(parseJson(record.Messages, place), place);
    }
  } catch (cause) {
    if (cause instanceof WorkbenchError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no file' : `"${printable(message, 160)}"`;
    throw new WorkbenchError('data', `expected a readable CSV, got ${reason}, at ${file}, after row ${row}`, {
      hint: 'The columns are Messages,User Rating,Assistant Rating; quotes inside a field are doubled.',
      cause,
    });
  }
}

function readJson(file: string, add: AddConversation): void {
  const parsed = parseJson(readTextFile(file, 'dialogues'), file);
  const conversations = isOneConversation(parsed) ? [parsed] : parsed;
  if (!Array.isArray(conversations)) throw wrongShape('a list of conversations', conversations, file);
  conversations.forEach((conversation: unknown, index) => {
    const place = `${file}, conversation ${index + 1}`;
    add(itemsOf(conversation, place), place);
  });
}

/** True for a list of items, or an object with such a list, instead of a list of conversations. */
function isOneConversation(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return false;
  const keys = Array.isArray(value) ? ['message', 'metadata', 'sender'] : ['messages', 'Messages'];
  return keys.some((key) => Object.hasOwn(first, key));
}

function readJsonLines(file: string, add: AddConversation): void {
  const lines = readTextFile(file, 'dialogues').split('\n');
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    const place = `${file}:${index + 1}`;
    add(itemsOf(parseJson(line, place), place), place);
  });
}

function itemsOf(conversation: unknown, place: string): unknown {
  if (Array.isArray(conversation)) return conversation;
  const { Messages, messages } = (conversation ?? {}) as { Messages?: unknown; messages?: unknown };
  const items = Messages ?? messages;
  if (items === undefined) throw wrongShape('a list of items or an object with "messages"', conversation, place);
  return typeof items === 'string' ? parseJson(items, place) : items;
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = printable((cause as Error).message, 160);
    throw new WorkbenchError('data', `expected JSON, got ${reason}, at ${place}`, {
      hint: 'Repair or remove this conversation and import again.',
      cause,
    });
  }
}

type DropReason = 'blank field' | 'not contiguous' | 'empty path' | 'malformed path';

/** Counts of dropped items. */
export interface ParseCounts {
  dropped: Record<DropReason, number>;
  /** Actions without a path, such as `meta_thread/send_meta_message`. */
  otherActions: number;
}

export function emptyCounts(): ParseCounts {
  const dropped = { 'blank field': 0, 'not contiguous': 0, 'empty path': 0, 'malformed path': 0 };
  return { dropped, otherActions: 0 };
}

/**
 * Reads the items of one conversation. Unusable paths are dropped and counted, the dialogue stays.
 * @param items the parsed JSON: a list of `{message, sender}` and `{metadata, action_id, sender}`
 * @param place for errors, such as `train.csv, row 17`
 * @param counts incremented
 * @throws WorkbenchError `data` if it is no list, an item is neither chat nor action, or a sender is unknown
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

function wrongShape(expected: string, got: unknown, place: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expected}, got ${shownJson(got)}, at ${place}`, {
    hint: 'A conversation is a list of {"message": …, "sender": "user" | "assistant"} and kgwalk/choose_path actions.',
  });
}

/** Samples of a file, and counts of dropped items. */
export type FileSamples = { samples: WalkSample[]; dialogues: number; counts: ParseCounts };

/**
 * Reads dialogues in the release's format (`.csv`, `.json`, `.jsonl`) and grounds them in `graph`. May be empty.
 * @throws WorkbenchError `data` with file and row
 */
export async function samplesOfFile(file: string, graph: Graph, options?: WalkSampleOptions): Promise<FileSamples> {
  const { dialogues, counts } = await readDialogues(file);
  return { samples: walkSamples(dialogues, graph, options), dialogues: dialogues.length, counts };
}
