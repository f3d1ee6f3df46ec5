import { expect, test } from '@jest/globals';
import { throughputMeter } from '../../evaluation/throughput-meter.js';

test('processor time is reported for the whole and per lap, from the start', () => {
  let cpu = 5000;
  const speed = throughputMeter(
    () => 0,
    () => cpu,
  );
  cpu += 1500;
  speed.answered();
  expect(speed.lap()).toMatchObject({ 'time/cpu_ms': 1500, 'time/questions': 1 });
  cpu += 250;
  expect(speed.lap()).toMatchObject({ 'time/cpu_ms': 250, 'time/questions': 0 });
  expect(speed.speed()).toMatchObject({ cpuSeconds: 1.75, asked: 0 });
});
