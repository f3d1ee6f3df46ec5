import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bucketOf, drawOfTypes, findSplit, splitsOf } from '../../../datasets/questions/question-manifest.js';

function release(...files: string[]) {
  const counts = { questions: 1, dropped: {}, topicsNotInGraph: 0, answersNotInGraph: 0 };
  return {
    name: 'toy',
    subsets: { all: { graph: 'kb', files: Object.fromEntries(files.map((file) => [file, counts])) } },
    heldTypes: [] as string[],
  };
}

const namesOf = (...files: string[]) =>
  splitsOf(release(...files)).flatMap(({ name, holdOut }) => (holdOut === 'question' ? [name] : []));

describe('splits of questions', () => {
  test('a bucket is the first eight hexadecimal digits of the sha256, modulo 10', () => {
    for (const key of ['2-1987', 'T|who directed [E]', '']) {
      const digits = createHash('sha256').update(key).digest('hex').slice(0, 8);
      expect(bucketOf(key)).toBe(parseInt(digits, 16) % 10);
    }
  });

  test('a release with train and a validation file keeps its files; elsewhere the first one is partitioned', () => {
    expect(namesOf('test', 'train', 'dev')).toEqual(['train', 'dev', 'test']);
    expect(namesOf('dev')).toEqual(['dev-train', 'dev-valid', 'dev-test']);
    expect(namesOf('test', 'dev')).toEqual(['dev-train', 'dev-valid', 'dev-test', 'test']);
    expect(namesOf('train')).toEqual(['train-train', 'train-valid', 'train-test']);
    expect(namesOf('all')).toEqual(['train', 'valid', 'test']);
    expect(namesOf('valid', 'more', 'extra', 'train')).toEqual(['train', 'valid', 'extra', 'more']);
  });

  test('with an official test file the test of a partition is an additional split', () => {
    const roleOf = (name: string, ...files: string[]) =>
      splitsOf(release(...files)).find((one) => one.name === name)!.role;
    expect(roleOf('dev-test', 'dev', 'test')).toBeUndefined();
    expect(roleOf('test', 'dev', 'test')).toBe('test');
    expect(roleOf('dev-test', 'dev')).toBe('test');
    expect(roleOf('dev-valid', 'dev', 'test')).toBe('valid');
  });

  test('a role finds its split: the validation split by default, the official test file before a partition', () => {
    expect(findSplit(release('train', 'dev', 'test')).name).toBe('dev');
    expect(findSplit(release('dev')).name).toBe('dev-valid');
    expect(findSplit(release('all')).name).toBe('valid');
    expect(findSplit(release('dev', 'test'), 'test').name).toBe('test');
    expect(findSplit(release('dev', 'test'), 'train').name).toBe('dev-train');
    expect(findSplit(release('dev'), 'test', 'template').name).toBe('template-test');
    expect(findSplit(release('dev'), 'template-test').name).toBe('template-test');
  });

  test('types are held out only where the data set says which', () => {
    expect(() => findSplit(release('dev'), 'test', 'type')).toThrow('expected a split of toy (none held out by type)');
    const { has } = findSplit({ ...release('dev'), heldTypes: ['a_to_b'] }, 'test', 'type');
    const question = { id: 'x', question: 'q', topics: [], answers: [] };
    expect(has({ ...question, type: 'a_to_b' }, 'dev')).toBe(true);
    expect(has({ ...question, type: 'b_to_a' }, 'dev')).toBe(false);
  });

  test('a draw of types replaces those of the data set, under a separate name', () => {
    const drawn = { draw: 3, types: ['b_to_a'] };
    const manifest = { ...release('dev'), heldTypes: ['a_to_b'] };
    for (const { name, has } of [
      findSplit(manifest, 'test', 'type:3', drawn),
      findSplit(manifest, 'type:3-test', undefined, drawn),
    ]) {
      expect(name).toBe('type:3-test');
      const question = { id: 'x', question: 'q', topics: [], answers: [] };
      expect([{ type: 'a_to_b' }, { type: 'b_to_a' }].map((one) => has({ ...question, ...one }, 'dev'))).toEqual([
        false,
        true,
      ]);
    }
    expect(['type:3', 'type:12-train', 'type', 'type:-1', 'type:x', undefined].map((one) => drawOfTypes(one))).toEqual([
      3,
      12,
      ...Array<undefined>(4),
    ]);
  });

  test('buckets 0 to 7 are train, 8 valid, 9 test; of templates 0 to 6, 7, 8 and 9; next to held types 8 is valid', () => {
    const keyOf = (bucket: number, prefix = '') => {
      for (let i = 0; ; i++) if (bucketOf(`${prefix}${i}`) === bucket) return String(i);
    };
    const splits = splitsOf({ ...release('dev'), heldTypes: ['held'] });
    const rolesOf = (kind: string, ask: (bucket: number) => { id?: string; group?: string; question?: string }) =>
      Array.from({ length: 10 }, (_, bucket) => {
        const question = { id: 'x', question: 'q', type: 'other', topics: [], answers: [], ...ask(bucket) };
        return splits.find(({ holdOut, has }) => holdOut === kind && has(question, 'dev'))!.role;
      });
    const times = (train: number, valid: number, test: number) =>
      [train, valid, test].flatMap((count, i) => Array<string>(count).fill(['train', 'valid', 'test'][i]!));
    expect(rolesOf('question', (bucket) => ({ id: keyOf(bucket) }))).toEqual(times(8, 1, 1));
    expect(rolesOf('question', (bucket) => ({ group: keyOf(bucket) }))).toEqual(times(8, 1, 1));
    expect(rolesOf('template', (bucket) => ({ question: keyOf(bucket, 'T|') }))).toEqual(times(7, 1, 2));
    const byType = rolesOf('type', (bucket) => ({ id: keyOf(bucket) }));
    expect(byType).toEqual([...times(8, 1, 0), 'train']);
  });

  test('every question is in exactly one split of each kind; a group and a template are never torn apart', () => {
    const splits = splitsOf({ ...release('dev'), heldTypes: ['held'] });
    const stored = fc.record({
      id: fc.string(),
      question: fc.string(),
      type: fc.constantFrom('held', 'other'),
      group: fc.option(fc.constantFrom('g', 'h'), { nil: undefined }),
    });
    fc.assert(
      fc.property(stored, stored, (a, b) => {
        const of = (question: typeof a, kind: string) =>
          splits
            .filter(({ holdOut, has }) => holdOut === kind && has({ ...question, topics: [], answers: [] }, 'dev'))
            .map(({ name }) => name);
        for (const kind of ['question', 'template', 'type']) expect(of(a, kind)).toHaveLength(1);
        if (a.group !== undefined && a.group === b.group) expect(of(a, 'question')).toEqual(of(b, 'question'));
        expect(of({ ...b, question: a.question }, 'template')).toEqual(of(a, 'template'));
      }),
      { numRuns: 60 },
    );
  });
});
