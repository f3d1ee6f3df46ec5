import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  collectProvenance,
  keepProvenance,
  madeFrom,
  madeFromTexts,
  ProvenanceNotes,
  readProvenance,
  resumeProvenance,
  sampleSet,
  packIds,
  unpackIds,
} from '../../../src/run/provenance.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { checkProperty } from '../../fixtures/property.js';

/** Notes a table of these ids, each with itself for content. */
function table(name: string, ...ids: string[]): void {
  const note = madeFrom('frequency table', name, { rows: 1 });
  for (const id of ids) note(id, id);
}

const noted = (body: () => void) => {
  const notes = new ProvenanceNotes();
  collectProvenance(notes, body);
  return notes.record();
};

describe('notes', () => {
  test('record what each artifact was made from; artifacts of the same samples share a set', () => {
    const record = noted(() => {
      table('two', 'a1', 'a2', 'a1');
      table('one', 'a2', 'a1');
      table('empty');
      madeFromTexts('few-shot example', 'clues', ['b', 'a', 'b']);
    });
    const set = sampleSet(new Map([['a1', 'a1'], ['a2', 'a2']])); // prettier-ignore
    const name = `2-${set.digest.slice(0, 12)}`;
    expect(record.sets).toEqual({ [name]: { ...set, count: 2, ids: { a: '1-2' } } });
    expect(record.artifacts).toEqual([
      { kind: 'few-shot example', name: 'clues', texts: ['a', 'b'] },
      { kind: 'frequency table', name: 'empty', facts: { rows: 1 } },
      { kind: 'frequency table', name: 'one', samples: name, facts: { rows: 1 } },
      { kind: 'frequency table', name: 'two', samples: name, facts: { rows: 1 } },
    ]);
  });

  test('of two runs at once do not mix, and outside of any nothing is noted', async () => {
    const later = new ProvenanceNotes();
    table('unused', 'x1');
    await Promise.all([
      collectProvenance(later, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        table('mine', 'a1');
      }),
      collectProvenance(new ProvenanceNotes(), async () => {
        table('other', 'b1');
        await Promise.resolve();
      }),
    ]);
    expect(later.record().artifacts.map(({ name }) => name)).toEqual(['mine']);
  });

  test('keep a second content under one id apart, so that the set is not that of the data set', () => {
    const twice = noted(() => {
      const note = madeFrom('training', 'cloning');
      note('a1', 'said');
      note('a1', 'said otherwise');
    });
    expect(Object.values(twice.sets)[0]).toMatchObject({ count: 2, ids: { a: '1', 'a1 (other)': '' } });
  });

  test('of a resumed run are those of the whole, in the same bytes', () => {
    const folder = folderWith({});
    const [whole, parts] = [join(folder, 'whole.json'), join(folder, 'parts.json')];
    const session = (file: string, body: () => void) =>
      collectProvenance(new ProvenanceNotes(), () => {
        resumeProvenance(file);
        body();
        keepProvenance(file);
      });
    session(whole, () => {
      table('first', 'a1', 'a2');
      table('second', 'a1');
    });
    session(parts, () => table('first', 'a1', 'a2'));
    session(parts, () => table('second', 'a1'));
    session(parts, () => table('first', 'a2', 'a1'));
    expect(readFileSync(parts, 'utf8')).toBe(readFileSync(whole, 'utf8'));
    session(parts, () => table('first', 'a3'));
    expect(readProvenance(parts)!.artifacts.map(({ name }) => name)).toEqual(['first', 'first', 'second']);
  });

  test('that are damaged are refused; where there are none, nothing is known', () => {
    const file = join(folderWith({}), 'provenance.json');
    expect(readProvenance(file)).toBeUndefined();
    const unknownKind = '{"schemaVersion":1,"sets":{},"artifacts":[{"kind":"?"}]}';
    for (const text of ['{', '[]', '{"schemaVersion": 2}', unknownKind]) {
      writeFileSync(file, text);
      expect(() => readProvenance(file)).toThrow(`at ${file}`);
    }
  });
});

describe('packed ids', () => {
  test('are ranges of the number at the end, by what stands before it', () => {
    const ids = ['train-17#3', 'train-17#1', 'train-17#2', 'train-17#9', 'train-2#10', 'odd', 'odd0', 'a007'];
    expect(packIds(ids)).toEqual({ odd: ',0', 'train-17#': '1-3,9', 'train-2#': '10', a00: '7' });
  });

  test('come back, for any ids', () => {
    const id = fc.oneof(fc.string(), fc.constantFrom('__proto__', '__proto__1', '7', '', 'a1', 'a2', 'a03', 'a\n4'));
    checkProperty(
      fc.property(fc.uniqueArray(id), (ids) => {
        const packed = JSON.parse(JSON.stringify(packIds(ids))) as Record<string, string>;
        expect(unpackIds(packed, ids.length, 'here').sort()).toEqual([...ids].sort());
      }),
    );
  });

  test('that say more than their count are not followed', () => {
    for (const ranges of ['1-999999999999999', '1-4', '3-1,1', 'x', '1--2']) {
      expect(() => unpackIds({ a: ranges }, 3, 'here')).toThrow(/expected the ids of 3 samples, got .*, at here/);
    }
  });
});
