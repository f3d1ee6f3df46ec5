import { describe, expect, test } from '@jest/globals';
import { demoDialogues } from '../../../datasets/demo/dialogues.js';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { demoWorld } from '../../../datasets/demo/world.js';
import { splitNames, walkSamples } from '../../../datasets/walk-sample.js';

const settings = demoSettings.parse({ dialogues: 600 });
const world = demoWorld(settings);
const splits = demoDialogues(world, settings);
const all = splitNames.flatMap((split) => splits[split]);
const samples = walkSamples(all, world.graph);

describe('dialogues of the demo world', () => {
  test('are as many as asked for, 70 to 15 to 15', () => {
    expect(splitNames.map((split) => splits[split].length)).toEqual([420, 90, 90]);
  });

  test('no two begin with the same words, so none is in two splits', () => {
    expect(new Set(all.map(({ messages }) => messages[0]!.text)).size).toBe(all.length);
  });

  test('are grounded: every path lies in the graph, follows a message and starts at what was talked of', () => {
    expect(samples.every(({ gold }) => gold.inGraph)).toBe(true);
    expect(samples.every(({ task }) => task.messages.length > 0)).toBe(true);
    for (const { task } of samples) {
      const visited = task.earlierPaths.flatMap((path) => path.flatMap(([head, , tail]) => [head, tail]));
      if (visited.length > 0) expect(visited).toContain(task.start);
    }
  });

  test('walk one edge twice as often as two, from the last topic mostly and not always', () => {
    const oneHop = samples.filter(({ gold }) => gold.path.length === 1).length / samples.length;
    expect(oneHop).toBeGreaterThan(0.6);
    expect(oneHop).toBeLessThan(0.8);
    const later = samples.filter(({ task }) => task.earlierPaths.length > 0);
    const last = later.filter(({ task }) => task.earlierPaths.at(-1)!.at(-1)![2] === task.start).length / later.length;
    expect(last).toBeGreaterThan(0.4);
    expect(last).toBeLessThan(0.8);
  });

  test('no relation is asked for more than a sixth of the time', () => {
    const counts = new Map<number, number>();
    for (const { gold } of samples) counts.set(gold.path[0]![1], (counts.get(gold.path[0]![1]) ?? 0) + 1);
    expect(Math.max(...counts.values()) / samples.length).toBeLessThan(1 / 6);
    expect(counts.size).toBeGreaterThan(35);
  });

  test('leave no place of a pattern open', () => {
    for (const { messages } of all) {
      for (const { text } of messages) {
        expect(text).not.toMatch(/[{}]|undefined| {2}|\?\?|\.\./);
        expect(text).toMatch(/^\P{Ll}/u);
      }
    }
  });

  test('equal settings, equal dialogues', () => {
    expect(demoDialogues(world, settings)).toEqual(splits);
  });
});
