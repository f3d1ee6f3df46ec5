/** Settings, types, relations and sizes of the demo world. */
import { z } from 'zod';

const count = z.int().min(0).max(1_000_000_000);

/** Settings of the generator; equal settings give equal bytes. */
export const demoSettings = z.strictObject({
  seed: z.int().default(1).describe('Seed of names, facts, dialogues and questions.'),
  entities: count.min(200).default(3000).describe('Approximate number of entities.'),
  triples: count.min(400).default(20_000).describe('Approximate number of triples, both directions counted.'),
  dialogues: count
    .refine(
      (dialogues) => dialogues === 0 || dialogues >= 10,
      'expected 0 or at least 10, so that every split has some',
    )
    .default(1200)
    .describe('Number of dialogues; 0: none.'),
  questions: count
    .default(4000)
    .describe('Number of questions and statements of all four subsets; fewer if the graph is too small; 0: none.'),
});

/** All settings with their values. */
export type DemoSettings = z.output<typeof demoSettings>;

export const people = ['actor', 'director', 'writer', 'musician', 'athlete'] as const;

/** Entities per type in a world of 3,000; scaled in proportion, hubs with the square root. */
const shares = {
  film: 620,
  book: 370,
  song: 330,
  album: 150,
  band: 120,
  actor: 400,
  director: 90,
  writer: 130,
  musician: 150,
  athlete: 240,
  team: 60,
  league: 10,
  stadium: 60,
  city: 80,
  country: 20,
  genre: 24,
  style: 14,
  sport: 8,
  award: 20,
  studio: 24,
  year: 56,
  language: 16,
};

/** Entity type. `genre` is for films and books, `style` for music. */
export type EntityType = keyof typeof shares;

export const entityTypes = Object.keys(shares) as EntityType[];

const hubs = 'country genre style sport league award language year'.split(' ');

const maxYears = 224;

/** @returns entities per type for about `entities` in total, at least 4 each */
export function typeSizes(entities: number): Record<EntityType, number> {
  const scale = entities / 3000;
  const hubScale = Math.sqrt(Math.max(scale, 0.1));
  const size = (type: EntityType) => {
    const wanted = Math.max(4, Math.round(shares[type] * (hubs.includes(type) ? hubScale : scale)));
    return type === 'year' ? Math.min(wanted, maxYears) : wanted;
  };
  return Object.fromEntries(entityTypes.map((type) => [type, size(type)])) as Record<EntityType, number>;
}

/** Relations in the direction of the generated facts; `~name` is the inverse. */
export const relationNames = [
  'directed_by',
  'starring',
  'written_by',
  'has_genre',
  'released_in',
  'set_in',
  'based_on',
  'produced_by',
  'won_award',
  'in_language',
  'performed_by',
  'on_album',
  'member_of',
  'based_in',
  'plays_for',
  'competes_in',
  'home_ground',
  'located_in',
  'born_in',
  'plays_sport',
] as const;

export type RelationName = (typeof relationNames)[number];

/** Relation with direction, as on graph edges. */
export type Direction = RelationName | `~${RelationName}`;
