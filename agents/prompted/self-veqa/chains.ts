/** Relation chains of a question: those that exist from its topics, those that may be written, and where one leads. */
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import {
  canonicalOrder,
  entitiesOf,
  frontierRelations,
  initialFrontier,
  stepFrontier,
} from '../../../src/kg/frontier.js';
import { byIds, type Graph } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { type Prefilter, prefilterSettings } from '../prefilter/prefilter.js';
import type { MemoryEntry } from './chain-memory.js';
import { z } from 'zod';
import { choice, flag, real, whole } from '../../registry.js';
import { hopsSwitch } from '../hops/hops.js';

export const selfVeqaSettings = z.strictObject({
  chains: whole(1, 20, 3).describe('Chains proposed a round.'),
  rounds: whole(1, 10, 2).describe('Rounds of proposing and verifying.'),
  verify: flag(true).describe(
    'A second role of the model judges the chains; off: the first that leads anywhere is taken.',
  ),
  verifier: choice(['choice', 'reference'], 'choice').describe(
    'The verifier names a chain by number, or writes the answers out (as in the paper).',
  ),
  memory: choice(['off', 'frozen', 'online', 'empty'], 'frozen').describe(
    'Solved questions as examples: none, those of train, those and what was verified since, or the latter alone.',
  ),
  shots: whole(0, 40, 8).describe('Solved questions in the prompt; fewer for models of short context.'),
  shotsPerChain: whole(1, 40, 2).describe('Of those, with the same chain.'),
  shotDiversity: real(0, 1, 0.3).describe('Weight of being unlike the examples already chosen; 0 takes the nearest.'),
  memoryPerChain: z
    .int()
    .min(0)
    .default(0)
    .describe('Solved questions of train kept for one chain, drawn by seed; 0 keeps all.'),
  vocabulary: choice(['examples', 'reachable', 'all'], 'reachable').describe(
    'Relations that chains may hold: those of the examples (as in the paper), those that lead on from the topic, or all, which lets chains lead nowhere.',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 4, 3).describe('Longest chain where the length is not given.'),
  ...prefilterSettings,
  maxChains: whole(1, 100_000, 2000).describe(
    'Chains that the grammar may hold; beyond it those whose relations are most like the question.',
  ),
  triples: whole(0, 500, 50).describe('Facts that the verifier sees; 0 shows none.'),
  tripleCandidates: whole(1, 5000, 128).describe(
    'Facts around the topic that are compared with the question to find those.',
  ),
  answersShown: whole(1, 100, 10).describe('Names shown of where a chain leads.'),
});

export type SelfVeqaSettings = z.output<typeof selfVeqaSettings>;

/** Allowed chains of the proposer, and the facts in its prompt. */
export interface ChainChoice {
  /** Ascending by relation ids. */
  allowed: readonly (readonly number[])[];
  /** Relations that the prompt lists; absent where the examples speak for themselves. */
  vocabulary?: readonly number[];
  /** Longest chain. */
  hops: number;
  /** Notes on omissions. */
  note?: string;
}

/** Relations that a prompt lists at most. */
export const mostListed = 60;

/**
 * @param hops length of chains; undefined: any up to `maxHops`
 * @param likeness how well a relation suits the question; undefined: unknown; of too many the first by id are kept
 * @param prefilter chains are left whose every step it keeps; `vocabulary: all` knows no steps
 * @throws WorkbenchError `config` where `vocabulary: all` makes more chains than `maxChains`
 */
export async function chainChoice(
  graph: Graph,
  task: QuestionTask,
  hops: number | undefined,
  shots: readonly MemoryEntry[],
  likeness: ((relation: number) => number) | undefined,
  prefilter: Prefilter,
  { vocabulary, maxHops, maxChains }: Pick<SelfVeqaSettings, 'vocabulary' | 'maxHops' | 'maxChains'>,
  signal?: AbortSignal,
): Promise<ChainChoice> {
  const shortest = hops ?? 1;
  const longest = hops ?? maxHops;
  if (vocabulary === 'all') return everyChain(graph, shortest, longest, maxChains);

  const topics = task.topics.map(({ entity }) => entity);
  const excluded = excludedTopics(task);
  const suits = likeness ?? (() => 0);
  const bounds = { topics, excluded, shortest, longest, most: maxChains, likeness: suits };
  const keep = (walked: readonly number[], relations: readonly number[]) =>
    prefilter.keep(task, walked, relations, signal);
  const { chains, cut } = await reachableChains(graph, { ...bounds, keep, signal });
  const which = likeness ? `${maxChains} chains most like the question` : `first ${maxChains} chains by id`;
  const note = cut ? { note: `only the ${which} may be written` } : {};
  if (vocabulary === 'examples') {
    const shown = new Set(shots.flatMap(({ chain }) => chain));
    const known = chains.filter((chain) => chain.every((relation) => shown.has(relation)));
    // Examples that fit nothing here would leave no chain at all.
    if (known.length > 0) return { allowed: known, hops: longest, ...note };
  }
  const listed = [...new Set(chains.flat())].sort((a, b) => suits(b) - suits(a) || a - b).slice(0, mostListed);
  return { allowed: chains, vocabulary: listed, hops: longest, ...note };
}

function everyChain(graph: Graph, shortest: number, longest: number, most: number): ChainChoice {
  const relations = [...graph.relationNames.keys()];
  let count = 0;
  for (let length = shortest; length <= longest; length++) count += relations.length ** length;
  if (count > most) {
    throw new WorkbenchError('config', `expected at most maxChains = ${most} chains, got ${count} over all relations`, {
      hint: 'Raise maxChains, or use vocabulary: reachable.',
    });
  }
  return {
    allowed: allChains(relations, shortest, longest),
    vocabulary: relations.slice(0, mostListed),
    hops: longest,
  };
}

interface ChainBounds {
  topics: readonly number[];
  /** Entities that never come back. */
  excluded: readonly number[];
  shortest: number;
  longest: number;
  /** Most chains, and most prefixes of one length that are followed. */
  most: number;
  /** Relevance of a relation to the question: decides which are kept. */
  likeness: (relation: number) => number;
  /** Relations after a prefix that chains may continue with. */
  keep: (walked: readonly number[], relations: readonly number[]) => Promise<readonly number[]>;
  signal?: AbortSignal | undefined;
}

/**
 * Walks frontiers from the topics, one length after the other. O(prefixes · edges of their frontiers).
 * @returns ascending by relation ids; `cut` where some were left out for `most`
 */
async function reachableChains(graph: Graph, bounds: ChainBounds) {
  const { topics, excluded } = bounds;
  let cut = false;
  const within = <Rated extends { chain: readonly number[]; likeness: number }>(rated: Rated[]) => {
    if (rated.length <= bounds.most) return rated;
    cut = true;
    return rated.sort((a, b) => b.likeness - a.likeness || byIds(a.chain, b.chain)).slice(0, bounds.most);
  };
  let found: { chain: number[]; likeness: number }[] = [];
  let prefixes = [{ chain: [] as number[], frontier: initialFrontier(topics), likeness: 0 }];
  for (let length = 1; length <= bounds.longest; length++) {
    const rated = [];
    await graph.ensure(entitiesOf(prefixes.map(({ frontier }) => frontier)), bounds.signal);
    for (const prefix of prefixes) {
      const onward = [...frontierRelations(graph, prefix.frontier, excluded)];
      for (const relation of await bounds.keep(prefix.chain, onward)) {
        // The mean over the chain.
        const likeness = (prefix.likeness * (length - 1) + bounds.likeness(relation)) / length;
        rated.push({ prefix, relation, chain: [...prefix.chain, relation], likeness });
      }
    }
    const longer = within(rated);
    if (length >= bounds.shortest) found = [...found, ...longer];
    if (length === bounds.longest) break;
    prefixes = longer.map(({ prefix, relation, chain, likeness }) => ({
      ...{ chain, likeness },
      frontier: stepFrontier(graph, prefix.frontier, relation, excluded),
    }));
  }
  const kept = within(found).map(({ chain }) => chain);
  return { chains: kept.sort(byIds), cut };
}

/** Every sequence of the relations, whether it leads anywhere or not. */
function allChains(relations: readonly number[], shortest: number, longest: number): number[][] {
  const chains: number[][] = [];
  let prefixes: number[][] = [[]];
  for (let length = 1; length <= longest; length++) {
    prefixes = prefixes.flatMap((prefix) => relations.map((relation) => [...prefix, relation]));
    if (length >= shortest) chains.push(...prefixes);
  }
  return chains.sort(byIds);
}

/** A relation sequence with everything that it leads to. */
export interface ExecutedChain {
  chain: readonly number[];
  /** In canonical order; empty where it breaks off. */
  answers: readonly number[];
  /** Hop, from 1, that leads nowhere; absent where all lead on. */
  brokenAt?: number;
}

/** Follows a chain with whole frontiers. @param excluded entities that never come back */
export async function executed(
  graph: Graph,
  topics: readonly number[],
  chain: readonly number[],
  excluded: readonly number[],
  signal?: AbortSignal,
): Promise<ExecutedChain> {
  let frontier = initialFrontier(topics);
  for (let hop = 0; hop < chain.length; hop++) {
    await graph.ensure(frontier.entities, signal);
    frontier = stepFrontier(graph, frontier, chain[hop]!, excluded);
    if (frontier.entities.length === 0) return { chain, answers: [], brokenAt: hop + 1 };
  }
  return { chain, answers: canonicalOrder(frontier) };
}

/** `~starred_actors → directed_by`, as prompts show it. */
export function chainText(graph: Graph, chain: readonly number[]): string {
  return chain.map((relation) => graph.relationNames[relation]!).join(' → ');
}

/** The chain from its topic to its first answers and their number: the paper's integrated inference chain. */
export function integratedText(
  graph: Graph,
  topic: string,
  { chain, answers }: ExecutedChain,
  answersShown: number,
): string {
  const names = answers.slice(0, answersShown).map((entity) => graph.entityNames[entity]!);
  const more = answers.length > names.length ? '; …' : '';
  return `${topic} → ${chainText(graph, chain)} → ${names.join('; ')}${more} (${answers.length})`;
}

/** The critique that needs no call: which hop of which chain leads nowhere. */
export function brokenCritique(graph: Graph, chains: readonly ExecutedChain[]): string {
  const broken = chains.flatMap(({ chain, brokenAt }) =>
    brokenAt === undefined
      ? []
      : [`${chainText(graph, chain)} leads nowhere at ${graph.relationNames[chain[brokenAt - 1]!]!}`],
  );
  return broken.length > 0 ? `${broken.join('; ')}.` : 'No chain was given.';
}

/** The critique where the verifier gives none. */
export function plainCritique(graph: Graph, chains: readonly ExecutedChain[]): string {
  return `None of these answers the question: ${chains.map(({ chain }) => chainText(graph, chain)).join('; ')}.`;
}

/**
 * The chain to fall back on: of those that lead somewhere the one whose answers most others lead to as well, the earliest
 * of equals. Undefined where none leads anywhere.
 */
export function mostVoted(tried: readonly ExecutedChain[]): ExecutedChain | undefined {
  const votes = new Map<string, number>();
  const key = ({ answers }: ExecutedChain) => [...answers].sort((a, b) => a - b).join();
  const leading = tried.filter(({ answers }) => answers.length > 0);
  for (const one of leading) votes.set(key(one), (votes.get(key(one)) ?? 0) + 1);
  return leading.reduce<ExecutedChain | undefined>(
    (best, one) => (best && votes.get(key(best))! >= votes.get(key(one))! ? best : one),
    undefined,
  );
}
