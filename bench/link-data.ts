/** A folder of triples, with the ids and the subset of test that the Python peers use. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TripleColumns } from '../src/kg/graph.js';

/** Train, valid and test of a folder, in ids of first appearance. */
export interface LinkData {
  name: string;
  numEntities: number;
  numRelations: number;
  train: TripleColumns;
  valid: TripleColumns;
  test: TripleColumns;
}

/** @param folder holds train.txt, valid.txt and test.txt, lines of `head TAB relation TAB tail` */
export function readLinkData(folder: string): LinkData {
  const entities = new Map<string, number>();
  const relations = new Map<string, number>();
  const idOf = (ids: Map<string, number>, name: string) => {
    if (!ids.has(name)) ids.set(name, ids.size);
    return ids.get(name)!;
  };
  const read = (part: string): TripleColumns => {
    const lines = readFileSync(join(folder, `${part}.txt`), 'utf8')
      .split(/\r?\n/)
      .filter(Boolean);
    const [heads, byRelation, tails] = [0, 1, 2].map(() => new Int32Array(lines.length)) as Int32Array[];
    lines.forEach((line, i) => {
      const [head, relation, tail] = line.split('\t') as [string, string, string];
      heads![i] = idOf(entities, head);
      byRelation![i] = idOf(relations, relation);
      tails![i] = idOf(entities, tail);
    });
    return { heads: heads!, relations: byRelation!, tails: tails! };
  };
  const [train, valid, test] = [read('train'), read('valid'), read('test')];
  return { name: basename(folder), numEntities: entities.size, numRelations: relations.size, train, valid, test };
}

/** Lines 0, s, 2s, … of test, s = ⌊n / 2000⌋, at most 2,000; all of a small test. */
export function testSubset({ test }: LinkData): TripleColumns {
  const stride = Math.max(1, Math.floor(test.heads.length / 2000));
  const pick = (column: Int32Array) => column.filter((_, i) => i % stride === 0).slice(0, 2000);
  return { heads: pick(test.heads), relations: pick(test.relations), tails: pick(test.tails) };
}
