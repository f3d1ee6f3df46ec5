/** Writes a demo world in the file formats of `datasets import opendialkg` and `datasets import custom`. */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inverseName } from '../../src/kg/graph.js';
import { makeFolder, writeError, writeFileAtomic, writeFully } from '../../src/run/files.js';
import type { Progress } from '../../src/run/progress.js';
import type { Dialogue } from '../dialogue.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import { demoDialogues } from './dialogues.js';
import { type DemoQuestion, demoQuestions } from './questions.js';
import type { DemoSettings } from './schema.js';
import { demoFacts, demoWorld, type DemoWorld } from './world.js';

/** World with its dialogues and questions. */
export interface DemoContents {
  world: DemoWorld;
  dialogues: Record<SplitName, Dialogue[]>;
  questions: DemoQuestion[];
}

/** Generates the world; equal settings give equal contents. @param graph name of the graph */
export function demoContents(settings: DemoSettings, graph = 'dialogue'): DemoContents {
  const world = demoWorld(settings, graph);
  return { world, dialogues: demoDialogues(world, settings), questions: demoQuestions(world, settings) };
}

export const releaseFiles = { triples: 'triples.txt', questions: 'questions.jsonl' } as const;

/** Counts of written items. */
export interface WrittenRelease {
  triples: number;
  dialogues: number;
  questions: number;
}

interface WriteOptions {
  line?: Progress;
  /** `demoContents` of the same settings, if available. */
  contents?: DemoContents;
}

/**
 * Writes `triples.txt`, `train.jsonl`, `valid.jsonl`, `test.jsonl` and `questions.jsonl`. Triples are streamed; dialogues and questions
 * need the graph in memory, so larger worlds have none (`dialogues` and `questions` 0). Equal settings give equal bytes.
 * @throws WorkbenchError `failure` for disk errors
 */
export function writeDemoRelease(
  folder: string,
  settings: DemoSettings,
  { line, contents }: WriteOptions = {},
): WrittenRelease {
  const triples = writeTriples(folder, settings, line);
  if (settings.dialogues === 0 && settings.questions === 0) return { triples, dialogues: 0, questions: 0 };
  const { dialogues, questions } = contents ?? demoContents(settings);
  for (const split of splitNames) {
    if (settings.dialogues > 0)
      writeFileAtomic(join(folder, `${split}.jsonl`), lines(dialogues[split].map(conversation)));
  }
  if (settings.questions > 0) writeFileAtomic(join(folder, releaseFiles.questions), lines(questions.map(customLine)));
  const spoken = splitNames.reduce((sum, split) => sum + dialogues[split].length, 0);
  return { triples, dialogues: spoken, questions: questions.length };
}

/** Characters buffered per write. */
const chunkLength = 1 << 20;
const reportEvery = 1 << 18;

function writeTriples(folder: string, settings: DemoSettings, line: Progress | undefined): number {
  const file = join(folder, releaseFiles.triples);
  const unfinished = `${file}.part`;
  let triples = 0;
  try {
    makeFolder(folder);
    const descriptor = openSync(unfinished, 'w');
    try {
      let text = '';
      for (const { head, relation, tail } of demoFacts(settings)) {
        text += `${head}\t${relation}\t${tail}\n${tail}\t${inverseName(relation)}\t${head}\n`;
        triples += 2;
        if (triples % reportEvery === 0) line?.update(triples);
        if (text.length < chunkLength) continue;
        writeFully(descriptor, Buffer.from(text));
        text = '';
      }
      writeFully(descriptor, Buffer.from(text));
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw writeError(error, file);
  }
  return triples;
}

const lines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** Dialogue in OpenDialKG's shape: chat items, preceded by the paths chosen for them. */
function conversation({ messages, paths }: Dialogue): unknown[] {
  const items: unknown[] = [];
  for (let position = 0; position <= messages.length; position++) {
    for (const { sender, triples } of paths.filter((path) => path.position === position)) {
      items.push({ sender, action_id: 'kgwalk/choose_path', metadata: { path: [1, triples, ''] } });
    }
    const message = messages[position];
    if (message) items.push({ sender: message.sender, message: message.text });
  }
  return items;
}

function customLine({ id, marked, answers, chains, type, hops, form, truth, claimed, split }: DemoQuestion) {
  return {
    id,
    split,
    question: marked,
    ...(answers.length > 0 && { answers: answers.map(({ name }) => name) }),
    chain: chains![0],
    type,
    hops,
    form,
    truth,
    claimed,
  };
}
