/** A folder of triples, with the ids and the subset of test that the Python peers use. */
import { basename } from 'node:path';
import { type LinkData as LinkGraph, readLinkData as readLinkGraph } from '../datasets/links/read-splits.js';
import type { TripleColumns } from '../src/kg/graph.js';

/** Train, valid and test of a folder, in ids of first appearance. */
export interface LinkData extends Pick<LinkGraph, 'train' | 'valid' | 'test'> {
  name: string;
  numEntities: number;
  /** Without inverses. */
  numRelations: number;
}

/**
 * @param folder holds train.txt, valid.txt and test.txt, lines of `head TAB relation TAB tail`
 * @throws WorkbenchError `data`
 */
export async function readLinkData(folder: string): Promise<LinkData> {
  const name = basename(folder);
  const { graph, train, valid, test } = await readLinkGraph(folder, name);
  return { name, numEntities: graph.numEntities, numRelations: graph.numRelations / 2, train, valid, test };
}

/** Lines 0, s, 2s, … of test, s = ⌊n / 2000⌋, at most 2,000; all of a small test. */
export function testSubset({ test }: LinkData): TripleColumns {
  const stride = Math.max(1, Math.floor(test.heads.length / 2000));
  const pick = (column: Int32Array) => column.filter((_, i) => i % stride === 0).slice(0, 2000);
  return { heads: pick(test.heads), relations: pick(test.relations), tails: pick(test.tails) };
}
