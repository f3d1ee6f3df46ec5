/** Which chains may be written for a question, and which relations and examples the prompt shows. */
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type { MemoryEntry } from './chain-memory.js';
import { allChains, reachableChains } from './chain-space.js';
import type { SelfVeqaSettings } from './settings.js';

/** What the proposer may write, and what its prompt shows for it. */
export interface ChainChoice {
  /** Ascending by relation ids. */
  allowed: readonly (readonly number[])[];
  /** Relations that the prompt lists; absent where the examples speak for themselves. */
  vocabulary?: readonly number[];
  /** Longest chain. */
  hops: number;
  /** What was left out, in words. */
  note?: string;
}

/** Relations that a prompt lists at most. */
const mostListed = 60;

/**
 * @param hops length of chains; undefined: any up to `maxHops`
 * @param likeness how well a relation suits the question
 * @throws WorkbenchError `config` where `vocabulary: all` makes more chains than `maxChains`
 */
export function chainChoice(
  graph: Graph,
  task: QuestionTask,
  hops: number | undefined,
  shots: readonly MemoryEntry[],
  likeness: (relation: number) => number,
  { vocabulary, maxHops, maxChains }: SelfVeqaSettings,
): ChainChoice {
  const shortest = hops ?? 1;
  const longest = hops ?? maxHops;
  if (vocabulary === 'all') return everyChain(graph, shortest, longest, maxChains);

  const topics = task.topics.map(({ entity }) => entity);
  const excluded = excludedTopics(task);
  const { chains, cut } = reachableChains(graph, { topics, excluded, shortest, longest, most: maxChains, likeness });
  const note = cut ? { note: `only the ${maxChains} chains most like the question may be written` } : {};
  if (vocabulary === 'examples') {
    const shown = new Set(shots.flatMap(({ chain }) => chain));
    const known = chains.filter((chain) => chain.every((relation) => shown.has(relation)));
    // Examples that fit nothing here would leave no chain at all.
    if (known.length > 0) return { allowed: known, hops: longest, ...note };
  }
  const listed = [...new Set(chains.flat())].sort((a, b) => likeness(b) - likeness(a) || a - b).slice(0, mostListed);
  return { allowed: chains, vocabulary: listed, hops: longest, ...note };
}

function everyChain(graph: Graph, shortest: number, longest: number, most: number): ChainChoice {
  const relations = [...graph.relationNames.keys()];
  let count = 0;
  for (let length = shortest; length <= longest; length++) count += relations.length ** length;
  if (count > most) {
    throw new WorkbenchError(
      'config',
      `expected at most maxChains = ${most} chains, got ${count} with vocabulary: all`,
      {
        hint: 'Raise maxChains, or use vocabulary: reachable.',
      },
    );
  }
  return {
    allowed: allChains(relations, shortest, longest),
    vocabulary: relations.slice(0, mostListed),
    hops: longest,
  };
}
