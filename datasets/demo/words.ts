/** Vocabulary of the demo world (data in `words/*.yaml`), and seeded choices. */
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { readTextFile } from '../../src/run/files.js';
import { packageRoot } from '../../src/run/locations.js';
import type { Rng } from '../../src/run/seeds.js';
import { type Direction, entityTypes, type RelationName, relationNames } from './schema.js';

const texts = z.array(z.string()).min(1);
const oneWay = z.strictObject({ kinds: z.string().optional(), ask: texts, noun: texts });
const byDirection = z.partialRecord(z.enum(relationNames.flatMap((name): Direction[] => [name, `~${name}`])), texts);
const manner = z.strictObject({
  ...{ onsets: texts, longer: texts.optional(), vowels: texts, endings: texts },
  syllables: z.int().min(1),
});

/** Word pattern of one kind of name. */
export type Manner = z.output<typeof manner>;

/** Phrases per relation, loaded lazily like all vocabulary. */
export const relationWords = wordsOf(
  'relations',
  z.record(z.enum(relationNames), z.strictObject({ forward: oneWay, backward: oneWay, tell: texts })),
);

export const nameWords = wordsOf(
  'names',
  z.strictObject({
    ...{ things: texts, weather: texts, creatures: texts, genres: texts, styles: texts, sports: texts },
    ...{ awards: texts, grounds: texts, companies: texts, ordinary: texts },
    titles: z.record(z.enum(['film', 'book', 'song', 'album', 'band']), texts),
    manners: z.record(z.enum(['given', 'family', 'title', 'sound', 'city', 'country']), manner),
  }),
);

export const talk = wordsOf(
  'talk',
  z.strictObject({
    kinds: z.record(z.enum(entityTypes), z.tuple([z.string(), z.string()])),
    openings: z.partialRecord(z.enum(entityTypes), texts).and(z.object({ other: texts })),
    leads: z.strictObject({ first: texts, later: texts }),
    ...{ returns: texts, asides: texts, exclusions: texts, guesses: texts, vague: texts, requests: texts },
    ...{ sameness: byDirection, wishes: byDirection },
    ...{ replies: texts, prompts: texts, answers: texts, reactions: texts, farewells: texts },
  }),
);

function wordsOf<T>(name: string, schema: z.ZodType<T>): () => T {
  let words: T | undefined;
  const file = () => join(packageRoot(), 'datasets', 'demo', 'words', `${name}.yaml`);
  return () => (words ??= schema.parse(parse(readTextFile(file(), 'words of the demo'))));
}

export function phrasesOf(direction: Direction): z.output<typeof oneWay> {
  return relationWords()[direction.replace('~', '') as RelationName][
    direction.startsWith('~') ? 'backward' : 'forward'
  ];
}

/** Fills placeholders such as `{name}`; those without a value stay. */
export function fill(pattern: string, values: object): string {
  return pattern.replace(/\{(\w+)\}/g, (place, name: string) => (values as Record<string, string>)[name] ?? place);
}

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export const chance = (rng: Rng, probability: number): boolean => rng.uniform() < probability;

/** Index in [0, n), skewed to small ones: density falls with the power `1 - 1/skew`; 1 is uniform. */
export const skewed = (rng: Rng, n: number, skew: number): number => Math.floor(n * rng.uniform() ** skew);
