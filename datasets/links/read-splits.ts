/** Train, valid and test of link data, as read or as drawn, checked against each other. */
import { basename, dirname } from 'node:path';
import type { TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { drawSplits } from './draw-splits.js';
import type { LinkFiles } from './link-files.js';
import type { LinkManifest } from './link-manifest.js';
import type { LinkReader, ReadTriples } from './link-reader.js';
import type { TripleSet } from './triple-set.js';

/** All splits, and how many triples each two share. */
export interface ReadSplits {
  train: ReadTriples;
  valid: ReadTriples;
  test: ReadTriples;
  overlaps: LinkManifest['overlaps'];
}

/**
 * Reads the files in the order train, valid, test, by which entities and relations are numbered.
 * @throws WorkbenchError `data` as `LinkReader.read`; for a split without triples, a training graph of fewer than two entities, and
 *   triples that stand in two splits, unless that is allowed
 */
export async function readSplits(reader: LinkReader, files: LinkFiles, allowOverlap: boolean): Promise<ReadSplits> {
  const train = await reader.read(files.train);
  if (train.triples.size === 0 || reader.entities.size < 2) throw tooSmall(reader, files.train);
  if (files.valid === undefined || files.test === undefined) return drawnFrom(train, files.train);
  const valid = await reader.read(files.valid);
  const test = await reader.read(files.test);
  if (valid.triples.size === 0) throw empty(files.valid);
  if (test.triples.size === 0) throw empty(files.test);
  const shared = (a: [ReadTriples, string], b: [ReadTriples, string]) => {
    const { count, example } = sharedTriples(a[0].triples, b[0].triples.columns());
    if (count > 0 && !allowOverlap) throw overlapping(reader, [a[1], b[1]], count, example);
    return count;
  };
  const overlaps = {
    trainValid: shared([train, files.train], [valid, files.valid]),
    trainTest: shared([train, files.train], [test, files.test]),
    validTest: shared([valid, files.valid], [test, files.test]),
  };
  return { train, valid, test, overlaps };
}

function drawnFrom(read: ReadTriples, file: string): ReadSplits {
  const { train, valid, test } = drawSplits(read.triples.columns());
  if (Math.min(valid.size, test.size) === 0) {
    const told = `expected triples of which some can be spared for valid and test, got ${read.triples.size} in which`;
    throw new WorkbenchError('data', `${told} each is the last of its head, relation or tail, at ${file}`, {
      hint: 'Give train, valid and test as files of their own.',
    });
  }
  const split = (triples: TripleSet) => ({ triples, duplicates: 0, inverseLines: 0 });
  return {
    train: { ...read, triples: train },
    valid: split(valid),
    test: split(test),
    overlaps: { trainValid: 0, trainTest: 0, validTest: 0 },
  };
}

type Triple = readonly [head: number, relation: number, tail: number];

function sharedTriples(a: TripleSet, { heads, relations, tails }: TripleColumns): { count: number; example: Triple } {
  let count = 0;
  let example: Triple = [0, 0, 0];
  for (let i = 0; i < heads.length; i++) {
    const triple = [heads[i]!, relations[i]!, tails[i]!] as const;
    if (a.has(...triple) && count++ === 0) example = triple;
  }
  return { count, example };
}

function overlapping(
  { entities, relations }: LinkReader,
  [first, second]: readonly [string, string],
  count: number,
  [head, relation, tail]: Triple,
): WorkbenchError {
  const names = [entities.name(head), relations.name(relation), entities.name(tail)];
  const example = printable(names.join(' '), 200);
  const both = `${count} in both ${basename(first)} and ${basename(second)}, such as ${example}`;
  return new WorkbenchError('data', `expected each triple in one split, got ${both}, at ${dirname(second)}`, {
    hint: 'What is asked for in valid and test must not be in train. Remove them from one file, or keep and count them: --allow-overlap.',
  });
}

function tooSmall({ entities }: LinkReader, file: string): WorkbenchError {
  if (entities.size === 0) return empty(file);
  const got = `expected at least two entities, got "${printable(entities.name(0)!, 80)}" alone, at ${file}`;
  return new WorkbenchError('data', got, { hint: 'Links are predicted between entities.' });
}

function empty(file: string): WorkbenchError {
  return new WorkbenchError('data', `expected triples, got none, at ${file}`, {
    hint: 'Each line is head, relation and tail separated by TAB.',
  });
}
