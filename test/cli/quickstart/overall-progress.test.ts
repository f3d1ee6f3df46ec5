import { expect, test } from '@jest/globals';
import { overallProgress, type PlannedStep } from '../../../cli/quickstart/overall-progress.js';

function stream(isTTY: boolean) {
  const written: string[] = [];
  return { written, stream: { isTTY, columns: 80, write: (text: string) => written.push(text) } as never };
}

const plan: PlannedStep[] = [
  { title: 'first', parts: { spin: 20, wind: 20 } },
  { title: 'second', parts: { weave: 60 } },
];

test('a log gets a line at the beginning and the end of each step, of each planned part, and every half minute', () => {
  const { written, stream: out } = stream(false);
  let time = 0;
  const progress = overallProgress(plan, true, out, () => time);
  progress.begin();
  const spin = progress.line('spin', 10, 'threads');
  spin.update(5);
  spin.update(10, 'fine');
  spin.finish();
  progress.line('look', 1, 'threads').finish('not planned, not reported');
  time = 40;
  progress.line('wind', 4, 'threads').update(4);
  progress.end('done');
  expect(written).toEqual([
    '[1/2] first · 01:40 to go in all\n',
    '      spin: 10 threads · fine\n',
    '[1/2] 01:00 to go · wind 4/4 threads\n',
    '      done · 00:40\n',
  ]);
});

test('the time to go follows the clock: twice as slow as planned means twice as long', () => {
  const { written, stream: out } = stream(true);
  let time = 0;
  const progress = overallProgress(plan, true, out, () => time);
  progress.begin();
  time = 80;
  progress.line('spin', 1, 'threads').update(1);
  time = 100;
  progress.line('wind', 1, 'threads').update(1);
  progress.end('done');
  progress.begin();
  // 40 planned seconds took 100; with 20 seconds of trust in the plan the rate is 120 / 60.
  expect(written.at(-1)).toContain('[2/2] second · 02:00 to go in all');
});

test('a step that was done before says nothing about the machine', () => {
  const { written, stream: out } = stream(true);
  let time = 0;
  const progress = overallProgress(plan, true, out, () => time);
  progress.begin();
  time = 1;
  progress.end('reused');
  progress.begin();
  expect(written.at(-1)).toContain('01:00 to go');
});

test('a terminal’s line is redrawn, cut to its width, and shows position, part and remaining time', () => {
  const { written, stream: out } = stream(true);
  let time = 0;
  const progress = overallProgress(plan, true, out, () => time);
  progress.begin();
  time = 10;
  progress.line('spin', 4, 'threads').update(2, 'x'.repeat(100));
  expect(written.at(-1)).toMatch(/^\r.\[2K\[1\/2\] 01:30 to go · spin 2\/4 threads · x+$/);
  expect(written.at(-1)!.length).toBe(5 + 79);
});

test('with another model than the plan is of, no time is made up: a part is estimated from its own speed', () => {
  const { written, stream: out } = stream(false);
  let time = 0;
  const progress = overallProgress(plan, false, out, () => time);
  progress.begin();
  const spin = progress.line('spin', 40, 'threads');
  for (time = 15; time <= 60; time += 15) spin.update(time / 15);
  expect(written).toEqual([
    '[1/2] first · time to go unknown with this model\n',
    '[1/2] 09:30 to go in this part · spin 2/40 threads\n',
    '[1/2] 09:00 to go in this part · spin 4/40 threads\n',
  ]);
});
