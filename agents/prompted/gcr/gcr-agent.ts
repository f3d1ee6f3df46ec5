/**
 * GCR, graph-constrained reasoning: the model names real paths out of the topics, bound to them by a grammar, and answers from them.
 *
 * Inputs: the question, its topics, the number of hops if the data set gives it. Calls: 2, 1 where answers come from the frontier.
 * At a hub it chooses among relation sequences, all of them, instead of among paths; at the level of paths it then names paths of
 * these, one call more.
 * Stop: `answered`, `frontier`, `no-path` (nothing leads anywhere: no answer, the question counts all the same), `unparsed`, `no-topic`, `budget`.
 *
 * Where the reference differs: once its trie is exhausted every token is allowed, so that paths may leave the graph; questions
 * without a path are not written and so leave the denominator; of a hub all paths stand in memory; edges are followed forward only.
 * @source Luo et al. 2025, "Graph-constrained reasoning: faithful reasoning on knowledge graphs with large language models"
 */
import { z } from 'zod';
import { choice, whole } from '../../registry.js';
import { excludedTopics, type QuestionTask } from '../../../datasets/question.js';
import { canonicalOrder, chainFrontiers, executeChain } from '../../../src/kg/frontier.js';
import type { Graph, Path } from '../../../src/kg/graph.js';
import type { Example, PathsReply } from '../../../src/llm/decision.js';
import { pathBack, type QuestionAnswer, type QuestionSession } from '../../question-agent.js';
import { unlessSpent } from '../facts.js';
import { answersSwitch, foundTopics, fromFrontier, pathBlock } from '../frontier-steps.js';
import { hopsSwitch } from '../hops/hops.js';
import { prefilterSettings } from '../prefilter/prefilter.js';
import { planAmong, type Planned } from '../rog/plans.js';
import { answerFromChains, ended } from '../rog/rog-agent.js';
import { type ChainChoice, chainChoice, chainText, executed, type ExecutedChain } from '../self-veqa/chains.js';
import { walkingAgent, type WalkingParts } from '../walking-agent.js';

const pathsTask =
  'Name the paths that lead from the entity in the question to its answer. Give the most reasonable path first.';

const pathsExamples: readonly Example<PathsReply>[] = [
  {
    question: 'who planted the trees that grow beside Mill Pond',
    candidates: [
      'Mill Pond → ~grows_beside → Old Pippin → has_fruit → apple',
      'Mill Pond → ~grows_beside → Old Pippin → planted_by → Runa Teal',
      'Mill Pond → lies_in → Vell → ruled_by → Sten Holm',
    ],
    reply: { paths: [1] },
  },
];

const gcrSettings = z.strictObject({
  beams: whole(1, 50, 10).describe('Paths that the model names.'),
  level: choice(['chain', 'path'], 'chain').describe(
    'Meaning of a named path: all ends of its relations, or the path itself (the reference).',
  ),
  hops: hopsSwitch,
  maxHops: whole(1, 4, 2).describe('Longest path where the length is not given.'),
  maxChains: whole(1, 50_000, 2000).describe('Relation sequences that are walked.'),
  maxCandidates: whole(1, 5000, 200).describe(
    'Paths that may be named: each relation sequence gives one in turn until there are so many.',
  ),
  hub: whole(1, 10_000_000, 10_000).describe(
    'Real paths beyond which relation sequences are chosen first, and paths of these alone.',
  ),
  sequences: whole(1, 20, 3).describe('Relation sequences that are chosen at a hub.'),
  maxPaths: whole(1, 1000, 60).describe('Facts of each sequence that the answer is read from.'),
  answers: answersSwitch,
  ...prefilterSettings,
});

type GcrSettings = z.output<typeof gcrSettings>;

/** The agent `gcr` with its switches. */
export const gcrEntry = walkingAgent('gcr', gcrSettings, (parts) => (task, session) => answer(task, session, parts));

type Parts = WalkingParts<GcrSettings>;

async function answer(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { resources, settings, prefilter, hopsOf } = parts;
  const { graph } = resources;
  const { trace } = session;
  const topics = foundTopics(task);
  trace({ event: 'start', entities: topics });
  if (topics.length === 0) return ended(session, 'no-topic');
  const hops = await hopsOf(task, session);
  const space = { ...settings, vocabulary: 'reachable' } as const;
  const choice = await chainChoice(graph, task, hops, [], undefined, prefilter, space, session.signal);
  if (choice.note) trace({ event: 'note', text: choice.note });
  if (choice.allowed.length === 0) return ended(session, 'no-path');
  const sequences = await sequencesOf(task, session, parts, topics, choice);
  if (typeof sequences === 'string') return ended(session, sequences, sequences === 'unparsed');
  const { chains, chosen: isChosen, confidence } = sequences;
  const answered = async (leading: readonly ExecutedChain[], sure: number | undefined) => {
    const found = await answerFromChains(task, session, { resources, settings, topics, leading });
    return { ...found, confidence: sure };
  };
  // A path would stand for its sequence, which is chosen already.
  if (isChosen && settings.level === 'chain') {
    return answered(await wholeSequences(graph, task, topics, chains), confidence);
  }
  const paths = realPaths(graph, topics, excludedTopics(task), chains, settings.maxCandidates);
  const decided = await unlessSpent(named(task, session, parts, topics, paths));
  if (!decided) return ended(session, 'budget');
  if (!decided.reply) return ended(session, 'unparsed', true);
  const chosen = (decided.reply as PathsReply).paths.map((index) => paths[index]!);
  trace({ event: 'decision', phase: 'paths', summary: decided.text });
  const relations = chosen.map((path) => path.map(([, relation]) => relation));
  const leading = settings.level === 'path' ? alone(chosen) : await wholeSequences(graph, task, topics, relations);
  return answered(leading, decided.confidence);
}

/** Sequences whose paths may be named: all, or at a hub those that the model chooses; or why there are none. */
async function sequencesOf(
  task: QuestionTask,
  { client, trace }: QuestionSession,
  { resources: { graph }, settings }: Parts,
  topics: readonly number[],
  choice: ChainChoice,
): Promise<(Planned & { chosen: boolean }) | 'budget' | 'unparsed'> {
  const chains = choice.allowed;
  const isHub =
    chains.length > settings.maxCandidates || hasMorePaths(graph, topics, excludedTopics(task), chains, settings.hub);
  if (!isHub) return { chains, chosen: false };
  const final = settings.level === 'chain' && fromFrontier(settings.answers, client);
  const planned = await planAmong(graph, task, client, choice, { count: settings.sequences, final });
  if (typeof planned === 'string') return planned;
  const summary = planned.chains.map((chain) => chainText(graph, chain)).join('; ');
  trace({ event: 'decision', phase: 'propose', summary });
  return { ...planned, chosen: true };
}

function named(
  task: QuestionTask,
  { client }: QuestionSession,
  { resources: { graph }, settings }: Parts,
  topics: readonly number[],
  allowed: readonly Path[],
) {
  return client.decide({
    ...{ kind: 'paths', phase: 'paths', questionId: task.id, question: task.question, task: pathsTask },
    ...{ examples: pathsExamples, evidence: [], subjects: topics, allowed },
    context: client.byLikelihood ? [pathBlock(graph, { topics, relations: [] })] : [],
    count: Math.min(settings.beams, allowed.length),
    entityName: (entity) => graph.entityNames[entity]!,
    relationName: (relation) => graph.relationNames[relation]!,
    final: fromFrontier(settings.answers, client),
  });
}

/** Relation sequences, each once, with where they lead as a whole. */
function wholeSequences(
  graph: Graph,
  task: QuestionTask,
  topics: readonly number[],
  chains: readonly (readonly number[])[],
): Promise<ExecutedChain[]> {
  const distinct = [...new Map(chains.map((chain) => [chain.join(), chain])).values()];
  return Promise.all(distinct.map((chain) => executed(graph, topics, chain, excludedTopics(task))));
}

/** The ends of the paths alone, by their relation sequences. */
function alone(paths: readonly Path[]): ExecutedChain[] {
  const bySequence = new Map<string, { chain: number[]; answers: number[] }>();
  for (const path of paths) {
    const chain = path.map(([, relation]) => relation);
    const one = bySequence.get(chain.join()) ?? { chain, answers: [] };
    bySequence.set(chain.join(), one);
    one.answers.push(path.at(-1)![2]);
  }
  return [...bySequence.values()];
}

/**
 * One path of each sequence in turn, then a second of each, until there are `most`: to the sequence's ends in canonical order, one
 * path an end. O(edges of the frontiers) a sequence.
 */
export function realPaths(
  graph: Graph,
  topics: readonly number[],
  excluded: readonly number[],
  chains: readonly (readonly number[])[],
  most: number,
): Path[] {
  const share = Math.max(1, Math.ceil(most / Math.max(chains.length, 1)));
  const perChain = chains.map((chain) => {
    const frontiers = chainFrontiers(graph, topics, chain, excluded);
    const ends = frontiers.length > chain.length ? canonicalOrder(frontiers.at(-1)!) : [];
    return ends.slice(0, share * 4).map((end) => pathBack(graph, frontiers, chain, end));
  });
  const longest = perChain.reduce((length, paths) => Math.max(length, paths.length), 0);
  const turns = Array.from({ length: longest }, (_, turn) => perChain.flatMap((paths) => paths.slice(turn, turn + 1)));
  return turns.flat().slice(0, most);
}

/** True when the sequences have more than `most` walks in all; counted without listing them. O(edges of the frontiers) a sequence. */
export function hasMorePaths(
  graph: Graph,
  topics: readonly number[],
  excluded: readonly number[],
  chains: readonly (readonly number[])[],
  most: number,
): boolean {
  let paths = 0;
  return chains.some((chain) => {
    for (const count of executeChain(graph, topics, chain, excluded).counts) paths += count;
    return paths > most;
  });
}
