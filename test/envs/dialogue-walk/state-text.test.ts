import { describe, expect, test } from '@jest/globals';
import {
  renderStateText,
  type StateTextFields,
  taskLines,
  taskText,
  taskTextFields,
  trimmedFields,
  walkText,
  walkTextFields,
} from '../../../envs/dialogue-walk/state-text.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { applyAction, defaultWalkRules, initialState } from '../../../envs/dialogue-walk/rules.js';
import { Rng } from '../../../src/run/seeds.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { laterSample } from '../../fixtures/toy-walker.js';

const graph = graphOf('films', [
  ['heat', 'directed_by', 'mann'],
  ['heat', 'genre', 'crime'],
  ['mann', '~directed_by', 'heat'],
  ['mann', '~directed_by', 'ali'],
  ['mann', '~directed_by', 'thief'],
]);
const { task } = laterSample(
  graph,
  'd1#3',
  'd1',
  ['I like heat', 'mann made it', 'what else did he make'],
  [[['heat', 'directed_by', 'mann']]],
  [['mann', '~directed_by', 'ali']],
);
const fieldsOf = (path: 'start' | number, outPaths = 0): StateTextFields => {
  const begun = initialState(graph, task.start, defaultWalkRules);
  const state = path === 'start' ? begun : applyAction(graph, begun, path, defaultWalkRules);
  return { ...taskTextFields(graph, task), ...walkTextFields(graph, task, state, outPaths) };
};
const settings = stateTextSettings.parse({});

describe('the text of a state', () => {
  test('holds every field, the least changing first', () => {
    const text = renderStateText(fieldsOf('start'), { ...settings, template: 'none' });
    expect(text).toBe(
      [
        'Conversation:',
        'user: I like heat',
        'assistant: mann made it',
        'user: what else did he make',
        'Earlier paths:',
        '- heat -[directed_by]-> mann',
        'Next speaker: assistant',
        'Walk: mann',
        'Step 1 at mann',
      ].join('\n'),
    );
  });

  test.each(['normal', 'alpaca', 'none'] as const)(
    '%s: all states of a task begin alike, and end apart',
    (template) => {
      const options = { ...settings, template };
      const [first, ...later] = [fieldsOf('start'), fieldsOf(0), fieldsOf(1)].map((fields) =>
        renderStateText(fields, options),
      );
      const beginning = taskText(taskTextFields(graph, task), options);
      for (const text of [first!, ...later]) expect(text.startsWith(beginning)).toBe(true);
      expect(new Set([first, ...later]).size).toBe(3);
      expect(later[0]).toContain('Walk: mann -[~directed_by]-> heat\nStep 2 at heat');
    },
  );

  test('the instruction stands in two of the three forms, in its own words in each', () => {
    const [normal, alpaca, none] = (['normal', 'alpaca', 'none'] as const).map((template) =>
      renderStateText(fieldsOf('start'), { ...settings, template }),
    );
    expect(normal).toMatch(/^Task: .*\nInstruction: .*\nConversation:/);
    expect(alpaca).toMatch(/### Instruction:\n.*\n\n### Input:\nConversation:[^#]*### Response:$/);
    expect(none).not.toMatch(/Instruction|Task/);
  });

  test('B-ARK-10: is a function of the fields alone, independent of earlier renderings', () => {
    const before = renderStateText(fieldsOf(1));
    renderStateText({ ...fieldsOf(0), messages: [] });
    expect(renderStateText(fieldsOf(1))).toBe(before);
  });

  test('fields can be left out; the last message cannot', () => {
    const text = renderStateText(fieldsOf('start'), { template: 'none', history: false, earlierPaths: false });
    expect(text).toBe(
      'Conversation:\nuser: what else did he make\nNext speaker: assistant\nWalk: mann\nStep 1 at mann',
    );
  });

  test('names the first out-paths of the current entity where they are asked for', () => {
    expect(walkText(fieldsOf('start', 2), { template: 'none' })).toBe(
      'Walk: mann\nStep 1 at mann\nEdges:\n- ~directed_by -> heat\n- ~directed_by -> ali',
    );
    expect(walkText(fieldsOf(2, 9), { template: 'none' })).not.toContain('Edges');
  });
});

describe('B-ARK-8: a text that is too long', () => {
  const words = (text: string) => text.split(/\s+/).filter(Boolean).length;
  const trim = (budget: number) => {
    const { kept, messages, earlierPaths } = taskLines(taskTextFields(graph, task), settings);
    const tokens = { kept: words(kept), messages: messages.map(words), earlierPaths: earlierPaths.map(words) };
    return trimmedFields(fieldsOf('start'), tokens, budget);
  };
  const all = words(taskText(taskTextFields(graph, task), settings)) - words('Earlier paths:');

  test('loses its oldest message first, then its oldest earlier path', () => {
    expect(trim(all).messages).toHaveLength(3);
    expect(trim(all - 1).messages.map(({ text }) => text)).toEqual(['mann made it', 'what else did he make']);
    expect(trim(all - 1).earlierPaths).toHaveLength(1);
    const least = trim(all - 9);
    expect([least.messages.length, least.earlierPaths.length]).toEqual([1, 0]);
  });

  test('keeps the last message, the entity and the step, for any budget', () => {
    for (let budget = 0; budget <= all; budget++) {
      const text = renderStateText(trim(budget), settings);
      for (const field of ['user: what else did he make', 'Next speaker: assistant', 'Walk: mann', 'Step 1 at mann']) {
        expect(text).toContain(field);
      }
    }
  });

  test('of any length never grows and never cuts a message in two', () => {
    const rng = Rng.named(1, 'test/state-text');
    for (let round = 0; round < 200; round++) {
      const messages = Array.from({ length: rng.integer(6) }, (_, i) => ({
        sender: 'user' as const,
        text: `m${i}`.repeat(1 + rng.integer(5)),
      }));
      const fields = {
        messages,
        sender: 'user' as const,
        earlierPaths: Array.from({ length: rng.integer(4) }, (_, i) => `p${i}`),
      };
      const { kept, messages: lines, earlierPaths } = taskLines(fields, settings);
      const tokens = {
        kept: kept.length,
        messages: lines.map((l) => l.length + 1),
        earlierPaths: earlierPaths.map((l) => l.length + 1),
      };
      const trimmed = trimmedFields(fields, tokens, rng.integer(400));
      expect(messages.slice(messages.length - trimmed.messages.length)).toEqual(trimmed.messages);
      expect(fields.earlierPaths.slice(fields.earlierPaths.length - trimmed.earlierPaths.length)).toEqual(
        trimmed.earlierPaths,
      );
      if (messages.length > 0) expect(trimmed.messages.at(-1)).toBe(messages.at(-1));
    }
  });
});
