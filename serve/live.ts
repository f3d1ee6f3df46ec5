/** Live events of runs: the list when it changes, and log records as they are written. */
import { setTimeout as later } from 'node:timers/promises';
import type { SSEStreamingApi } from 'hono/streaming';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { type Cursor, logStart, readOn } from '../src/run/json-lines.js';
import { metricRecord, timingRecord } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { plainFile } from '../src/run/places.js';
import type { World } from './runs.js';

const logs = { metrics: metricRecord as z.ZodType<object>, timing: timingRecord as z.ZodType<object> };
type LogName = keyof typeof logs;
const logNames = Object.keys(logs) as LogName[];

/** One log of one run with the offset sent so far. */
interface Followed {
  run: string;
  log: LogName;
  file: string;
  cursor: Cursor;
  /** Size and modification time at the last read. */
  seen?: string;
}

const cursorShape = z.record(z.string(), z.record(z.string(), z.object({ offset: z.int().min(0), mark: z.string() })));

/** Maximum runs per stream. */
const mostFollowed = 200;

/** Maximum concurrent streams. */
export const mostStreams = 64;

/** Polling interval, and heartbeat interval of an idle stream, in milliseconds. */
export type Pace = { lookMs: number; aliveMs: number };

/** @param lastEventId of a broken stream, to resume after it @throws WorkbenchError `usage` for unknown runs */
export function followedLogs(world: World, keys: readonly string[], lastEventId: string | undefined): Followed[] {
  if (keys.length > mostFollowed) {
    throw new WorkbenchError('usage', `expected at most ${mostFollowed} runs to follow, got ${keys.length}`);
  }
  const cursors = cursorsOf(lastEventId);
  return [...new Set(keys)].flatMap((run) => {
    const files = runFiles(world.place(run, 'run').folder);
    return logNames.map((log) => ({ run, log, file: files[log], cursor: cursors[run]?.[log] ?? logStart }));
  });
}

/** An invalid id is ignored: everything is sent again. */
function cursorsOf(lastEventId: string | undefined): z.output<typeof cursorShape> {
  if (!lastEventId) return {};
  try {
    return cursorShape.parse(JSON.parse(decodeURIComponent(lastEventId)));
  } catch {
    return {};
  }
}

/** Offsets of all logs as an event id that fits into a header. */
function idOf(followed: readonly Followed[]): string {
  const cursors: Record<string, Record<string, Cursor>> = {};
  for (const { run, log, cursor } of followed) (cursors[run] ??= {})[log] = cursor;
  return encodeURIComponent(JSON.stringify(cursors));
}

/**
 * Streams until the browser disconnects or `signal` is aborted, then what has changed since the last look: `list` with all runs whenever
 * it changes, `log` with records, `caught-up` once all existing records are sent, `trouble` for a log that cannot be read.
 */
export async function sendLive(
  stream: SSEStreamingApi,
  world: World,
  followed: readonly Followed[],
  { lookMs, aliveMs }: Pace,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const end = AbortSignal.any([gone.signal, signal]);
  const left = () => gone.signal.aborted || stream.aborted;
  const send = (event: string, data: unknown) =>
    stream.writeSSE({ event, data: JSON.stringify(data), id: idOf(followed) });
  let stamp: string | undefined;
  let [caughtUp, silentMs] = [false, 0];
  for (let last = false; !last && !left();) {
    last = signal.aborted;
    let sent = false;
    const view = world.look(last);
    if (view.stamp !== stamp) {
      stamp = view.stamp;
      await send('list', { runs: view.runs });
      sent = true;
    }
    for (const one of followed) sent = (await sendLog(one, send, left)) || sent;
    if (!caughtUp) await send('caught-up', {});
    caughtUp = true;
    silentMs = sent ? 0 : silentMs + lookMs;
    if (silentMs >= aliveMs) {
      await stream.write(': alive\n\n');
      silentMs = 0;
    }
    if (!last) await later(lookMs, undefined, { signal: end, ref: false }).catch(() => {});
  }
}

async function sendLog(
  one: Followed,
  send: (event: string, data: unknown) => Promise<void>,
  left: () => boolean,
): Promise<boolean> {
  const { run, log, file } = one;
  const found = plainFile(file);
  const seen = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
  if (seen === one.seen) return false;
  one.seen = seen;
  let sent = false;
  try {
    for (let more = true; more && !left();) {
      const part = readOn(file, logs[log], one.cursor);
      one.cursor = part.cursor;
      more = part.more;
      if (part.records.length === 0 && !part.reset) continue;
      await send('log', { run, log, reset: part.reset, records: part.records });
      sent = true;
    }
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    await send('trouble', { run, log, message: error.message });
    sent = true;
  }
  return sent;
}
