/**
 * Trials that another program chooses: it asks for one in a line of JSON, receives evaluations as they come, may stop it, and is
 * answered. After a kill it asks again under the same ids: what is over is answered from the folder.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { throwIfStopped } from '../src/run/stop.js';
import { trialsOf, type Trial } from '../src/run/sweep.js';
import { checkTrial, type OpenSweep, sameTrial } from './plan.js';
import { beginTrial, type SweepWork, TrialQueue } from './run-sweep.js';

const id = z.union([z.string().min(1), z.number()]);

/** A trial that is wanted. `updates` is short for `ppo.updates`. */
const ask = z.strictObject({
  id,
  set: z.record(z.string(), z.unknown()).default({}),
  seeds: z.array(z.int().min(0)).min(1).optional(),
  updates: z.int().min(1).optional(),
});
const stop = z.strictObject({ id, stop: z.literal(true) });
const line = z.union([stop, ask]);

type Id = z.output<typeof id>;

/** Output lines of the sweep; the first is an answer, then an evaluation under way, then a line that could not be read. */
export type Said =
  | {
      id: Id;
      state: 'finished' | 'stopped' | 'failed';
      /** Mean over the seeds; null where a run failed or none was evaluated. */
      value: number | null;
      /** One for each seed, in their order. */
      values: (number | null)[];
      reason?: string;
      /** Folder of the run with the first seed; none where the settings were refused. */
      folder?: string;
      folders?: string[];
    }
  | { id: Id; seed: number; step: number; value: number }
  | { error: string };

/** Connection to the controlling program. */
export interface Asker {
  /** Its output; ends when it needs no more trials. */
  lines: AsyncIterable<string>;
  say: (said: Said) => void;
}

/**
 * Answers until the lines end and every trial is over.
 * @throws WorkbenchError `stopped` once the signal is aborted, after the runs have saved
 */
export async function answerAsks(sweep: OpenSweep, work: SweepWork, { lines, say }: Asker): Promise<void> {
  const { record, events, folder } = sweep;
  const trials = () => trialsOf(record, events);
  const idOf = (number: number) => trials().find(({ trial }) => trial === number)!.id!;
  const queue = new TrialQueue(sweep, {
    ...work,
    onReport({ trial, seed, step, value }) {
      say({ id: idOf(trial), seed, step, value });
    },
  });

  function answer(number: number): void {
    const { id: asked, state, value, reason, runs } = trials().find(({ trial }) => trial === number)!;
    const folders = runs.map(({ name }) => join(folder, name));
    say({
      id: asked!,
      state: state as Exclude<Trial['state'], 'waiting'>,
      value: state === 'failed' ? null : (value ?? null),
      values: runs.map(({ end }) => end?.value ?? null),
      reason,
      folder: folders[0]!,
      folders: folders.length > 1 ? folders : undefined,
    });
  }

  async function begin({ id: asked, set, seeds, updates }: z.output<typeof ask>): Promise<void> {
    const whole = { ...set, ...(updates !== undefined && { 'ppo.updates': updates }) };
    const refuse = (reason: string) => say({ id: asked, state: 'failed', value: null, values: [], reason });
    const known = trials().find((trial) => trial.id === asked);
    if (
      known &&
      !sameTrial(
        { ...known.set, seeds: known.runs.map(({ seed }) => seed) },
        { ...whole, seeds: seeds ?? record.seeds },
      )
    )
      return refuse(`expected a new id for other settings, got that of trial ${known.trial}`);
    try {
      await checkTrial(record, whole);
    } catch (error) {
      if (!(error instanceof WorkbenchError)) throw error;
      return refuse(error.message);
    }
    const number = known?.trial ?? trials().length + 1;
    const trial = beginTrial(sweep, number, whole, { id: asked, seeds });
    queue.add(trial, () => answer(number));
  }

  let count = 0;
  for await (const text of lines) {
    count++;
    if (text.trim() === '') continue;
    let request: z.output<typeof line>;
    try {
      const about = { what: 'a trial such as {"id": 1, "set": {"ppo.clipRange": 0.1}}', place: `line ${count}` };
      request = ofShape(parseJson(text, about), line, about);
    } catch (error) {
      if (!(error instanceof WorkbenchError)) throw error;
      say({ error: error.message });
      continue;
    }
    if (!('stop' in request)) await begin(request);
    else {
      const { id: asked } = request;
      const trial = trials().find((one) => one.id === asked);
      if (trial) queue.stop(trial.trial, 'stopped as asked');
      else say({ error: `expected the id of a trial, got ${JSON.stringify(asked)}, at line ${count}` });
    }
  }
  await queue.idle();
  throwIfStopped(work.signal);
}
