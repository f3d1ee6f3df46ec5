import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type WalkRules,
  type WalkState,
  actionOf,
  actionTriple,
  applyAction,
  defaultWalkRules,
  initialState,
  mayStay,
  numActions,
} from '../../../envs/dialogue-walk/rules.js';
import {
  type StateTextFields,
  renderStateText,
  taskLines,
  taskText,
  taskTextFields,
  trimmedFields,
  walkText,
  walkTextFields,
} from '../../../envs/dialogue-walk/state-text.js';
import { makeEnv } from '../../../envs/index.js';
import { stateTextSettings } from '../../../envs/settings.js';
import { Graph, pathKey, unknownId } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { argmaxSegment, segmentLogSoftmax } from '../../../src/nn/categorical.js';
import { checkProperty } from '../../fixtures/property.js';
import { laterSample } from '../../fixtures/toy-walker.js';
import { graphOf, toyTwoHop } from '../../fixtures/toy-walks.js';

const chain = graphOf('chain', [
  ['a', 'r', 'b'],
  ['b', 's', 'c'],
]);

describe('rules of a walk', () => {
  test('staying is legal from the second step on', () => {
    const state = initialState(chain, 0, defaultWalkRules);
    expect(mayStay(state, defaultWalkRules)).toBe(false);
    expect(numActions(chain, state, defaultWalkRules)).toBe(1);
    const second = applyAction(chain, state, 0, defaultWalkRules);
    expect(numActions(chain, second, defaultWalkRules)).toBe(2);
    expect(actionTriple(chain, second, 1)).toEqual([1, chain.equalRelation, 1]);
  });

  test('equalAtStep1 allows a stay at the start, which ends the walk', () => {
    const rules: WalkRules = { horizon: 3, equalAtStep1: true };
    const state = initialState(chain, 0, rules);
    expect(numActions(chain, state, rules)).toBe(2);
    const stayed = applyAction(chain, state, 1, rules);
    expect(stayed).toMatchObject({ current: 0, hop: 1, done: true });
    expect(numActions(chain, stayed, rules)).toBe(0);
  });

  test('a walk ends at the horizon', () => {
    const first = applyAction(chain, initialState(chain, 0, defaultWalkRules), 0, defaultWalkRules);
    expect(first.done).toBe(false);
    const second = applyAction(chain, first, 0, defaultWalkRules);
    expect(second).toMatchObject({ start: 0, current: 2, hop: 2, done: true });
    expect(second.path).toEqual([
      [0, 0, 1],
      [1, 1, 2],
    ]);
  });

  test('a start without edges is over before it began, unless it may stay', () => {
    for (const start of [2, unknownId]) {
      expect(initialState(chain, start, defaultWalkRules).done).toBe(true);
      const rules = { horizon: 2, equalAtStep1: true };
      expect(numActions(chain, initialState(chain, start, rules), rules)).toBe(1);
    }
  });

  test('a dead end leaves one action, staying', () => {
    const rules = { horizon: 3, equalAtStep1: false };
    let state = initialState(chain, 0, rules);
    state = applyAction(chain, applyAction(chain, state, 0, rules), 0, rules);
    expect(state.done).toBe(false);
    expect(numActions(chain, state, rules)).toBe(1);
    expect(actionTriple(chain, state, 0)).toEqual([2, chain.equalRelation, 2]);
  });

  test('actionOf refuses edges of other heads, unknown edges and stays that are not legal', () => {
    const state = initialState(chain, 0, defaultWalkRules);
    expect(actionOf(chain, state, [0, 0, 1], defaultWalkRules)).toBe(0);
    expect(actionOf(chain, state, [1, 1, 2], defaultWalkRules)).toBe(-1);
    expect(actionOf(chain, state, [0, 1, 1], defaultWalkRules)).toBe(-1);
    expect(actionOf(chain, state, [0, chain.equalRelation, 0], defaultWalkRules)).toBe(-1);
  });
});

/** Graphs of 1 to 12 entities with isolated nodes, self loops and parallel relations. */
const anyGraph = fc
  .record({
    entities: fc.integer({ min: 1, max: 12 }),
    relations: fc.integer({ min: 1, max: 4 }),
    edges: fc.array(fc.tuple(fc.nat(11), fc.nat(3), fc.nat(11)), { maxLength: 40 }),
  })
  .map(({ entities, relations, edges }) => {
    const column = (at: number, n: number) => Int32Array.from(edges, (edge) => edge[at]! % n);
    return new Graph(
      'any',
      Array.from({ length: entities }, (_, i) => `e${i}`),
      Array.from({ length: relations }, (_, i) => `r${i}`),
      { heads: column(0, entities), relations: column(1, relations), tails: column(2, entities) },
    );
  });
const anyRules = fc.record({ horizon: fc.integer({ min: 1, max: 3 }), equalAtStep1: fc.boolean() });

/** All finished walks from a state, by the definition of the action set and not by the code under test. */
function enumerate(graph: Graph, state: WalkState, rules: WalkRules): string[] {
  const found: string[] = [];
  const visit = (current: number, hop: number, path: string[], stayed: boolean) => {
    const steps: [number, number][] = [];
    for (let edge = 0; edge < graph.numEdges; edge++) {
      const inside = edge >= graph.offsets[current]! && edge < graph.offsets[current + 1]!;
      if (inside) steps.push([graph.relations[edge]!, graph.tails[edge]!]);
    }
    if (hop >= 1 || rules.equalAtStep1) steps.push([graph.equalRelation, current]);
    if (hop === rules.horizon || stayed || steps.length === 0) {
      if (hop > 0) found.push(path.join(';'));
      return;
    }
    for (const [relation, tail] of steps) {
      visit(tail, hop + 1, [...path, `${current},${relation},${tail}`], relation === graph.equalRelation);
    }
  };
  visit(state.start, 0, [], false);
  return found.sort();
}

/** A full-width beam over the rules, with made-up logits. */
function beam(graph: Graph, start: WalkState, rules: WalkRules): WalkState[] {
  let live = [start];
  const finished: WalkState[] = [];
  while (live.length > 0) {
    const next: WalkState[] = [];
    for (const state of live) {
      for (let action = 0; action < numActions(graph, state, rules); action++) {
        const after = applyAction(graph, state, action, rules);
        (after.done ? finished : next).push(after);
      }
    }
    live = next;
  }
  return finished;
}

describe('legal actions on any graph', () => {
  test('beam finds exactly the legal walks, and actionOf inverts actionTriple', () => {
    checkProperty(
      fc.property(anyGraph, anyRules, fc.nat(11), (graph, rules, pick) => {
        const state = initialState(graph, pick % graph.numEntities, rules);
        const walks = beam(graph, state, rules);
        expect(walks.map((walk) => pathKey(walk.path)).sort()).toEqual(enumerate(graph, state, rules));
        for (let action = 0; action < numActions(graph, state, rules); action++) {
          expect(actionOf(graph, state, actionTriple(graph, state, action), rules)).toBe(action);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('B-ARK-7: step, greedy and beam see the same actions, and step refuses every other', () => {
    checkProperty(
      fc.property(anyGraph, anyRules, fc.nat(11), (graph, rules, pick) => {
        const start = pick % graph.numEntities;
        const state = initialState(graph, start, rules);
        fc.pre(!state.done);
        const env = makeEnv('kgwalk/OpenDialKG-v1', { graph, samples: [{ task: taskAt(start), gold }], rules });
        for (const walk of beam(graph, state, rules)) {
          let { observation } = env.reset({ options: { sample: 0 } });
          let at = state;
          for (const triple of walk.path) {
            const legal = numActions(graph, at, rules);
            expect(observation.actionMask).toEqual(new Uint8Array(legal).fill(1));
            expect(observation.tails.length).toBe(graph.degree(at.current));
            expect(() => env.step(legal)).toThrow(/got action/);
            const action = actionOf(graph, at, triple, rules);
            at = applyAction(graph, at, action, rules);
            const result = env.step(action);
            observation = result.observation;
            expect([observation.current, observation.hop, result.terminated]).toEqual([at.current, at.hop, at.done]);
          }
          expect(pathKey(observation.path)).toBe(pathKey(walk.path));
        }
        const logits = Float32Array.from({ length: numActions(graph, state, rules) }, (_, i) => Math.sin(7 * i));
        const logProbs = segmentLogSoftmax(logits, Int32Array.of(0, logits.length));
        env.reset({ options: { sample: 0 } });
        const greedy = argmaxSegment(logProbs, 0, logits.length);
        expect(env.step(greedy).observation.path).toEqual([actionTriple(graph, state, greedy)]);
      }),
      { numRuns: 40 },
    );
  });
});

const gold = { path: [], target: unknownId, inGraph: false };
function taskAt(start: number) {
  return { ...toyTwoHop().samples[0]!.task, start, startName: `e${start}` };
}

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
