/** Figures of link queries: filtered realistic ranks, reach of walks, and their chains of relations. */
import type { RankedQuestion } from '../../agents/link-ranker.js';
import type { Attempt, Compared, Measure, Scorer } from '../../evaluation/score.js';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import { byIds } from '../../src/kg/graph.js';
import { filteredRank, sampledHit } from '../../src/metrics/ranks.js';
import type { Example, Section } from '../../src/run/evaluation.js';
import type { Figure } from '../../src/run/figures.js';
import type { RankedWorld } from '../../agents/link-ranks.js';
import { linkArrow, linkRow, type LinkRow, namedSteps, verbalisePath } from './row.js';

/** A triple that is asked about: of heads the relation is the inverse one. */
export interface LinkSample {
  task: { id: string; head: number; relation: number };
  direction: 'tail' | 'head';
  answer: number;
  /** See `LinkRow`. */
  distance: number;
}

const ks = [1, 3, 10] as const;

/** Figures of link queries, in the order of tables. @param horizon of `reachable@1` to `reachable@horizon` */
export function linkFigures(horizon: number): Figure[] {
  const high = { better: 'high' } as const;
  const ranked = (prefix: string, words: string): Figure[] => [
    ...['MRR', ...ks.map((k) => `Hits@${k}`)].map((title): Figure => {
      const main = prefix === '' ? ({ place: 'main', tested: true } as const) : {};
      return { key: prefix + title.toLowerCase(), title: title + words, unit: 'mean', ...high, ...main };
    }),
  ];
  const reachable = Array.from({ length: horizon }, (_, t): Figure => {
    return { key: `reachable@${t + 1}`, title: `answers within ${t + 1} edges`, unit: 'mean', ...high };
  });
  return [
    ...ranked('', ''),
    ...ranked('sum-', ', summed walks'),
    { key: 'hits@10-of-50', title: 'Hits@10 among 50', unit: 'mean', ...high },
    { key: 'reached', title: 'answers in the beam', unit: 'mean', ...high },
    ...reachable,
  ];
}

/** Whole questions (head, relation) are drawn: the answers of one are ranked by the same scores. */
export const linkMeasure: Measure<LinkRow> = {
  row: linkRow,
  valueOf(key) {
    if (key === 'reached') return ({ reached }) => (reached === undefined ? undefined : Number(reached));
    if (key === 'hits@10-of-50') return ({ hitOf50 }) => hitOf50;
    const [, sum, name, k] = /^(sum-)?(mrr|hits|reachable)(?:@(\d+))?$/.exec(key) ?? [];
    if (name === 'reachable') return ({ distance }) => Number(distance <= Number(k));
    if (name === undefined) throw new TypeError(`expected a figure of links, got ${key}`);
    const rankOf = ({ rank, sumRank }: LinkRow) => (sum === undefined ? rank : sumRank);
    return (row) => {
      const rank = rankOf(row);
      return rank === undefined ? undefined : name === 'mrr' ? 1 / rank : Number(rank <= Number(k));
    };
  },
  clusters: 'questions',
  cluster: ({ head, relation }) => `${head} ${relation}`,
  slices: { direction: ({ direction }) => direction },
  comparedSlice: 'direction',
  costOf: ({ cost }) => cost ?? {},
  arrow: linkArrow,
  views: byPooling,
};

/**
 * A walker twice: by the best walk to each entity, and by the sum of the walks under another name, whose figures are then the
 * plain ones. Evaluations without sums stay as they are.
 */
function byPooling<One extends Compared<LinkRow>>(evaluation: One): One[] {
  const { name, record, rows } = evaluation;
  if (rows[0]?.sumRank === undefined) return [evaluation];
  const summed = (metrics: typeof record.metrics) =>
    Object.fromEntries(Object.keys(metrics).map((key) => [key, metrics[`sum-${key}`] ?? metrics[key]!]));
  const slices = Object.entries(record.slices).map(([slice, metrics]) => [slice, summed(metrics)]);
  const sum = {
    ...evaluation,
    name: `${name}, summed`,
    record: { ...record, metrics: summed(record.metrics), slices: Object.fromEntries(slices) },
    rows: rows.map((row) => ({ ...row, rank: row.sumRank! })),
  };
  return [evaluation, sum];
}

/** Candidates of ranks, with their description. */
export interface ScoredWorld extends RankedWorld {
  /** Display name of each entity. */
  labels: readonly string[];
  /** Answers in train, of plain and of inverse relations. */
  trainKnown: Pick<KnownAnswers, 'tailsOf'>;
}

/** Scores what ranks entities. @param horizon how far answers were looked for */
export function linkScorer(world: ScoredWorld, horizon: number): Scorer<LinkSample, RankedQuestion, LinkRow> {
  return {
    measure: linkMeasure,
    figures: linkFigures(horizon),
    rowOf: (sample, attempt) => rowOf(sample, attempt?.answer, world),
    exampleOf: (sample, attempt, row) => exampleOf(sample, attempt, row, world),
    summary: (rows) => summary(rows, world, horizon),
  };
}

function rowOf(
  { task: { id, head, relation }, direction, answer, distance }: LinkSample,
  ranked: RankedQuestion | undefined,
  world: ScoredWorld,
): LinkRow {
  const known = world.known.tailsOf(head, relation);
  // A failed query ranks its answer behind all.
  const ranks = ranked ? ranked.scores.map((scores) => filteredRank(scores, answer, known)) : [world.graph.numEntities];
  const candidates = world.graph.numEntities - known.length + Number(known.includes(answer));
  const walks = ranks.length > 1;
  const first = ranked && firstBeyondTrain(ranked, head, relation, world);
  return {
    ...{ id, direction, head, relation, answer, distance },
    rank: ranks[0]!,
    hitOf50: sampledHit(ranks[0]!, candidates),
    ...(walks && { sumRank: ranks[1]!, reached: ranked!.scores[0]![answer] !== -Infinity }),
    ...(first && { chain: first.chain, chainRight: known.includes(first.entity) }),
    ...(ranked?.cost && { cost: { ...ranked.cost } }),
    ...(ranks[0]! > 1 && { miss: missOf(ranked, answer) }),
  };
}

function missOf(ranked: RankedQuestion | undefined, answer: number): string {
  if (!ranked) return 'agent-failed';
  return ranked.scores[0]![answer] === -Infinity ? 'not-reached' : 'ranked-lower';
}

/** Facts of train need no walk: the first answer beyond it shows what was learned. Empty for agents without chains. */
function firstBeyondTrain(
  { reached, chainTo, scores }: RankedQuestion,
  head: number,
  relation: number,
  world: ScoredWorld,
) {
  // A set: a hub has as many as there are entities.
  const given = new Set(world.trainKnown.tailsOf(head, relation));
  if (reached) {
    const best = reached.order(reached.best, given.size + 1);
    const place = best.find((one) => !given.has(reached.entities[one]!));
    if (place === undefined) return undefined;
    return { entity: reached.entities[place]!, chain: chainOf(reached.path(place), world.graph.numRelations) };
  }
  const entity = chainTo ? bestBeyond(scores[0]!, given) : -1;
  const chain = entity < 0 ? undefined : chainTo!(entity);
  return chain && { entity, chain: [...chain] };
}

/** The entity with the highest score, ties to the lowest id, but for those given; -1 where none was reached. */
function bestBeyond(scores: Float64Array, given: ReadonlySet<number>): number {
  let best = -1;
  let most = -Infinity;
  for (let entity = 0; entity < scores.length; entity++) {
    if (scores[entity]! > most && !given.has(entity)) {
      best = entity;
      most = scores[entity]!;
    }
  }
  return best;
}

/** The relations of a walk without those of steps that stay. @param path relation and entity of each step */
export function chainOf(path: ArrayLike<number>, stay: number): number[] {
  const chain: number[] = [];
  for (let at = 0; at < path.length; at += 2) if (path[at] !== stay) chain.push(path[at]!);
  return chain;
}

const shownAnswers = 5;

function exampleOf(
  { task: { id, head, relation }, answer }: LinkSample,
  { answer: ranked }: Attempt<RankedQuestion>,
  { rank, sumRank }: LinkRow,
  world: ScoredWorld,
): Example | undefined {
  const reached = ranked?.reached;
  if (!reached) return undefined;
  const { graph, labels } = world;
  const known = world.known.tailsOf(head, relation);
  const indices = Array.from(reached.order(reached.best, shownAnswers));
  return {
    id,
    asked: [`(${labels[head]!}, ${graph.relationNames[relation]!}, ?)`],
    gold: [labels[answer]!],
    answers: indices.map((index) => {
      const entity = reached.entities[index]!;
      const also = entity !== answer && known.includes(entity) ? ', known' : '';
      return {
        text: verbalisePath(graph, labels, head, reached.path(index)),
        score: `${Math.exp(reached.best[index]!).toPrecision(3)}${also}`,
        right: entity === answer,
      };
    }),
    right: rank === 1,
    rank,
    // Tables rank by the best walk, and so does this card.
    lines: [
      `rank of the answer by its best walk: ${rank}${sumRank === undefined ? '' : `; by all of its walks together: ${sumRank}`}`,
    ],
    walks: indices.map((index) => namedSteps(world, head, reached.path(index))),
  };
}

/** Chains kept of each relation; relations whose chains are shown, and chains of each. */
const kept = 5;
const shownRelations = 8;
const shownChains = 3;

function summary(
  rows: readonly LinkRow[],
  { graph }: ScoredWorld,
  horizon: number,
): ReturnType<NonNullable<Scorer<never, never, LinkRow>['summary']>> {
  const chains = chainsOf(rows, graph.relationNames);
  const unseen = unseenIn(rows, graph);
  const unseenText =
    unseen.entities + unseen.relations === 0
      ? 'train has every entity and relation that is asked about'
      : `queries with what train lacks, ranked last: an entity ${unseen.entities}, a relation ${unseen.relations}`;
  // Agents that learn no walk may rank any entity.
  const walks = rows.some(({ reached }) => reached !== undefined);
  const reachable = rows.filter(({ distance }) => distance <= horizon).length / rows.length;
  return {
    details: { unseen, ...(chains.length > 0 && { chains }) },
    sections: [
      ...(chains.length > 0 ? [chainSection(chains)] : []),
      { title: 'What train lacks', lines: [unseenText] },
    ],
    ...(walks && { bounds: { mrr: reachable, ...Object.fromEntries(ks.map((k) => [`hits@${k}`, reachable])) } }),
  };
}

/**
 * The most used chains of every query relation, in the order of ids, the most used first; equal ones by their relations. A chain
 * names the relations walked, none where the walk stayed; its uses are the questions whose first answer it reached.
 */
function chainsOf(rows: readonly LinkRow[], relationNames: readonly string[]) {
  const relations = new Map<number, Map<string, { chain: readonly number[]; uses: number; right: number }>>();
  const counted = new Set<string>();
  for (const row of rows) {
    const { relation, chain, chainRight } = row;
    const question = linkMeasure.cluster(row);
    // The queries of a question share its first answer.
    if (!chain || counted.has(question)) continue;
    counted.add(question);
    let chains = relations.get(relation);
    if (!chains) relations.set(relation, (chains = new Map()));
    const key = chain.join();
    const count = chains.get(key) ?? { chain, uses: 0, right: 0 };
    count.uses++;
    if (chainRight) count.right++;
    chains.set(key, count);
  }
  const named = (id: number) => relationNames[id]!;
  return [...relations]
    .sort(([a], [b]) => a - b)
    .flatMap(([relation, chains]) =>
      [...chains.values()]
        .sort((a, b) => b.uses - a.uses || byIds(a.chain, b.chain))
        .slice(0, kept)
        .map(({ chain, uses, right }) => ({
          ...{ relation: named(relation), chain: chain.map(named), uses, right },
          precision: right / uses,
        })),
    );
}

/** Chains of relations that answered, of the relation that was asked for; `~name` asks for heads. */
export type ChainRecord = ReturnType<typeof chainsOf>[number];

function chainSection(chains: readonly ChainRecord[]): Section {
  const byRelation = Map.groupBy(chains, ({ relation }) => relation);
  const usesOf = (own: readonly ChainRecord[]) => own.reduce((sum, { uses }) => sum + uses, 0);
  const most = [...byRelation.values()].sort((a, b) => usesOf(b) - usesOf(a)).slice(0, shownRelations);
  const more = byRelation.size - most.length;
  return {
    title: 'Chains that answered',
    rows: most
      .flatMap((own) => own.slice(0, shownChains))
      .map(({ relation, chain, uses, precision }) => ({
        'asked for': relation,
        'answered by': chain.join(' → ') || '(stays)',
        uses,
        precision: precision.toFixed(3),
      })),
    lines: [
      'uses: questions whose first answer beyond train ends such a walk; precision: how many of these are right',
      ...(more > 0 ? [`… and ${more} more relations: --json has them`] : []),
    ],
  };
}

/** Queries with an entity or a relation that train lacks. */
function unseenIn(rows: readonly LinkRow[], graph: RankedWorld['graph']): { entities: number; relations: number } {
  const seen = new Uint8Array(graph.numRelations);
  for (const relation of graph.relations) seen[relation] = 1;
  const unseen = { entities: 0, relations: 0 };
  for (const { head, relation, answer } of rows) {
    if (graph.degree(head) === 0 || graph.degree(answer) === 0) unseen.entities++;
    if (seen[relation] === 0) unseen.relations++;
  }
  return unseen;
}
