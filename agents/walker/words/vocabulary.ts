/** The words that a walker's table has rows for: those of the messages that it was trained on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { WalkSample } from '../../../datasets/walk-sample.js';
import { writeFileAtomic } from '../../../src/run/files.js';
import { readJsonFile } from '../../../src/run/read-json.js';
import { runFiles } from '../../../src/run/run-folder.js';

/** Words in alphabetical order; a word's row is its place plus 1, row 0 stands for all others. */
export type Vocabulary = readonly string[];

/** Minimum count of a word. */
const leastCount = 2;

/** A text's words: lower-case runs of letters, accents and all. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Words of the samples' messages; a message that several turns of a dialogue hold counts once. */
export function vocabularyOf(train: readonly WalkSample[]): Vocabulary {
  const counts = new Map<string, number>();
  const read = new Map<string, number>();
  const note = madeFromSamples('frequency table', 'words of messages');
  for (const sample of train) {
    note(sample);
    const { dialogueId, messages } = sample.task;
    const known = read.get(dialogueId) ?? 0;
    for (const { text } of messages.slice(known)) {
      for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    read.set(dialogueId, Math.max(known, messages.length));
  }
  return [...counts].flatMap(([word, count]) => (count >= leastCount ? [word] : [])).sort();
}

const fileOf = (runFolder: string) => join(runFiles(runFolder).embeddings, 'walker-words.json');

/** Keeps the words with the run, atomically; nothing where the network reads none. */
export function writeVocabulary(runFolder: string, vocabulary: Vocabulary | undefined): void {
  if (vocabulary) writeFileAtomic(fileOf(runFolder), `${JSON.stringify({ words: vocabulary })}\n`);
}

const shape = z.strictObject({ words: z.array(z.string().min(1)) });

/** The words of a run, or undefined where its network reads none. @throws WorkbenchError `data` for a damaged file */
export function readVocabulary(runFolder: string): Vocabulary | undefined {
  const file = fileOf(runFolder);
  if (!existsSync(file)) return undefined;
  return readJsonFile(file, shape, 'the words of a walker').words;
}
