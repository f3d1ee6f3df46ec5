/**
 * Graphs of rules, no two alike, to learn from how relations meet. Entities have a class in a tree of classes, a community and an element of
 * a group; a relation follows from these or from earlier relations.
 */
import { Graph, type TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import type { TrainedOn } from './views.js';

type Pair = readonly [head: number, tail: number];
type Pairs = readonly Pair[];
const key = ([head, tail]: Pair) => head * 65536 + tail;

/** Properties of entities that relations follow from. */
interface World {
  rng: Rng;
  entities: number;
  /** Entities of each class, those of the classes below it included; the first holds all. */
  classes: readonly (readonly number[])[];
  classOf: Int32Array;
  communities: readonly (readonly number[])[];
  communityOf: Int32Array;
  /** Elements of a group, as numbers of [turns, mirrors], and the entities of each. */
  kin: { turns: number; elementOf: Int32Array; members: readonly (readonly number[])[] };
  /** Relations that were made before. */
  made: Pairs[];
}

/** Number in [low, high], evenly by its logarithm. */
const between = (rng: Rng, low: number, high: number) => low * (high / low) ** rng.uniform();
const pick = <T>(rng: Rng, from: readonly T[]): T => from[rng.integer(from.length)]!;
/** One of a list whose first entries are the most popular. */
const popular = (rng: Rng, from: readonly number[], power: number) =>
  from[Math.floor(from.length * rng.uniform() ** power)]!;
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: Math.round(count) }, (_, i) => make(i));
const present = (pairs: readonly (Pair | undefined)[]): Pairs => pairs.filter((pair) => pair !== undefined);

/** Makers of a relation of some `count` edges, by its kind. */
const makers = {
  /** Any entity of a class with any of another, for a few pairs of classes. */
  blocks({ rng, classes }, count) {
    const blocks = times(between(rng, 1, 5), () => [pick(rng, classes), pick(rng, classes)] as const);
    const power = between(rng, 1, 3);
    return times(count, () => {
      const [heads, tails] = pick(rng, blocks);
      return [popular(rng, heads, power), popular(rng, tails, power)];
    });
  },
  /** Entities of one community, either way round or not. */
  neighbours({ rng, entities, communities, communityOf }, count) {
    const both = rng.uniform() < 0.5;
    const pairs = times(both ? count / 2 : count, (): Pair => {
      const head = rng.integer(entities);
      return [head, popular(rng, communities[communityOf[head]!]!, both ? 1 : 2)];
    });
    return both ? closed(pairs) : pairs;
  },
  /** Pairs that nothing predicts but their other direction. */
  matches: ({ rng, entities }, count) =>
    closed(times(count / 2, () => [rng.integer(entities), rng.integer(entities)] as const)),
  /** A parent for each entity of a class, mostly of its community. */
  tree({ rng, classes, communities, communityOf }) {
    const own = [...pick(rng, classes)];
    const order = new Map(own.map((entity, i) => [entity, i]));
    return own.slice(1).map((child, i) => {
      const near = communities[communityOf[child]!]!.filter((one) => (order.get(one) ?? Infinity) <= i);
      return [child, near.length > 0 && rng.uniform() < 0.9 ? popular(rng, near, 1.5) : own[rng.integer(i + 1)]!];
    });
  },
  /** One of a few values for each entity, by its class or community. */
  attribute({ rng, entities, classOf, communityOf, classes }, count) {
    const groupOf = rng.uniform() < 0.5 ? classOf : communityOf;
    const values = times(between(rng, 2, 12), () => pick(rng, classes[0]!));
    const sure = between(rng, 0.5, 1);
    return times(Math.min(count, entities), () => {
      const head = rng.integer(entities);
      return [head, rng.uniform() < sure ? values[groupOf[head]! % values.length]! : pick(rng, values)];
    });
  },
  /** Pairs whose elements of the group differ in one way. */
  kin({ rng, entities, kin: { turns, elementOf, members } }, count) {
    const [turn, mirror] = [rng.integer(turns), rng.integer(2)];
    return present(
      times(count, () => {
        const head = rng.integer(entities);
        const [own, side] = [elementOf[head]! % turns, Math.floor(elementOf[head]! / turns)];
        const other = ((side ? own - turn + turns : own + turn) % turns) + turns * ((side + mirror) % 2);
        return members[other]!.length > 0 ? [head, pick(rng, members[other]!)] : undefined;
      }),
    );
  },
  /** Another relation's other direction. */
  inverse: ({ rng, made }, count) => some(rng, pick(rng, made), count).map(([head, tail]) => [tail, head] as const),
  /** Another relation's pairs with an end of some class. */
  part({ rng, made, classes }, count) {
    const of = new Set(pick(rng, classes));
    const end = rng.integer(2);
    return some(
      rng,
      pick(rng, made).filter((pair) => of.has(pair[end]!)),
      count,
    );
  },
  union: ({ rng, made }, count) =>
    [some(rng, pick(rng, made), count / 2), some(rng, pick(rng, made), count / 2)].flat(),
  /** Two or three relations one after the other, each in either direction; often one with itself, as ancestors and siblings. */
  chain({ rng, made }, count) {
    const first = turned(rng, pick(rng, made));
    if (first.length === 0) return [];
    // A third step back along the first is what parallel trees have: the match of the parent of a match.
    const second = turned(rng, rng.uniform() < 0.4 ? first : pick(rng, made));
    const third = rng.uniform() < 0.5 ? [] : [turned(rng, rng.uniform() < 0.6 ? first : pick(rng, made))];
    const steps = [second, ...third].map((pairs) => Map.groupBy(pairs, ([head]) => head));
    const walks = times(count, () => {
      const [head, middle] = pick(rng, first);
      let end: number | undefined = middle;
      for (const next of steps) {
        const ends: Pairs | undefined = end === undefined ? undefined : next.get(end);
        end = ends && pick(rng, ends)[1];
      }
      return end === undefined || end === head ? undefined : ([head, end] as const);
    });
    return present(walks);
  },
} satisfies Record<string, (world: World, count: number) => Pairs>;

const closed = (pairs: Pairs): Pairs =>
  pairs.flatMap(
    ([head, tail]) =>
      [
        [head, tail],
        [tail, head],
      ] as const,
  );
const turned = (rng: Rng, pairs: Pairs): Pairs =>
  rng.uniform() < 0.5 ? pairs : pairs.map(([head, tail]) => [tail, head] as const);
const some = (rng: Rng, pairs: Pairs, count: number): Pairs => rng.shuffle([...pairs]).slice(0, Math.round(count));

/** Kinds that follow from no other relation. */
const first = ['blocks', 'neighbours', 'matches', 'tree', 'attribute', 'kin'] as const;
const all = Object.keys(makers) as (keyof typeof makers)[];

function newWorld(rng: Rng, entities: number): World {
  const classCount = Math.round(between(rng, 3, 24));
  const above = times(classCount, (i) => (i === 0 ? -1 : rng.integer(i)));
  const ids = rng.shuffle(times(entities, (i) => i));
  const classOf = Int32Array.from(ids, () => Math.floor(classCount * rng.uniform() ** 1.5));
  const within = (entity: number, of: number) => {
    for (let at = classOf[entity]!; at >= 0; at = above[at]!) if (at === of) return true;
    return false;
  };
  const communityOf = Int32Array.from(ids, () => rng.integer(Math.ceil(entities / between(rng, 5, 60))));
  const turns = Math.round(between(rng, 2, 8));
  const elementOf = Int32Array.from(ids, () => rng.integer(2 * turns));
  const groups = (of: Int32Array, count: number) => times(count, (i) => ids.filter((id) => of[id] === i));
  return {
    ...{ rng, entities, classOf, communityOf, made: [] },
    classes: times(classCount, (i) => ids.filter((id) => within(id, i))).filter(({ length }) => length > 1),
    communities: groups(communityOf, entities),
    kin: { turns, elementOf, members: groups(elementOf, 2 * turns) },
  };
}

/** Graph `index` of a seed, of 50 to 2,000 entities and 5 to 80 relations, with all its edges as queries. */
export function generatedGraph(seed: number, index: number): TrainedOn {
  const rng = Rng.named(seed, 'messages/generated', index);
  const entities = Math.round(between(rng, 50, 2000));
  const plain = Math.round(between(rng, 5, 80));
  const perEntity = between(rng, 1.5, Math.min(entities / 3, 12_000 / entities + 6));
  const world = newWorld(rng, entities);
  // A graph's own mix: some kinds are frequent in it, others missing.
  const weights = Object.fromEntries(all.map((kind) => [kind, rng.uniform() ** 3]));
  const noise = 0.15 * rng.uniform() ** 2;
  const kept = between(rng, 0.7, 0.92);
  const usual = (entities * perEntity) / plain;
  for (let relation = 0; relation < plain; relation++) {
    const kinds: readonly (keyof typeof makers)[] = relation < 2 ? first : all;
    let at = rng.uniform() * kinds.reduce((sum, kind) => sum + weights[kind]!, 0);
    const kind = kinds.find((one) => (at -= weights[one]!) <= 0) ?? 'blocks';
    const count = Math.max(6, usual * between(rng, 0.2, 3));
    const pairs = makers[kind](world, count / kept);
    const wrong = times(noise * pairs.length, (): Pair => [rng.integer(entities), rng.integer(entities)]);
    world.made.push([...pairs, ...wrong]);
  }
  // Of the same pair of the same relation all is kept or nothing.
  const missing = world.made.map((pairs) => new Set(pairs.map(key).filter(() => rng.uniform() > kept)));
  const taken = (wanted: (relation: number, pair: Pair) => boolean): TripleColumns => {
    const rows = world.made.flatMap((pairs, relation) =>
      pairs
        .filter((pair) => wanted(relation, pair))
        .flatMap(([head, tail]) => [[head, relation, tail] as const, [tail, plain + relation, head] as const]),
    );
    const column = (i: 0 | 1 | 2) => Int32Array.from(rows, (row) => row[i]);
    return { heads: column(0), relations: column(1), tails: column(2) };
  };
  const isMissing = (relation: number, pair: Pair) => missing[relation]!.has(key(pair));
  const names = times(plain, (i) => `r${i}`);
  const entityNames = times(entities, (i) => `e${i}`);
  const graphOf = (columns: TripleColumns) =>
    new Graph(`generated-${index}`, entityNames, [...names, ...names.map((name) => `~${name}`)], columns);
  return {
    graph: graphOf(taken((relation, pair) => !isMissing(relation, pair))),
    queries: taken(isMissing),
    known: graphOf(taken(() => true)),
    pairs: rng.uniform() < 0.4,
  };
}
