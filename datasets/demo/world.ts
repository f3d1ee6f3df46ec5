/** Demo world: facts as a stream (memory: sizes and the facts of one subject), and the graph. */
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { type Graph, inverseName } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { aliasesOf, type NameOf, worldNames } from './names.js';
import { type DemoSettings, type EntityType, people, type RelationName, typeSizes } from './schema.js';
import { chance, skewed } from './words.js';

/** Entity as type and number within the type, from 0; small numbers are well known. */
type Thing = { type: EntityType; index: number };

type Fact = { head: string; relation: RelationName; tail: string; headType: EntityType; tailType: EntityType };

interface Rule {
  from: EntityType;
  relation: RelationName;
  /** Mean facts per subject in a world of default density. */
  rate: number;
  /** True if denser worlds have more per subject; others are fixed: a film has one year in any world. */
  grows?: boolean;
  to: (rng: Rng, subject: number, world: Sizes) => Thing;
}

type Sizes = Record<EntityType, number>;

/** Related entities share a neighbourhood, so that directors have typical actors and genres. */
const neighbourhoods = 24;

const well = (type: EntityType, skew: number) => (rng: Rng, _: number, sizes: Sizes) => ({
  type,
  index: skewed(rng, sizes[type], skew),
});

/** Like `well`, but in two of three cases from the subject's neighbourhood. */
const near = (type: EntityType, skew: number) => (rng: Rng, subject: number, sizes: Sizes) => {
  const index = skewed(rng, sizes[type], skew);
  if (!chance(rng, 0.65)) return { type, index };
  const groups = Math.min(neighbourhoods, Math.max(1, Math.floor(sizes[type] / 4)));
  const moved = index - (index % groups) + (subject % groups);
  return { type, index: moved < sizes[type] ? moved : index };
};

const one =
  (type: EntityType, index: (subject: number, sizes: Sizes) => number) => (_: Rng, subject: number, sizes: Sizes) => ({
    type,
    index: index(subject, sizes) % sizes[type],
  });

type Choose = Rule['to'];

/** `first` with this probability, else `other`. */
const either =
  (probability: number, first: Choose, other: Choose): Choose =>
  (rng, subject, sizes) =>
    (chance(rng, probability) ? first : other)(rng, subject, sizes);

const cityOfTeam = (team: number, sizes: Sizes) => team % sizes.city;
const leagueOfTeam = (team: number, sizes: Sizes) => team % sizes.league;
const teamOfAthlete = (athlete: number, sizes: Sizes) => Math.floor(sizes.team * ((athlete * 0.6180339887) % 1) ** 1.5);
const bandOfAlbum = (album: number, sizes: Sizes) => album % sizes.band;
const directorOfFilm = (film: number, sizes: Sizes) => Math.floor(sizes.director * ((film * 0.6180339887) % 1) ** 1.7);
const bandOfSong = (song: number, sizes: Sizes) => Math.floor(sizes.band * ((song * 0.6180339887) % 1) ** 1.6);

/** One of the band's albums: those whose number maps to the band. */
const albumOfSong: Choose = (rng, song, sizes) => {
  const band = bandOfSong(song, sizes);
  const albums = Math.max(1, Math.ceil((sizes.album - band) / sizes.band));
  return { type: 'album', index: (band + sizes.band * rng.integer(albums)) % sizes.album };
};

/** Book of a film, or -1: every seventh film has one. */
function bookOfFilm(film: number, sizes: Sizes): number {
  const book = 2 * Math.floor(film / 7) + 1;
  return film % 7 === 3 && book < sizes.book ? book : -1;
}

const filmedBook = (book: number, sizes: Sizes): boolean => book % 2 === 1 && 7 * ((book - 1) / 2) + 3 < sizes.film;

const director: Choose = either(0.82, one('director', directorOfFilm), near('actor', 2.2));
const place: Choose = either(0.55, near('city', 2.2), well('country', 3));
const genre: Choose = either(0.4, near('genre', 2.4), well('genre', 4));
const style: Choose = either(0.5, near('style', 2), well('style', 3));

const rules: readonly Rule[] = [
  { from: 'film', relation: 'directed_by', rate: 1, to: director },
  {
    from: 'film',
    relation: 'starring',
    rate: 2.9,
    grows: true,
    to: either(0.93, near('actor', 3), one('director', directorOfFilm)),
  },
  {
    from: 'film',
    relation: 'written_by',
    rate: 1.1,
    to: either(0.35, one('director', directorOfFilm), near('writer', 2.2)),
  },
  { from: 'film', relation: 'has_genre', rate: 1.5, grows: true, to: genre },
  { from: 'film', relation: 'released_in', rate: 1, to: well('year', 3) },
  { from: 'film', relation: 'set_in', rate: 0.35, to: place },
  { from: 'film', relation: 'produced_by', rate: 0.9, to: near('studio', 3) },
  { from: 'film', relation: 'won_award', rate: 0.25, grows: true, to: well('award', 2.6) },
  { from: 'film', relation: 'in_language', rate: 0.8, to: well('language', 3.2) },
  { from: 'book', relation: 'written_by', rate: 1, to: near('writer', 2.6) },
  { from: 'book', relation: 'has_genre', rate: 1.4, grows: true, to: genre },
  { from: 'book', relation: 'released_in', rate: 1, to: well('year', 2.6) },
  { from: 'book', relation: 'set_in', rate: 0.35, to: place },
  { from: 'book', relation: 'in_language', rate: 0.35, to: well('language', 3) },
  { from: 'book', relation: 'won_award', rate: 0.2, grows: true, to: well('award', 2.6) },
  { from: 'song', relation: 'performed_by', rate: 1, to: one('band', bandOfSong) },
  { from: 'song', relation: 'on_album', rate: 0.75, to: albumOfSong },
  { from: 'song', relation: 'performed_by', rate: 0.2, grows: true, to: near('musician', 1.6) },
  { from: 'song', relation: 'released_in', rate: 0.3, to: well('year', 3) },
  { from: 'album', relation: 'performed_by', rate: 1, to: one('band', bandOfAlbum) },
  { from: 'album', relation: 'released_in', rate: 1, to: well('year', 3) },
  { from: 'album', relation: 'has_genre', rate: 1.2, grows: true, to: style },
  { from: 'band', relation: 'has_genre', rate: 1.4, grows: true, to: style },
  { from: 'band', relation: 'based_in', rate: 1, to: either(0.5, near('city', 2.6), well('country', 3)) },
  { from: 'band', relation: 'won_award', rate: 0.2, grows: true, to: well('award', 2.6) },
  { from: 'musician', relation: 'member_of', rate: 1.2, grows: true, to: near('band', 1.6) },
  { from: 'athlete', relation: 'plays_for', rate: 1, to: one('team', teamOfAthlete) },
  { from: 'athlete', relation: 'plays_for', rate: 0.3, grows: true, to: near('team', 1.4) },
  {
    from: 'athlete',
    relation: 'plays_sport',
    rate: 0.8,
    to: one('sport', (athlete, sizes) => leagueOfTeam(teamOfAthlete(athlete, sizes), sizes)),
  },
  { from: 'athlete', relation: 'won_award', rate: 0.15, grows: true, to: well('award', 2.6) },
  { from: 'team', relation: 'competes_in', rate: 1, to: one('league', leagueOfTeam) },
  { from: 'team', relation: 'home_ground', rate: 1, to: one('stadium', (team) => team) },
  { from: 'team', relation: 'based_in', rate: 1, to: one('city', cityOfTeam) },
  { from: 'league', relation: 'plays_sport', rate: 1, to: one('sport', (league) => league) },
  { from: 'stadium', relation: 'located_in', rate: 1, to: one('city', cityOfTeam) },
  { from: 'city', relation: 'located_in', rate: 1, to: well('country', 2) },
  { from: 'studio', relation: 'based_in', rate: 1, to: well('city', 2) },
  ...people.map((from): Rule => ({
    from,
    relation: 'born_in',
    rate: from === 'actor' ? 0.6 : 1,
    to: either(0.5, near('city', 2.6), well('country', 3)),
  })),
];

type WorldSettings = Pick<DemoSettings, 'seed' | 'entities' | 'triples'>;

export function namesOf({ seed, entities }: Pick<DemoSettings, 'seed' | 'entities'>): NameOf {
  const sizes = typeSizes(entities);
  return worldNames(
    seed,
    sizes,
    (film) => bookOfFilm(film, sizes),
    (book) => filmedBook(book, sizes),
  );
}

/**
 * Every fact once, by subject; with inverses each makes two triples, so there are about `triples / 2`. State: sizes and the facts of one
 * subject.
 */
export function* demoFacts(settings: WorldSettings): Generator<Fact> {
  const { seed, entities, triples } = settings;
  const sizes = typeSizes(entities);
  const nameOf = namesOf(settings);
  const rng = Rng.named(seed, 'demo/facts');
  const growth = growthFor(triples / 2, sizes);
  for (const type of Object.keys(sizes) as EntityType[]) {
    const own = rules.filter(({ from }) => from === type);
    for (let index = 0; index < sizes[type]; index++) yield* factsOf(rng, own, { type, index }, sizes, nameOf, growth);
  }
}

function* factsOf(
  rng: Rng,
  rules: readonly Rule[],
  subject: Thing,
  sizes: Sizes,
  nameOf: NameOf,
  growth: number,
): Generator<Fact> {
  if (rules.length === 0) return;
  const head = nameOf(subject.type, subject.index);
  const seen = new Set<string>();
  const fact = (relation: RelationName, object: Thing): Fact | undefined => {
    const key = `${relation} ${object.type} ${object.index}`;
    if (seen.has(key)) return undefined;
    seen.add(key);
    const tail = nameOf(object.type, object.index);
    return { head, relation, tail, headType: subject.type, tailType: object.type };
  };
  for (const { relation, rate, grows = false, to } of rules) {
    const mean = grows ? rate * growth * fame(subject.index, sizes[subject.type]) : rate;
    const count = Math.floor(mean + rng.uniform());
    for (let i = 0; i < count; i++) {
      // Dense worlds draw many duplicates and retry.
      for (let attempt = 0; attempt < growth; attempt++) {
        const made = fact(relation, to(rng, subject.index, sizes));
        if (!made) continue;
        yield made;
        break;
      }
    }
  }
  if (subject.type !== 'film') return;
  const book = bookOfFilm(subject.index, sizes);
  const made = book >= 0 ? fact('based_on', { type: 'book', index: book }) : undefined;
  if (made) yield made;
}

/** Well-known subjects have more facts; mean 1. */
const fame = (index: number, of: number): number => 0.5 + 2 * (1 - index / of) ** 3;

/** Factor on the growing rates that gives about `facts`. */
function growthFor(facts: number, sizes: Sizes): number {
  let fixed = Math.min(Math.floor(sizes.film / 7), Math.floor(sizes.book / 2));
  let growing = 0;
  for (const { from, rate, grows } of rules) {
    if (grows) growing += rate * sizes[from];
    else fixed += rate * sizes[from];
  }
  return Math.max(0.1, (facts - fixed) / growing);
}

export interface DemoWorld {
  graph: Graph;
  /** Type by entity id. */
  types: readonly EntityType[];
  /** Short names by entity id, not unique. */
  aliases: readonly (readonly string[])[];
}

/** Builds the graph of these settings with both directions of every fact. @param name of the graph */
export function demoWorld(settings: WorldSettings, name = 'dialogue'): DemoWorld {
  const builder = new GraphBuilder();
  const add = builder.sinkOf('facts of the demo');
  const typeOf = new Map<string, EntityType>();
  for (const { head, relation, tail, headType, tailType } of demoFacts(settings)) {
    add(head, relation, tail);
    add(tail, inverseName(relation), head);
    typeOf.set(head, headType);
    typeOf.set(tail, tailType);
  }
  const graph = builder.build(name);
  const types = graph.entityNames.map((entity) => typeOf.get(entity)!);
  return { graph, types, aliases: graph.entityNames.map((entity, id) => aliasesOf(types[id]!, entity)) };
}
