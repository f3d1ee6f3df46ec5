/**
 * Entities drawn apart: two data sets of the same relations that share no entity, to learn on the one and ask in the other. What is
 * known of an entity by itself, such as a vector, is worth nothing there; what relations say of each other is. Where relations are drawn
 * apart as well, the one has no triple of theirs and the other asks for them alone: what is known of a relation by itself is worth
 * nothing then, what its name says is.
 * @source Teru, Denis and Hamilton 2020, arXiv:1911.06962, section 5.1 (inductive benchmarks)
 */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import type { LinkDataset } from './link-dataset.js';
import { drawnFrom, type ReadSplits } from './read-splits.js';
import { LinkReader, TripleSet } from './read-triples.js';

/** Fixed, so that equal files give equal data sets everywhere. */
export const apartSeed = 0;

/** Names and splits of one of the two. */
interface Part {
  reader: LinkReader;
  splits: ReadSplits;
}

/**
 * Draws a share of the entities; triples of all splits with both ends on one side stay, those between the sides go. Valid and test are
 * drawn anew on each side, as where a source has one file.
 * @param share in (0, 1): of the entities, and of the relations
 * @param from names the source in errors
 * @throws WorkbenchError `data` for a side without enough triples
 */
export function drawnApart(
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
        `expected triples between entities that are drawn apart, got ${triples.size} of the ${side} ones, at ${from}`,
        { hint: 'A larger graph, or another share at --unseen.' },
      );
    }
    const asks = (relation: number) => share.relations === undefined || side === 'seen' || isNew[relation] === 1;
    return { reader: own, splits: drawnFrom({ triples, duplicates: 0, inverseLines: 0 }, from, asks) };
  };
  return { seen: part('seen'), unseen: part('unseen') };
}

/** 1 for a share of some ids. */
function drawn(name: string, count: number, share: number): Uint8Array {
  const chosen = new Uint8Array(count);
  const order = Rng.named(apartSeed, name).shuffle(Int32Array.from({ length: count }, (_, i) => i));
  for (const id of order.subarray(0, Math.round(share * count))) chosen[id] = 1;
  return chosen;
}

/**
 * What was learned on one data set can be asked in another one whose relations it knows, by the same ids.
 * @throws WorkbenchError `data` where they differ
 */
export function requireSameRelations(asked: Learned, learned: Learned): void {
  const [one, other] = [asked.graph.relationNames, learned.graph.relationNames];
  const at = firstOtherRelation(one, other);
  if (at === undefined) return;
  const [wanted, got] = [other, one].map((names) => (names[at] === undefined ? 'none' : JSON.stringify(names[at])));
  throw new WorkbenchError(
    'data',
    `expected the relations of ${learned.manifest.name} in its order, got ${got} for ${wanted}, at data set ${asked.manifest.name}`,
    { hint: 'Import both from one source: `kgwalk datasets import triples --unseen 0.33` draws their entities apart.' },
  );
}

function firstOtherRelation(one: readonly string[], other: readonly string[]): number | undefined {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, i) => i).find((i) => one[i] !== other[i]);
}

/** Whether two graphs have the same relations, by the same ids. */
export const hasSameRelations = (one: Learned, other: Learned): boolean =>
  firstOtherRelation(one.graph.relationNames, other.graph.relationNames) === undefined;

type Learned = Pick<LinkDataset, 'graph' | 'manifest'>;

/** The two sides. */
export type Side = 'seen' | 'unseen';

/** The data set of the unseen entities, beside that of the seen ones. */
export const unseenName = (name: string): string => `${name}-unseen`;
