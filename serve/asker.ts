/** Answers custom questions with trained runs, which stay loaded between questions. */
import { z } from 'zod';
import { drawingOf } from '../reports/examples.js';
import { WorkbenchError } from '../src/run/errors.js';
import { silentProgress } from '../src/run/progress.js';
import { ofShape } from '../src/run/read-json.js';
import { usualFlags } from '../tasks/flags.js';
import { lacks, readsFlag } from '../tasks/index.js';
import { resolve, taskOf } from '../tasks/named.js';
import type { OpenedAsk, Work } from '../tasks/task.js';
import type { Answered, ShownRun } from './api.js';
import { keptRuns, whichRun } from './kept-runs.js';
import type { World } from './runs.js';

/** Number of answers returned. */
const mostAnswers = 50;
const text = z.string().min(1).max(4000);

const question = z.strictObject({
  ...whichRun,
  /** The question or the dialogue's messages; for links, `head` and `relation`. */
  question: text.optional(),
  head: text.optional(),
  relation: text.optional(),
  /** Dialogues: start entity. */
  start: text.optional(),
  top: z.int().min(1).max(mostAnswers).default(10),
});

interface Loaded {
  opened: OpenedAsk;
  /** Field names of its task, in order. */
  words: readonly string[];
  close(): void | Promise<void>;
}

/** Close it after use. */
export function openAsker(world: World) {
  const kept = keptRuns(world, '/ask', openRunOf);
  return {
    /** @param body JSON @throws WorkbenchError `usage` or `data` for an invalid question */
    async ask(body: unknown): Promise<Answered> {
      const asked = ofShape(body, question, {
        what: 'a question as docs/how-to/reports.md describes it',
        place: '/ask',
      });
      return kept.use(asked, async ({ opened, words }) => {
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
    close: kept.close,
  };
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
  const opened = open(resolve(task, named, flags), flags, work);
  return { opened, words, close: () => opened.close() };
}

/** Inputs of a run's `ask`: field names, and whether a start entity is one of them. */
export async function askedOf(folder: string): Promise<ShownRun['asked']> {
  const task = await taskOf([{ name: folder, isRun: true }], {});
  return { words: task.ask?.words ?? [], start: readsFlag(task.name, 'start') };
}
