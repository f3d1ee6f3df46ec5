import { expect, test } from '@jest/globals';
import { type ProgressOptions, terminalProgress } from '../../../src/run/progress.js';

/** A stream that keeps what is written, and a clock that is set by hand. */
function written(isTTY: boolean, options: Omit<ProgressOptions, 'now'> = {}) {
  const time = { ms: 0 };
  let text = '';
  const stream = { isTTY, columns: 80, write: (part: string | Uint8Array) => Boolean((text += String(part))) };
  const progress = terminalProgress(stream, { ...options, now: () => time.ms });
  return { time, progress, text: () => text };
}

/** Ten updates a second over a minute and a half. */
function work(of: ReturnType<typeof written>): void {
  const line = of.progress('clone', 900, 'updates');
  for (let done = 1; done <= 900; done++) {
    of.time.ms += 100;
    line.update(done, `loss ${done}`);
  }
  line.finish();
}

test('a log gets a plain line every half a minute, and one when the work ends', () => {
  const log = written(false);
  work(log);
  expect(log.text()).toBe(
    [
      'clone 300/900 updates · 10/s · ETA 01:00 · loss 300',
      'clone 600/900 updates · 10/s · ETA 00:30 · loss 600',
      'clone 900/900 updates · 10/s · ETA 00:00 · loss 900',
      'clone: 900 updates in 01:30 · loss 900',
      '',
    ].join('\n'),
  );
});

test('a log gets one line of work that is short', () => {
  const log = written(false, { every: 5000 });
  const line = log.progress('evaluate on valid', 20, 'dialogues');
  line.update(20, 'path@1 40.0 %');
  line.finish();
  expect(log.text()).toBe('evaluate on valid: 20 dialogues in 00:00 · path@1 40.0 %\n');
});

test('a terminal gets one line that is redrawn', () => {
  const terminal = written(true);
  work(terminal);
  expect(terminal.text().split('\r\x1b[2K')).toHaveLength(902);
  expect(terminal.text().match(/\n/g)).toHaveLength(1);
});

test('plain lines can be chosen on a terminal, a bar in a log, or nothing at all', () => {
  const [plain, bar, off] = (['plain', 'bar', 'off'] as const).map((mode) => {
    const stream = written(mode !== 'bar', { mode });
    work(stream);
    return stream.text();
  });
  expect(plain).not.toContain('\x1b');
  expect(plain!.match(/\n/g)).toHaveLength(4);
  expect(bar).toContain('\r\x1b[2Kclone 1/900');
  expect(off).toBe('');
});
