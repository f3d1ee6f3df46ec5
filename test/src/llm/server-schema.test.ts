import { describe, expect, test } from '@jest/globals';
import { withinLimits } from '../../../src/llm/server-model.js';

describe('the schema that is sent', () => {
  const names = (count: number, length = 5) => Array.from({ length: count }, (_, i) => String(i).padStart(length, 'x'));
  const one = (values: readonly unknown[]) => ({
    type: 'object',
    properties: { choice: { type: 'string', enum: values } },
  });

  test('a schema within the limits goes as it is', () => {
    for (const values of [['a', 'b'], names(250, 300), names(1000)]) {
      const schema = one(values);
      expect(withinLimits(schema)).toEqual({ schema, whole: true });
    }
  });

  test.each([
    ['too many values', names(1001)],
    ['too many numbers', names(1001).map((_, i) => i)],
    ['too many characters', names(251, 60)],
  ])('an enumeration of %s is left out, and the rest stays', (_, values) => {
    expect(withinLimits(one(values))).toEqual({
      schema: { type: 'object', properties: { choice: { type: 'string' } } },
      whole: false,
    });
  });

  test('of several that are too many together the longest are left out', () => {
    const list = (values: readonly string[]) => ({ type: 'array', items: { type: 'string', enum: values } });
    const schema = { properties: { candidate: list(names(700)), target: list(names(400)) } };
    expect(withinLimits(schema)).toEqual({
      schema: { properties: { candidate: { type: 'array', items: { type: 'string' } }, target: list(names(400)) } },
      whole: false,
    });
  });
});
