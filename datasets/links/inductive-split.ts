/**
 * Inductive splits: two data sets with the same relations and disjoint entities, to train on one and test on the other. Entity vectors do
 * not transfer, relations do. If relations are split as well, the training side has none of their triples and the test side only tests
 * them: then relation vectors do not transfer either, only names do.
 * @source Teru, Denis and Hamilton 2020, arXiv:1911.06962, section 5.1 (inductive benchmarks)
 */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import type { LinkDataset } from './link-dataset.js';
import { drawnFrom, type ReadSplits } from './read-splits.js';
import { LinkReader, TripleSet } from './read-triples.js';

/** Fixed, so that equal files give equal data sets everywhere. */
export const apartSeed = 0;

/** Names and splits of one side. */
type Part = { reader: LinkReader; splits: ReadSplits };

/**
 * Draws a share of the entities; triples with both ends on one side stay, others are dropped. Valid and test are redrawn on each side, as
 * for a single-file source.
 * @param share in (0, 1): of the entities, and of the relations
 * @param from source name for errors
 * @throws WorkbenchError `data` for a side without enough triples
 */
export function inductiveSplit(
  reader: LinkReader,
  splits: ReadSplits,
  share: { entities: number; relations?: number | undefined },
  from: string,
): Record<Side, Part> {
  const isUnseen = drawn('datasets/links/apart', reader.entities.size, share.entities);
  const isNew = drawn('datasets/links/apart-relations', reader.relations.size, share.relations ?? 0);
  const part = (side: Side): Part => {
    const own = new LinkReader(reader.relations);
    const triples = new TripleSet();
    for (const split of [splits.train, splits.valid, splits.test]) {
      const { heads, relations, tails } = split.triples.columns();
      for (let i = 0; i < heads.length; i++) {
        if (isUnseen[heads[i]!] !== isUnseen[tails[i]!] || isUnseen[heads[i]!] !== Number(side === 'unseen')) continue;
        if (side === 'seen' && isNew[relations[i]!] === 1) continue;
        const [head, tail] = [heads[i]!, tails[i]!].map((entity) => own.entities.add(reader.entities.name(entity)!));
        triples.add(head!, relations[i]!, tail!);
      }
    }
    if (triples.size < 3) {
      throw new WorkbenchError(
        'data',
        `expected at least 3 triples on each side of the split, got ${triples.size} on the ${side} one, at ${from}`,
        { hint: 'Use a larger graph, or another share at --unseen.' },
      );
    }
    const asks = (relation: number) => share.relations === undefined || side === 'seen' || isNew[relation] === 1;
    return { reader: own, splits: drawnFrom({ triples, duplicates: 0, inverseLines: 0 }, from, asks) };
  };
  return { seen: part('seen'), unseen: part('unseen') };
}

/** Mask: 1 for the drawn share of ids. */
function drawn(name: string, count: number, share: number): Uint8Array {
  const chosen = new Uint8Array(count);
  const order = Rng.named(apartSeed, name).shuffle(Int32Array.from({ length: count }, (_, i) => i));
  for (const id of order.subarray(0, Math.round(share * count))) chosen[id] = 1;
  return chosen;
}

/**
 * A model trained on one data set can be tested on another with equal relations under equal ids.
 * @throws WorkbenchError `data` if they differ
 */
export function requireSameRelations(asked: Learned, learned: Learned): void {
  const [one, other] = [asked.graph.relationNames, learned.graph.relationNames];
  const at = firstOtherRelation(one, other);
  if (at === undefined) return;
  const [wanted, got] = [other, one].map((names) => (names[at] === undefined ? 'none' : JSON.stringify(names[at])));
  throw new WorkbenchError(
    'data',
    `expected the relations of ${learned.manifest.name} in its order, got ${got} for ${wanted}, at data set ${asked.manifest.name}`,
    { hint: 'Import both from one source: `kgwalk datasets import triples --unseen 0.33` makes both.' },
  );
}

function firstOtherRelation(one: readonly string[], other: readonly string[]): number | undefined {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, i) => i).find((i) => one[i] !== other[i]);
}

/** True if both graphs have the same relations under the same ids. */
export const hasSameRelations = (one: Learned, other: Learned): boolean =>
  firstOtherRelation(one.graph.relationNames, other.graph.relationNames) === undefined;

type Learned = Pick<LinkDataset, 'graph' | 'manifest'>;

/** Training and test side. */
export type Side = 'seen' | 'unseen';

/** Name of the test side's data set. */
export const unseenName = (name: string): string => `${name}-unseen`;
