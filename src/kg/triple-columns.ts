/** Parts of triples in columns, and several one after another. */
import { drawn } from '../run/seeds.js';
import type { TripleColumns } from './graph.js';

/** The triples at some places, in their order. New arrays. */
export function pickTriples({ heads, relations, tails }: TripleColumns, places: Int32Array): TripleColumns {
  const column = (values: Int32Array) => places.map((place) => values[place]!);
  return { heads: column(heads), relations: column(relations), tails: column(tails) };
}

/** A seeded draw in the order of the triples; all of them where there are no more. @param name names the draw */
export function drawTriples(triples: TripleColumns, count: number, name: string): TripleColumns {
  return pickTriples(triples, Int32Array.from(drawn([...triples.heads.keys()], count, name)));
}

/** One after another. New arrays. */
export function joinTriples(parts: readonly TripleColumns[]): TripleColumns {
  const all = (column: keyof TripleColumns) => {
    const values = new Int32Array(parts.reduce((sum, part) => sum + part[column].length, 0));
    let at = 0;
    for (const part of parts) {
      values.set(part[column], at);
      at += part[column].length;
    }
    return values;
  };
  return { heads: all('heads'), relations: all('relations'), tails: all('tails') };
}
