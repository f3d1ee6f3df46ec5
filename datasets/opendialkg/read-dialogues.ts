/** Files of conversations: the release's CSV, or the same JSON shape as `.json` or `.jsonl`. */
import { createReadStream } from 'node:fs';
import { basename, extname } from 'node:path';
import { parse } from 'csv-parse';
import type { Info } from 'csv-parse';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile } from '../../src/run/files.js';
import { printable } from '../../src/run/printable.js';
import type { Dialogue } from '../dialogue.js';
import type { ParseCounts } from './parse-messages.js';
import { emptyCounts, parseMessages, wrongShape } from './parse-messages.js';

/** Names of the files this reads. */
export const dialogueExtensions: readonly string[] = ['.csv', '.json', '.jsonl'];

/** The conversations of a file, and what was left out. */
export interface DialogueFile {
  dialogues: Dialogue[];
  counts: ParseCounts;
}

/**
 * Reads every conversation of a file. Ids are the file's stem and the conversation's number from 1: `train-17`.
 * `.csv`: a column `Messages` holding JSON. `.json`: a list of conversations, or one. `.jsonl`: one a line. Outside CSV a
 * conversation is a list of items or an object with the list under `Messages` or `messages`.
 * @throws WorkbenchError `data` naming file, row and line
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

/** A list of items, or an object with such a list, instead of a list of conversations. */
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
