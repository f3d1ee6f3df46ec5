import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  answerMetrics,
  findTokens,
  matchAnswers,
  type NamedEntity,
  truthAccuracy,
  unionMetrics,
} from '../../../src/metrics/answers.js';
import { checkProperty } from '../../fixtures/property.js';

const hanks: NamedEntity = { name: 'Tom Hanks', entity: 3, aliases: ['Thomas Hanks'] };
const ryan: NamedEntity = { name: 'Meg Ryan', entity: 4 };
const year: NamedEntity = { name: '1,998', entity: -1 };
const topic: NamedEntity = { name: 'Alien 3', entity: 9 };
const match = (
  said: { entities?: number[]; literals?: string[]; text?: string },
  golds: NamedEntity[] = [hanks, ryan],
  topics: NamedEntity[] = [topic],
) => matchAnswers({ entities: [], literals: [], ...said }, { golds, topics });

describe('strict matching', () => {
  test('compares entities by id and literals by normalised name or alias', () => {
    expect(match({ entities: [4, 7] })).toEqual({ items: [[1], []], strict: [1], lenient: [1] });
    expect(match({ literals: ['  tom HANKS. ', 'The Meg Ryan', 'someone'] })).toMatchObject({
      items: [[0], [1], []],
      strict: [0, 1],
    });
    expect(match({ literals: ['thomas hanks'] }).strict).toEqual([0]);
    expect(match({ literals: ['1998'] }, [year]).strict).toEqual([]);
    expect(match({ literals: ['1,998'] }, [year]).strict).toEqual([0]);
  });

  test('an id is never matched by its name, so another entity of that name is wrong', () => {
    const other: NamedEntity = { name: 'Tom Hanks', entity: 77 };
    expect(match({ entities: [3] }, [other]).strict).toEqual([]);
    expect(match({ literals: ['Tom Hanks'] }, [other, hanks]).items).toEqual([[0, 1]]);
  });

  test('counts one answer that was given twice once, as id and as name', () => {
    const lookup = (name: string) => (name === 'tom hanks' ? [3] : []);
    const said = { entities: [3, 3], literals: ['tom hanks', 'x y', 'X  y!'] };
    expect(matchAnswers(said, { golds: [hanks], topics: [], lookup }).items).toEqual([[0], []]);
  });

  test('golds are ascending, independent of prediction order, and an empty name matches nothing', () => {
    expect(match({ entities: [4, 3] })).toMatchObject({ items: [[1], [0]], strict: [0, 1], lenient: [0, 1] });
    const nameless: NamedEntity = { name: '', entity: 6 };
    expect(match({ literals: ['', ' '], text: 'a reply' }, [nameless])).toMatchObject({ items: [], lenient: [] });
  });

  test('a topic is gold where ids are equal, or names where either has no id; one gold of several is enough', () => {
    const said = { literals: ['Alien 3'], text: 'Alien 3' };
    const golds = [hanks, topic];
    expect(match(said, golds)).toMatchObject({ items: [[1]], lenient: [1] });
    const named = (name: string, entity: number): NamedEntity => ({ name, entity });
    const [unknown, first] = [named('Alien 3', -1), named('Alien 3', 0)];
    for (const [gold, about] of [
      [unknown, topic],
      [topic, named('alien 3', -1)],
      [first, first],
    ] as const) {
      expect(match(said, [gold], [about])).toEqual({ items: [[0]], strict: [0], lenient: [0] });
    }
    // Equal names do not merge two ids (0 is an id), nor two names without an id.
    for (const [gold, about] of [
      [first, topic],
      [topic, first],
      [named('Aliens', -1), unknown],
    ] as const) {
      expect(match(said, [gold], [about])).toEqual({ items: [[]], strict: [], lenient: [] });
    }
  });
});

describe('lenient matching', () => {
  test('B-TOG-7: an empty reply, a part of a gold and a bare "Yes" are no answers', () => {
    for (const text of ['', ' ', '{}', 'Yes', 'Tom', 'Hanks', 'T', 'anks, Meg Rya']) {
      expect(match({ literals: text.trim() ? [text] : [], text })).toMatchObject({ strict: [], lenient: [] });
    }
    const m: NamedEntity = { name: 'M', entity: 5 };
    expect(match({ text: 'm' }, [m]).lenient).toEqual([]);
    expect(match({ text: ' m ' }, [m]).lenient).toEqual([]);
    expect(match({ text: 'M.' }, [m]).lenient).toEqual([0]);
    expect(match({ text: 'It is M, by Lang' }, [m]).lenient).toEqual([0]);
  });

  test('B-FISKE-12: finds every gold that stands in the reply at word boundaries', () => {
    expect(match({ text: 'They are Tom Hanks and “Meg Ryan”.' })).toMatchObject({ strict: [], lenient: [0, 1] });
    expect(match({ text: 'Tom Hankson and Meg  Ryanair' }).lenient).toEqual([]);
    expect(match({ entities: [3], text: 'only Meg Ryan' }).lenient).toEqual([0, 1]);
  });

  test('a gold inside the name of the topic is the topic, elsewhere it counts', () => {
    const alien: NamedEntity = { name: 'Alien', entity: 2 };
    expect(match({ text: 'Alien 3 is a film' }, [alien]).lenient).toEqual([]);
    expect(match({ text: 'Alien 3 came after Alien' }, [alien]).lenient).toEqual([0]);
  });

  test('scripts without spaces have a word a character', () => {
    const golds = [
      { name: '清华大学', entity: 1 },
      { name: '北京', entity: 2 },
    ];
    expect(match({ text: '答案是清华大学。' }, golds).lenient).toEqual([0]);
  });

  test('keeps all strict matches for any reply', () => {
    const words = fc.array(fc.constantFrom('Tom', 'Hanks', 'Meg', 'Ryan', 'Alien', '3', '.', 'the'), { maxLength: 8 });
    checkProperty(
      fc.property(words, fc.array(fc.integer({ min: 0, max: 6 })), fc.array(words), (text, entities, names) => {
        const literals = names.map((name) => name.join(' '));
        const { items, strict, lenient } = match({ entities, literals, text: text.join(' ') });
        expect(lenient).toEqual(expect.arrayContaining(strict));
        expect(items.length).toBeLessThanOrEqual(entities.length + literals.length);
      }),
    );
  });
});

test('token positions: all whole occurrences, none past the end', () => {
  expect(findTokens(['a', 'b', 'a', 'b'], ['a', 'b'])).toEqual([
    [0, 2],
    [2, 4],
  ]);
  expect(findTokens(['a', 'b'], ['b', 'c'])).toEqual([]);
  expect(findTokens(['a', 'b'], [])).toEqual([]);
});

describe('figures of a question', () => {
  test('are counted by hand: three of five items right, three of four golds', () => {
    const matches = { items: [[0], [], [1], [3], []], strict: [0, 1, 3], lenient: [0, 1, 2, 3] };
    expect(answerMetrics(matches, 4)).toEqual({
      'hit@1': 1,
      'hit-any': 1,
      precision: 0.6,
      recall: 0.75,
      f1: (2 * 0.6 * 0.75) / 1.35,
      exact: 0,
      partial: 1,
      complete: 1,
    });
  });

  test('B-MHK-1: a hit at rank one counts, and only there is it hit@1', () => {
    const first = answerMetrics({ items: [[0], []], strict: [0], lenient: [0] }, 1);
    expect(first).toMatchObject({ 'hit@1': 1, 'hit-any': 1 });
    const second = answerMetrics({ items: [[], [0]], strict: [0], lenient: [0] }, 1);
    expect(second).toMatchObject({ 'hit@1': 0, 'hit-any': 1 });
  });

  test('B-NSM-1: saying nothing has precision, recall and F1 of 0, and a question without golds has no figures', () => {
    const nothing = answerMetrics({ items: [], strict: [], lenient: [] }, 2);
    expect(new Set(Object.values(nothing))).toEqual(new Set([0]));
    expect(() => answerMetrics({ items: [], strict: [], lenient: [] }, 0)).toThrow(RangeError);
  });

  test('B-RoG-1: every figure stays in [0, 1], also where one name is several golds', () => {
    const names = ['Heat', 'heat', 'Ali', 'Thief', 'unknown'];
    const golds = fc.uniqueArray(fc.nat(4), { minLength: 1 });
    checkProperty(
      fc.property(golds, fc.array(fc.nat(5)), fc.array(fc.constantFrom(...names)), (ids, entities, literals) => {
        const context = { golds: ids.map((entity) => ({ name: names[entity]!, entity })), topics: [] };
        const text = literals.join(', ');
        const metrics = answerMetrics(matchAnswers({ entities, literals, text }, context), ids.length);
        for (const value of Object.values(metrics)) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        expect(metrics.exact).toBe(Number(metrics.f1 === 1));
      }),
    );
  });

  test('X + IO is the union of the golds that either matched', () => {
    expect(unionMetrics([0], [1], 2)).toEqual({ partial: 1, complete: 1 });
    expect(unionMetrics([0], [0], 2)).toEqual({ partial: 1, complete: 0 });
    expect(unionMetrics([], [], 2)).toEqual({ partial: 0, complete: 0 });
  });

  test('an unanswered truth question is wrong for either truth', () => {
    expect([truthAccuracy(undefined, false), truthAccuracy(false, false), truthAccuracy(true, false)]).toEqual([
      0, 1, 0,
    ]);
  });
});
