/** Writes a demo world in the file formats of `datasets import opendialkg` and `datasets import custom`. */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inverseName } from '../../src/kg/graph.js';
import { makeFolder, writeError, writeFileAtomic, writeFully } from '../../src/run/files.js';
import type { Progress } from '../../src/run/progress.js';
import type { Dialogue } from '../dialogue.js';
import { type SplitName, splitNames } from '../walk-sample.js';
import { type DemoQuestion, demoQuestions } from './questions.js';
import type { DemoSettings, EntityType } from './schema.js';
import { demoFacts, demoWorld, type DemoWorld } from './world.js';
import { Rng, pick, pickWeighted } from '../../src/run/seeds.js';
import { chooseMove } from './moves.js';
import { Speech } from './speech.js';
import { chance, skewed, talk } from './words.js';

/** World with its dialogues and questions. */
export type DemoContents = { world: DemoWorld; dialogues: Record<SplitName, Dialogue[]>; questions: DemoQuestion[] };

/** Generates the world; equal settings give equal contents. @param graph name of the graph */
export function demoContents(settings: DemoSettings, graph = 'dialogue'): DemoContents {
  const world = demoWorld(settings, graph);
  return { world, dialogues: demoDialogues(world, settings), questions: demoQuestions(world, settings) };
}

export const releaseFiles = { triples: 'triples.txt', questions: 'questions.jsonl' } as const;

/** Counts of written items. */
export type WrittenRelease = { triples: number; dialogues: number; questions: number };

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

const customLine = ({ id, marked, answers, chains, type, hops, form, truth, claimed, split }: DemoQuestion) => ({
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
});

/** Opening lines. */
const beginnings: readonly (readonly [EntityType, number])[] = [
  ['film', 38],
  ['book', 18],
  ['band', 8],
  ['song', 6],
  ['album', 4],
  ['actor', 7],
  ['director', 4],
  ['writer', 4],
  ['athlete', 5],
  ['team', 6],
];

const shares: Record<SplitName, number> = { train: 0.7, valid: 0.15, test: 0.15 };

/** `count` conversations by split; first messages are unique, so no dialogue occurs in two splits. */
export function demoDialogues(
  world: DemoWorld,
  { seed, dialogues: count }: { seed: number; dialogues: number },
): Record<SplitName, Dialogue[]> {
  const rng = Rng.named(seed, 'demo/dialogues');
  const known = knownFirst(world);
  const opened = new Set<string>();
  const made: Omit<Dialogue, 'id'>[] = [];
  for (let attempt = 0; made.length < count && attempt < 20 * count; attempt++) {
    const dialogue = dialogueAbout(world, known, rng);
    const opening = dialogue?.messages[0]?.text;
    if (!dialogue || opening === undefined || opened.has(opening)) continue;
    opened.add(opening);
    made.push(dialogue);
  }
  const splits = {} as Record<SplitName, Dialogue[]>;
  let begin = 0;
  for (const split of splitNames) {
    const end = split === 'test' ? made.length : begin + Math.round(shares[split] * made.length);
    splits[split] = made.slice(begin, end).map((dialogue, i) => ({ id: `${split}-${i + 1}`, ...dialogue }));
    begin = end;
  }
  return splits;
}

/** Entity ids of each type, highest degree first. */
function knownFirst({ graph, types }: DemoWorld): ReadonlyMap<EntityType, number[]> {
  const byType = Map.groupBy(types.keys(), (id) => types[id]!);
  for (const ids of byType.values()) ids.sort((a, b) => graph.degree(b) - graph.degree(a) || a - b);
  return byType;
}

function dialogueAbout(
  world: DemoWorld,
  known: ReadonlyMap<EntityType, number[]>,
  rng: Rng,
): Omit<Dialogue, 'id'> | undefined {
  const [type] = pickWeighted(rng, beginnings, ([of, weight]) => (known.has(of) ? weight : 0));
  const ids = known.get(type)!;
  const speech = new Speech(world, rng, ids[skewed(rng, ids.length, 1.7)]!, (aside) => {
    const others = known.get(aside);
    return others && others[skewed(rng, others.length, 1.5)]!;
  });
  const wanted = pickWeighted(rng, [1, 2, 3, 4], (n) => [0.12, 0.4, 0.34, 0.14][n - 1]!);
  for (let n = 0; n < wanted; n++) {
    const asks = n === 0 || chance(rng, 0.64);
    const move = chooseMove(world, rng, speech, asks);
    if (!move) break;
    if (asks) speech.ask(move);
    else speech.prompt(move);
  }
  speech.end(chance(rng, 0.5) ? pick(rng, talk().farewells) : undefined);
  const { messages, paths } = speech;
  return paths.length === 0 ? undefined : { messages, paths };
}
