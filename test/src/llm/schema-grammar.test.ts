import { describe, expect, test } from '@jest/globals';
import { schemaGrammar } from '../../../src/llm/llama/schema-grammar.js';
import { openLlama } from '../../../src/llm/llama-library.js';

/** Whether the grammar of a schema accepts a whole text, as llama.cpp itself sees it. */
async function accepts(schema: Record<string, unknown>, text: string): Promise<boolean> {
  const grammar = await (await openLlama('off')).createGrammar({ grammar: schemaGrammar(schema) });
  return (grammar as unknown as { _testText(text: string): boolean })._testText(text);
}

const choice = {
  type: 'object',
  properties: { reason: { type: 'string', maxLength: 5 }, choice: { enum: ['directed by', 'a "b" \\ c', 'né', null] } },
  required: ['reason', 'choice'],
  additionalProperties: false,
};

describe('the grammar of a schema', () => {
  test('names of an enum, whatever stands in them, and no other', async () => {
    for (const name of ['directed by', 'a "b" \\ c', 'né', null]) {
      expect(await accepts(choice, JSON.stringify({ reason: '', choice: name }))).toBe(true);
    }
    expect(await accepts(choice, '{"reason":"","choice":"directed"}')).toBe(false);
    expect(await accepts(choice, '{"reason":"","choice":"directed by "}')).toBe(false);
  });

  test('every property, in order, and nothing around the object', async () => {
    expect(await accepts(choice, '{"reason": "ok", "choice": null}')).toBe(true);
    expect(await accepts(choice, '{"choice":null,"reason":"ok"}')).toBe(false);
    expect(await accepts(choice, '{"reason":"ok"}')).toBe(false);
    expect(await accepts(choice, '{"reason":"ok","choice":null,"more":1}')).toBe(false);
    expect(await accepts(choice, '{"reason":"ok","choice":null}\n')).toBe(false);
  });

  test('the length of a string, its escapes, and no raw line feed', async () => {
    expect(await accepts(choice, '{"reason":"a\\nb\\"c","choice":null}')).toBe(true);
    expect(await accepts(choice, '{"reason":"abcdef","choice":null}')).toBe(false);
    expect(await accepts(choice, '{"reason":"a\nb","choice":null}')).toBe(false);
  });

  test.each([
    [{ minItems: 1, maxItems: 3 }, [1, 2, 3]],
    [{ maxItems: 2 }, [0, 1, 2]],
    [{ minItems: 2 }, [2, 3, 4]],
    [{ minItems: 2, maxItems: 2 }, [2]],
    [{ maxItems: 0 }, [0]],
  ])('an array with %j has as many items as that', async (bounds, lengths) => {
    const schema = { type: 'array', items: { enum: [7, 8] }, ...bounds };
    const taken = [0, 1, 2, 3, 4].map((length) => accepts(schema, JSON.stringify(Array(length).fill(7))));
    expect(await Promise.all(taken)).toEqual([0, 1, 2, 3, 4].map((length) => lengths.includes(length)));
  });

  test('an integer range is kept, by its ends or by an enum', async () => {
    for (const schema of [
      { type: 'integer', minimum: 0, maximum: 10 },
      { enum: Array.from({ length: 11 }, (_, i) => i) },
    ]) {
      const taken = ['0', '5', '10', '11', '-1', '05', '1.5', '100'].map((text) => accepts(schema, text));
      expect(await Promise.all(taken)).toEqual([true, true, true, false, false, false, false, false]);
    }
  });

  test('constants, alternatives and several types', async () => {
    const schema = { anyOf: [{ const: 'x' }, { type: ['boolean', 'null'] }, { type: 'object', properties: {} }] };
    const taken = ['"x"', 'true', 'null', '{}', '"y"', '1'].map((text) => accepts(schema, text));
    expect(await Promise.all(taken)).toEqual([true, true, true, true, false, false]);
  });

  test.each([
    { type: 'string', pattern: '^a' },
    { type: 'integer', minimum: 0 },
    { type: 'integer', minimum: 0, maximum: 100_000 },
    { type: 'object', properties: {}, additionalProperties: true },
    { type: 'array', items: { type: 'array', items: {} } },
    { enum: [] },
    {},
  ])('%j cannot be kept and is refused, not loosened', (schema) => {
    expect(() => schemaGrammar(schema)).toThrow();
  });
});
