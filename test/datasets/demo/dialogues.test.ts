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

  test('leave no place of a pattern open', () => {
    for (const { messages } of all) {
      for (const { text } of messages) {
        expect(text).not.toMatch(/[{}]|undefined| {2}|\?\?|\.\./);
        expect(text).toMatch(/^\P{Ll}/u);
      }
    }
  });
});
