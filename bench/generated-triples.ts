/**
 * Graphs of any size with the shape of real ones, from a seed: a few hubs hold much of the edges, most entities have few,
 * relations are used as unevenly. Named like Freebase's: `/m/0k2f3a TAB /film/film/r17 TAB /m/0b`.
 */
import { closeSync, openSync } from 'node:fs';
import { writeFully } from '../src/run/files.js';
import { Rng } from '../src/run/seeds.js';

/** Numbers that a graph is drawn with; not all are drawn. */
export interface GeneratedSizes {
  triples: number;
  entities: number;
  relations: number;
}

/** Entities a tenth of the triples (OpenDialKG: a twelfth), relations as the square root: OpenDialKG's 1,090 at its 1.19 million. */
export function generatedSizes(triples: number): GeneratedSizes {
  return {
    triples,
    entities: Math.max(2, Math.round(triples / 10)),
    relations: Math.max(2, Math.round(Math.sqrt(triples))),
  };
}

/** Draws rank r of n with a chance falling as r^(1/power - 1). At power 3 the first of 10^7 has 0.5 % of all draws. */
const [headPower, tailPower, relationPower] = [1.5, 3, 2.5];

/**
 * Gives each triple as numbers, the same for a seed. Duplicates are drawn too, as files have them.
 * @param take receives head and tail in [0, entities), relation in [0, relations)
 */
function generateTriples(
  { triples, entities, relations }: GeneratedSizes,
  seed: number,
  take: (head: number, relation: number, tail: number) => void,
): void {
  const rng = Rng.named(seed, 'bench/triples');
  const rank = (count: number, power: number) => Math.floor(count * rng.uniform() ** power);
  // Hubs lie anywhere among the names, and those of heads are not those of tails.
  const [headAt, tailAt] = [scattered(entities, 0.618), scattered(entities, 0.414)];
  for (let i = 0; i < triples; i++) {
    const head = headAt(rank(entities, headPower));
    const relation = rank(relations, relationPower);
    take(head, relation, tailAt(rank(entities, tailPower)));
  }
}

/** A one-to-one map of [0, count): multiplication by a number that shares no divisor with it. */
function scattered(count: number, share: number): (rank: number) => number {
  let factor = Math.max(1, Math.floor(count * share));
  while (gcd(factor, count) !== 1) factor++;
  return (rank) => (rank * factor) % count;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

const blockBytes = 2 ** 22;
const longestLine = 64;

/** Writes the triples of a seed as `head TAB relation TAB tail`. @returns bytes written */
export function writeGeneratedTriples(file: string, sizes: GeneratedSizes, seed: number): number {
  const descriptor = openSync(file, 'w');
  try {
    const block = Buffer.alloc(blockBytes);
    const relationNames = Array.from({ length: sizes.relations }, (_, id) =>
      Buffer.from(`\t/${(id % 97).toString(36)}om/type/r${id}\t`),
    );
    let bytes = 0;
    let at = 0;
    const entity = (id: number) => {
      block[at++] = 0x2f;
      block[at++] = 0x6d;
      block[at++] = 0x2f;
      block[at++] = 0x30;
      for (let rest = id; ; rest = Math.floor(rest / 32)) {
        const digit = rest % 32;
        block[at++] = digit < 10 ? 0x30 + digit : 0x57 + digit;
        if (rest < 32) return;
      }
    };
    const flush = () => {
      writeFully(descriptor, block.subarray(0, at));
      bytes += at;
      at = 0;
    };
    generateTriples(sizes, seed, (head, relation, tail) => {
      if (at > blockBytes - longestLine) flush();
      entity(head);
      at += relationNames[relation]!.copy(block, at);
      entity(tail);
      block[at++] = 0x0a;
    });
    flush();
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}
