/** How people ask for, speak of and tell each relation, in each direction. */
import { filmPhrases } from './phrases-of-films.js';
import { musicPhrases } from './phrases-of-music.js';
import { placePhrases } from './phrases-of-sports-and-places.js';
import { workPhrases } from './phrases-of-works.js';
import type { Direction, RelationName } from './schema.js';

/** Words for one direction of a relation; `{x}` is who or what it starts from, `{s}` the same as a subject, `{kinds}` what is looked for. */
export interface Phrases {
  /** Questions for the other end; none ends in a mark. */
  ask: readonly string[];
  /** The other end as part of a sentence: `the director of {x}`, `films that {s} directed`. */
  noun: readonly string[];
  /** `{kinds}` where it may be several: `titles`. */
  kinds?: string;
}

/** Words for a relation. */
export interface RelationPhrases {
  forward: Phrases;
  backward: Phrases;
  /** The fact as a sentence without a full stop: `{h}` is the head, `{t}` the tail of the forward direction. */
  tell: readonly string[];
}

/** The words of every relation. */
export const relationPhrases: Record<RelationName, RelationPhrases> = {
  ...filmPhrases,
  ...workPhrases,
  ...musicPhrases,
  ...placePhrases,
};

/** The words for a direction. */
export function phrasesOf(direction: Direction): Phrases {
  return direction.startsWith('~')
    ? relationPhrases[direction.slice(1) as RelationName].backward
    : relationPhrases[direction as RelationName].forward;
}
