/**
 * Self-VEQA: one role of the model proposes relation chains after solved questions like this one, the chains are executed,
 * another role says which of them answers the question or what is wrong, and its critique goes into the next round.
 *
 * Inputs: the question, its topic entities, the number of hops if the data set gives it; solved questions of train.
 * Calls: 2 a round, 1 where no chain leads anywhere; 2 to 4 with two rounds. Stop: `verified`, `unverified` (verifier
 * off), `rounds`, `exhausted` (no chain left), `no-topic`, `budget`. Output: everything that the chosen chain leads to; a statement holds
 * where it names some of that.
 *
 * Where the paper differs: chains are written freely and may not exist (here the grammar holds those that do), and the
 * verifier copies answers (`verifier: reference`; here it names a chain). What it leaves open is decided in
 * docs/decisions/prompted-agents.md.
 * @source "Self-VEQA: Self-verification enhanced question answering agent", section 3
 */
import { excludedTopics, maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { dot, type StateEncoder, textVectors, type TextVectors } from '../../../src/encoder/state-encoder.js';
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import { BudgetSpent, type NamedTriple } from '../../../src/llm/decision.js';
import {
  chainEvidence,
  type QuestionAgent,
  type QuestionAgentEntry,
  type QuestionAgentResources,
  type QuestionAnswer,
  type QuestionSession,
} from '../../question-agent.js';
import { type HopsOf, hopsTeller, openHops } from '../hops/hops.js';
import { openPrefilter, type Prefilter } from '../prefilter/prefilter.js';
import { chainMemory, type ChainMemory, trainEntries } from './chain-memory.js';
import { brokenCritique, chainChoice, chainText, executed, type ExecutedChain, mostVoted } from './chains.js';
import { propose, verifyByAnswers, verifyByChoice } from './roles.js';
import { selfVeqaSettings, type SelfVeqaSettings } from './settings.js';
import { readableRelation, similarFacts } from './sub-graph.js';

/** The agent `self-veqa` with its switches. */
export const selfVeqaEntry: QuestionAgentEntry<typeof selfVeqaSettings> = {
  settings: selfVeqaSettings,
  needs: ['model', 'encoder', 'train'],
  walksRemote: true,
  async create(resources, settings): Promise<QuestionAgent> {
    const remembers = settings.memory !== 'off';
    const encoder =
      remembers || settings.hops === 'predicted' || settings.triples > 0 ? await resources.encoder() : undefined;
    const vectors = encoder && textVectors(encoder);
    const memory =
      remembers && vectors
        ? chainMemory(vectors, trainEntries(resources.train(), settings.memoryPerChain, resources.seed))
        : undefined;
    const hopsOf = await openHops(resources, settings.hops);
    const prefilter = await openPrefilter(resources, settings);
    const parts: Parts = { resources, settings, encoder, vectors, memory, hopsOf, prefilter };
    return {
      name: 'self-veqa',
      topicGiven: true,
      hopsTold: (byLikelihood) => hopsTeller(settings.hops, byLikelihood),
      prompted: true,
      online: settings.memory === 'online',
      async prepare(tasks: readonly QuestionTask[], signal?: AbortSignal) {
        await prefilter.prepare(tasks, signal);
        await memory?.encode(signal);
        await vectors?.of(tasks.map(maskedQuestion), signal);
      },
      answer: (task, session) => answerQuestion(task, session, parts),
    };
  },
};

/** Inputs for answering one question; undefined when switched off. */
interface Parts {
  resources: QuestionAgentResources;
  settings: SelfVeqaSettings;
  /** Absent where neither memory nor facts are asked for. */
  encoder: StateEncoder | undefined;
  vectors: TextVectors | undefined;
  memory: ChainMemory | undefined;
  /** Length of the question's chain. */
  hopsOf: HopsOf;
  prefilter: Prefilter;
}

const mostEvidence = 50;

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(task: QuestionTask, session: QuestionSession, parts: Parts): Promise<QuestionAnswer> {
  const { resources, settings } = parts;
  const { graph } = resources;
  const { trace } = session;
  const topics = task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : []));
  trace({ event: 'start', entities: topics });
  const round: Rounds = { tried: [], degraded: false, graphReads: 0 };
  let stop = 'no-topic';
  let accepted: ExecutedChain | undefined;
  if (topics.length > 0) {
    try {
      ({ stop, accepted } = await runRounds(task, topics, session, parts, round));
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      stop = 'budget';
    }
  }
  trace({ event: 'stop', reason: stop });
  const chosen = accepted ?? mostVoted(round.tried);
  const { chain, answers } = chosen ?? { answers: [] };
  return {
    ...answersOf(task, graph, chosen),
    literals: [],
    ...(chain && { chain }),
    evidence: chain ? chainEvidence(graph, topics, chain, answers, mostEvidence, excludedTopics(task)) : [],
    ...(settings.verify && { verified: accepted !== undefined }),
    degraded: round.degraded,
    stop,
    ...(accepted && round.confidence !== undefined && { confidence: round.confidence }),
    cost: { graphReads: round.graphReads },
  };
}

/** Everything the chain leads to. A statement holds where it names one of these, fails where it names none. */
function answersOf(
  { form, question, topics }: QuestionTask,
  graph: Graph,
  chosen: ExecutedChain | undefined,
): Pick<QuestionAnswer, 'entities' | 'truth'> {
  if (form === 'entities' || !chosen) return { entities: chosen?.answers ?? [] };
  const masked = maskedQuestion({ question, topics });
  const said = ` ${normalizeName(masked)} `;
  return {
    entities: [],
    truth: chosen.answers.some((entity) => {
      const name = normalizeName(graph.entityNames[entity]!);
      return name !== '' && said.includes(` ${name} `);
    }),
  };
}

/** State after the rounds, also when the budget ends early. */
interface Rounds {
  tried: ExecutedChain[];
  degraded: boolean;
  graphReads: number;
  /** Confidence of the last proposal, when texts are scored. */
  confidence?: number | undefined;
}

async function runRounds(
  task: QuestionTask,
  topics: readonly number[],
  session: QuestionSession,
  { resources, settings, encoder, vectors, memory, hopsOf, prefilter }: Parts,
  rounds: Rounds,
): Promise<{ stop: string; accepted?: ExecutedChain }> {
  const { graph } = resources;
  const masked = maskedQuestion(task);
  const { client, trace, signal } = session;
  const hops = await hopsOf(task, session);
  const likeness = await relationLikeness(task, resources, vectors);
  const shots = (await memory?.select(masked, { ...settings, hops })) ?? [];
  const choice = await chainChoice(graph, task, hops, shots, vectors && likeness, prefilter, settings, signal);
  if (choice.note) trace({ event: 'note', text: choice.note });
  let facts: readonly NamedTriple[] | undefined;
  let critique: string | undefined;
  // The last call that is left may be the one that the budget keeps for the answer: nothing comes after it.
  const final = () => client.remaining < 1;

  for (let round = 1; round <= settings.rounds; round++) {
    const known = new Set(rounds.tried.map(({ chain }) => chain.join()));
    const allowed = choice.allowed.filter((chain) => !known.has(chain.join()));
    if (allowed.length === 0) return { stop: 'exhausted' };
    // A further proposal without a verdict changes nothing.
    if (round > 1 && settings.verify && client.remaining < 1) return { stop: 'budget' };
    const proposal = await propose({
      ...{ graph, client, task, allowed, shots, critique, tried: rounds.tried, final: final() },
      ...{ hops: choice.hops, vocabulary: choice.vocabulary, count: Math.min(settings.chains, allowed.length) },
    });
    if (!proposal) rounds.degraded = true;
    rounds.confidence = client.byLikelihood ? proposal?.confidence : undefined;
    const proposed = await Promise.all(
      (proposal?.chains ?? []).map((chain) => executed(graph, topics, chain, excludedTopics(task), signal)),
    );
    rounds.tried.push(...proposed);
    const leading = proposed.filter(({ answers }) => answers.length > 0);
    const summary = proposed.map(({ chain, answers }) => `${chainText(graph, chain)} (${answers.length})`).join('; ');
    trace({ event: 'decision', phase: 'propose', summary });
    if (leading.length === 0) {
      critique = brokenCritique(graph, proposed);
      continue;
    }
    if (!settings.verify) return { stop: 'unverified', accepted: leading[0]! };

    facts ??=
      encoder && settings.triples > 0
        ? await similarFacts(graph, encoder, {
            ...{ question: task.question, topics, hops: choice.hops, likeness, signal },
            ...{ triples: settings.triples, candidates: settings.tripleCandidates },
            read: (edges) => (rounds.graphReads += edges),
          })
        : [];
    const verify = settings.verifier === 'choice' ? verifyByChoice : verifyByAnswers;
    const verdict = await verify({
      ...{ graph, client, task, chains: leading, evidence: facts },
      ...{ answersShown: settings.answersShown, final: final() },
    });
    if (!verdict.read) rounds.degraded = true;
    const { accepted } = verdict;
    trace({
      event: 'decision',
      phase: 'verify',
      summary: accepted ? chainText(graph, accepted.chain) : verdict.critique,
    });
    if (accepted) {
      const entry = { masked, chain: accepted.chain, source: { kind: 'online', questionId: task.id, round } } as const;
      if (settings.memory === 'online' && memory?.add(entry)) {
        trace({ event: 'memory-write', key: masked, chain: accepted.chain });
      }
      return { stop: 'verified', accepted };
    }
    critique = verdict.critique;
  }
  return { stop: 'rounds' };
}

/** Cosine of the question and each relation's words; 0 for all without an encoder. */
async function relationLikeness(
  task: QuestionTask,
  { graph }: QuestionAgentResources,
  vectors: TextVectors | undefined,
): Promise<(relation: number) => number> {
  if (!vectors) return () => 0;
  const [question] = await vectors.of([maskedQuestion(task)]);
  const rows = await vectors.of(graph.relationNames.map(readableRelation));
  const cosines = rows.map((row) => dot(question!, row));
  // A growing graph may have new relations later.
  return (relation) => cosines[relation] ?? 0;
}
