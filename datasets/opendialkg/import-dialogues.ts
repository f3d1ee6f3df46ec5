/** The dialogues of an OpenDialKG release, by split. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Dialogue } from '../dialogue.js';
import { splitNames } from '../manifest.js';
import type { SplitName } from '../walk-sample.js';
import type { ParseCounts } from './parse-messages.js';
import { readDialogues } from './read-dialogues.js';
import type { ReleaseFiles } from './release-files.js';

/** Dialogues by split, with what was left out. */
export interface ImportedDialogues {
  splitBy: 'file' | 'dialogue hash';
  splits: Record<SplitName, Dialogue[]>;
  /** What was left out, by file name. */
  counts: Record<string, ParseCounts>;
}

/**
 * Reads the dialogues and assigns each, whole, to a split: siblings of a test sample are never in train.
 * @throws WorkbenchError `data` naming file and row, or a split without a path
 */
export async function importDialogues(files: ReleaseFiles['dialogues']): Promise<ImportedDialogues> {
  const oneFile = typeof files === 'string';
  const imported: ImportedDialogues = {
    splitBy: oneFile ? 'dialogue hash' : 'file',
    splits: { train: [], valid: [], test: [] },
    counts: {},
  };
  if (oneFile) {
    const { dialogues, counts } = await readDialogues(files);
    for (const dialogue of dialogues) imported.splits[splitOf(dialogue)].push(dialogue);
    imported.counts[basename(files)] = counts;
  } else {
    for (const split of splitNames) {
      const { dialogues, counts } = await readDialogues(files[split]);
      imported.splits[split] = dialogues;
      imported.counts[basename(files[split])] = counts;
    }
  }
  for (const split of splitNames) {
    const dialogues = imported.splits[split];
    if (dialogues.some(({ paths }) => paths.length > 0)) continue;
    const got = dialogues.length === 0 ? 'no dialogue' : `${dialogues.length} dialogues without any path`;
    const place = oneFile ? files : files[split];
    throw new WorkbenchError('data', `expected grounded dialogues in split ${split}, got ${got}, at ${place}`, {
      hint: 'A path is an action kgwalk/choose_path. Name the files train, valid and test to choose the splits yourself.',
    });
  }
  return imported;
}

/** 70 / 15 / 15 by sha256 of who said what, so equal dialogues share a split and the order of the file is irrelevant. */
export function splitOf({ messages }: Pick<Dialogue, 'messages'>): SplitName {
  const text = JSON.stringify(messages.map((message) => [message.sender, message.text]));
  const share = createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
  return share < 0.7 ? 'train' : share < 0.85 ? 'valid' : 'test';
}
