/** Answers custom questions with trained runs, which stay loaded between questions. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { drawingOf } from '../reports/examples.js';
import { WorkbenchError } from '../src/run/errors.js';
import { silentProgress } from '../src/run/progress.js';
import { ofShape } from '../src/run/read-json.js';
import { runFiles } from '../src/run/run-files.js';
import { usualFlags } from '../tasks/flags.js';
import { lacks, readsFlag } from '../tasks/index.js';
import { resolve, taskOf } from '../tasks/named.js';
import type { OpenedAsk, Work } from '../tasks/task.js';
import type { Answered, ShownRun } from './api.js';
import { readPlacedRun, stampOfRun, type World } from './runs.js';

/** Maximum bytes of a request. */
export const longestQuestion = 64 * 1024;

/** Maximum questions in the queue. */
export const mostWaiting = 32;

/** Error when the queue is full. */
export class Busy extends WorkbenchError {}

/** Number of answers returned. */
const mostAnswers = 50;
const text = z.string().min(1).max(4000);

const question = z.strictObject({
  run: z.string(),
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: z
    .string()
    .regex(/^[\w-]{1,60}$/, 'expected best, last, clone, a name or a step')
    .default('best'),
  /** The question or the dialogue's messages; for links, `head` and `relation`. */
  question: text.optional(),
  head: text.optional(),
  relation: text.optional(),
  /** Dialogues: start entity. */
  start: text.optional(),
  top: z.int().min(1).max(mostAnswers).default(10),
});

/** Loaded runs at most; the least recently used is closed first. */
const keptLoaded = 2;

interface Loaded {
  opened: OpenedAsk;
  /** Field names of its task, in order. */
  words: readonly string[];
}

/** Close it after use. */
export function openAsker(world: World) {
  const loaded = new Map<string, Loaded>();
  // One question at a time: each run is loaded once, and networks are not shared by two questions.
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    waiting++;
    void last.then(() => waiting--);
    return turn;
  };

  const open = async (key: string, checkpoint: string): Promise<Loaded> => {
    const place = world.place(key, 'run');
    const name = `${place.folder}@${checkpoint} ${stampOf(place.folder)}`;
    const found = loaded.get(name) ?? (await openRunOf(readPlacedRun(place).folder, checkpoint));
    loaded.delete(name);
    loaded.set(name, found);
    for (const [old, { opened }] of loaded) {
      if (loaded.size <= keptLoaded) break;
      loaded.delete(old);
      await opened.close();
    }
    return found;
  };

  return {
    /** @param body JSON text @throws WorkbenchError `usage` or `data` for an invalid question */
    async ask(body: unknown): Promise<Answered> {
      const asked = ofShape(body, question, {
        what: 'a question as docs/how-to/reports.md describes it',
        place: '/ask',
      });
      if (waiting >= mostWaiting) {
        throw new Busy('usage', `expected at most ${mostWaiting} questions at once, got more, at /ask`, {
          hint: 'They are answered one after the other: ask again when one is.',
        });
      }
      return inTurn(async () => {
        const { opened, words } = await open(asked.run, asked.checkpoint);
        const said = words.flatMap((word) => asked[word as 'question' | 'head' | 'relation'] ?? []);
        if (said.length < words.length) {
          const wanted = words.join(' and ');
          throw new WorkbenchError('usage', `expected ${wanted} of a question to this run, got less, at /ask`);
        }
        const begun = performance.now();
        const { top, start } = asked;
        const { json, sections, answers, walks } = await opened.ask(said, { top: String(top), start });
        const milliseconds = Math.round(10 * (performance.now() - begun)) / 10;
        const drawing = walks && drawingOf({ answers, walks });
        return { answer: json, sections: [...sections], milliseconds, drawing };
      });
    },
    close: () =>
      inTurn(async () => {
        for (const { opened } of loaded.values()) await opened.close();
        loaded.clear();
      }),
  };
}

/** Changes when a run trains on: then it is read again and its checkpoint reloaded. */
function stampOf(folder: string): string {
  const index = statSync(join(runFiles(folder).checkpoints, 'index.json'), { throwIfNoEntry: false });
  return `${stampOfRun(folder)} ${index ? `${index.mtimeMs} ${index.size}` : '-'}`;
}

async function openRunOf(folder: string, checkpoint: string): Promise<Loaded> {
  const named = { name: folder, isRun: true };
  const flags = { ...usualFlags, checkpoint };
  const task = await taskOf([named], flags);
  const work: Work = {
    progress: silentProgress,
    note() {},
    onTruncatedLog() {},
    preset: async (name) => (await import('../presets/index.js')).loadPreset(name),
  };
  const { open, words } = task.ask ?? lacks('something to ask', 'an environment of episodes');
  return { opened: open(resolve(task, named, flags), flags, work), words };
}

/** Inputs of a run's `ask`: field names, and whether a start entity is one of them. */
export async function askedOf(folder: string): Promise<ShownRun['asked']> {
  const task = await taskOf([{ name: folder, isRun: true }], {});
  return { words: task.ask?.words ?? [], start: readsFlag(task.name, 'start') };
}
