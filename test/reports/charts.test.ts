import { inflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dark, light } from '../../reports/plots/chart.js';
import { agentColors, greys, palette } from '../../reports/plots/colors.js';
import { indexedPng } from '../../reports/pictures.js';
import { logarithmicAxis, placeFor } from '../../reports/plots/scatter.js';
import { takenUpTo } from '../../reports/plots/series.js';
import type { TimingRecord } from '../../src/run/records.js';

/** The colours of a picture of one chunk of each kind, as its palette gives them. */
function decode(png: Buffer): number[][] {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const width = chunks.get('IHDR')!.readUInt32BE(0);
  const colours = chunks.get('PLTE')!;
  const rows = inflateSync(chunks.get('IDAT')!);
  const pixels = [...rows].filter((_, i) => i % (width + 1) > 0);
  return pixels.map((index) => [...colours.subarray(3 * index, 3 * index + 3)]);
}

describe('a picture of few colours', () => {
  test('has every shade to within a few steps, and the first of each exactly', () => {
    const colour = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(fc.array(colour, { minLength: 1, maxLength: 700 }), (colours) => {
        const rgba = Uint8Array.from(colours.flatMap((rgb) => [...rgb, 255]));
        const shown = decode(indexedPng(rgba, colours.length, 1));
        expect(shown[0]).toEqual(colours[0]);
        const off = shown.map((rgb, i) => Math.max(...rgb.map((value, c) => Math.abs(value - colours[i]![c]!))));
        expect(Math.max(...off)).toBeLessThan(colours.length <= 256 ? 8 : 64);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a logarithmic axis', () => {
  test('has marks at decades around the values, 1 and 3 where they are few, and a place for 0', () => {
    const marksOf = (...values: number[]) => logarithmicAxis(values.map((value) => ({ value }))).marks;
    expect(marksOf(0, 1, 10.3).map(({ text }) => text)).toEqual(['0', '1', '3', '10', '30', '100']);
    expect(marksOf(0.02, 300).map(({ text }) => text)).toEqual(['0.01', '0.1', '1', '10', '100', '1000']);
    expect(marksOf(0).map(({ text }) => text)).toEqual(['0', '1', '3', '10']);
    const { place } = logarithmicAxis([{ value: 0 }, { value: 5, low: 0.4, high: 9 }]);
    expect([place(0), place(5)]).toEqual([0.01, 5]);
  });
});

describe('a name next to a point', () => {
  const area = { left: 0, right: 200, top: 0, bottom: 100 };
  const spot = { left: 90, right: 104, top: 40, bottom: 54 };

  test('stands right of it, left where that is taken or outside, else above', () => {
    expect(placeFor(spot, 30, [spot], area)).toEqual({ left: 106, right: 136, top: 40, bottom: 54 });
    const right = { left: 106, right: 140, top: 40, bottom: 54 };
    expect(placeFor(spot, 30, [spot, right], area).left).toBe(58);
    const left = { left: 50, right: 88, top: 40, bottom: 54 };
    expect(placeFor(spot, 30, [spot, right, left], area)).toMatchObject({ left: 106, top: 26 });
    expect(placeFor(spot, 120, [spot], area)).toBeDefined();
  });
});

describe('the colour of an agent', () => {
  const colorOf = (name: string, ...others: string[]) =>
    agentColors([...others, name].map((one) => ({ name: one, vivid: true }))).get(name);

  test('is the same next to any other name', () => {
    expect(colorOf('PPO (best)')).toBe(palette[0]);
    expect(colorOf('PPO (best)', 'mine', 'tog', 'fiske', 'clone (best)')).toBe(palette[0]);
    expect(colorOf('tog', 'PPO (best)')).toBe(colorOf('tog', 'io', 'an agent of my own'));
  });

  test('is no other’s, as far as colours go, and none that is taken', () => {
    const names = ['PPO, one', 'PPO, two', 'tog', 'mine', 'yours', 'theirs'].map((name) => ({ name, vivid: true }));
    expect(new Set(agentColors(names).values()).size).toBe(names.length);
    expect(agentColors([{ name: 'PPO', vivid: true }], new Set([palette[0]])).get('PPO')).toBe(palette[1]);
    const many = Array.from({ length: 40 }, (_, i) => ({ name: `agent ${i}`, vivid: true }));
    expect(agentColors(many).size).toBe(40);
  });

  test('is grey where it learns nothing', () => {
    const plain = agentColors([
      { name: 'lookup', vivid: false },
      { name: 'PPO', vivid: true },
    ]);
    expect(greys).toContain(plain.get('lookup'));
    expect(palette).toContain(plain.get('PPO'));
  });
});

test('by night every colour of the palette is another, opacity is kept', () => {
  for (const color of [...palette, ...greys]) {
    expect(light.shade(color)).toBe(color);
    expect(dark.shade(`${color}40`)).toMatch(/^#[0-9a-f]{6}40$/);
    expect(dark.shade(color)).not.toBe(color);
  }
});

test('environment steps are summed up to each step, a step that was done again once, and averaged over runs', () => {
  const timing = (step: number, steps: number): TimingRecord => ({
    phase: 'ppo',
    step,
    seconds: 1,
    rss_mb: 1,
    'time/env_steps': steps,
  });
  const first = [timing(1, 10), timing(2, 20), timing(2, 20), timing(3, 30)];
  const second = [timing(1, 12), timing(2, 24)];
  expect([...takenUpTo([first, second], 'ppo', 'time/env_steps')!]).toEqual([
    [0, 0],
    [1, 11],
    [2, 33],
  ]);
  expect(takenUpTo([first, []], 'ppo', 'time/env_steps')).toBeUndefined();
  expect(takenUpTo([], 'ppo', 'time/env_steps')).toBeUndefined();
});
