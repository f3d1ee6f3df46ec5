/**
 * Self-VEQA: one role of the model proposes relation chains after solved questions like this one, the chains are executed, another role
 * says which of them answers the question or what is wrong, and its critique goes into the next round.
 *
 * Inputs: the question, its topic entities, the number of hops if the data set gives it; solved questions of train. Calls: 2 a round, 1
 * where no chain leads anywhere; 2 to 4 with two rounds. Stop: `verified`, `unverified` (verifier off), `rounds`, `exhausted` (no chain
 * left), `no-topic`, `budget`. Output: everything that the chosen chain leads to; a statement holds where it names some of that.
 *
 * Where the paper differs: chains are written freely and may not exist (here the grammar holds those that do), and the verifier copies
 * answers (`verifier: reference`; here it names a chain). What it leaves open is decided in docs/decisions/prompted-agents.md.
 * @source "Self-VEQA: Self-verification enhanced question answering agent", section 3
 */
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { dot, type StateEncoder, textVectors, type TextVectors } from '../../../src/encoder/state-encoder.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { NamedTriple } from '../../../src/llm/decision.js';
import {
  chainEvidence,
  type QuestionAgent,
  type QuestionAgentEntry,
  type QuestionAnswer,
} from '../../question-agent.js';
import { frontierAnswers } from '../frontier-steps.js';
import { hopSourceFor, openHops } from '../hops/hops.js';
import { openPrefilter } from '../prefilter/prefilter.js';
import { Attempt, type WalkingParts } from '../walking-agent.js';
import { chainMemory, type ChainMemory, trainEntries } from './chain-memory.js';
import { brokenCritique, chainChoice, chainText, executed, type ExecutedChain, mostVoted } from './chains.js';
import { propose, verifyByAnswers, verifyByChoice } from './roles.js';
import { selfVeqaSettings, type SelfVeqaSettings } from './chains.js';
import { readableRelation, similarFacts } from './sub-graph.js';

/** The agent `self-veqa` with its switches. */
export const selfVeqaEntry: QuestionAgentEntry<typeof selfVeqaSettings> = {
  settings: selfVeqaSettings,
  needs: ['model', 'encoder', 'train'],
  walksRemote: true,
  async create(resources, settings): Promise<QuestionAgent> {
    const remembers = settings.memory !== 'off';
    const first = () =>
      settings.memory === 'empty' ? [] : trainEntries(resources.train(), settings.memoryPerChain, resources.seed);
    const encoder =
      remembers || settings.hops === 'predicted' || settings.triples > 0 ? await resources.encoder() : undefined;
    const vectors = encoder && textVectors(encoder);
    const memory = remembers && vectors ? chainMemory(vectors, first()) : undefined;
    const hopsOf = await openHops(resources, settings.hops);
    const prefilter = await openPrefilter(resources, settings);
    const parts = { resources, settings, encoder, vectors, memory, hopsOf, prefilter };
    return {
      name: 'self-veqa',
      topicGiven: true,
      hopSource: (byLikelihood) => hopSourceFor(settings.hops, byLikelihood),
      hopAccuracy: hopsOf.accuracy,
      prompted: true,
      online: learns(settings),
      async prepare(tasks: readonly QuestionTask[], signal?: AbortSignal) {
        await prefilter.prepare(tasks, signal);
        await memory?.encode(signal);
        await vectors?.of(tasks.map(maskedQuestion), signal);
      },
      answer: (task, session) => answerQuestion(new SelfVeqaAttempt(task, session, parts)),
    };
  },
};

const learns = ({ memory }: SelfVeqaSettings) => memory === 'online' || memory === 'empty';

/** Inputs of the agent; undefined when switched off. */
interface Parts extends WalkingParts<SelfVeqaSettings> {
  encoder: StateEncoder | undefined;
  vectors: TextVectors | undefined;
  memory: ChainMemory | undefined;
}

/** A question with the chains that were tried; its confidence is that of the last proposal, when texts are scored. */
class SelfVeqaAttempt extends Attempt<Parts> {
  tried: ExecutedChain[] = [];
  accepted?: ExecutedChain;
}

const mostEvidence = 50;

/** @throws what the client throws, save `BudgetSpent` */
async function answerQuestion(attempt: SelfVeqaAttempt): Promise<QuestionAnswer> {
  const { task, graph, settings, start } = attempt;
  const stop = await attempt.explored(() => runRounds(attempt));
  const { accepted, confidence } = attempt;
  const { chain, answers } = accepted ?? mostVoted(attempt.tried) ?? { answers: [] };
  return {
    ...frontierAnswers(graph, task, answers),
    chain,
    evidence: chain ? chainEvidence(graph, start.topics, chain, answers, mostEvidence, start.excluded) : [],
    verified: settings.verify ? accepted !== undefined : undefined,
    confidence: accepted && confidence,
    ...attempt.ended(stop),
  };
}

async function runRounds(attempt: SelfVeqaAttempt): Promise<string> {
  const { task, graph, client, session, settings, start, tried } = attempt;
  const { encoder, vectors, memory, prefilter } = attempt.parts;
  const { topics, excluded } = start;
  const masked = maskedQuestion(task);
  const { trace, signal } = session;
  const hops = await attempt.hops();
  const likeness = await relationLikeness(task, graph, vectors);
  const shots = (await memory?.select(masked, { ...settings, hops })) ?? [];
  const choice = await chainChoice(graph, task, hops, shots, vectors && likeness, prefilter, settings, signal);
  if (choice.note) trace({ event: 'note', text: choice.note });
  let facts: readonly NamedTriple[] | undefined;
  let critique: string | undefined;
  // The last call that is left may be the one that the budget keeps for the answer: nothing comes after it.
  const final = () => client.remaining < 1;

  for (let round = 1; round <= settings.rounds; round++) {
    const known = new Set(tried.map(({ chain }) => chain.join()));
    const allowed = choice.allowed.filter((chain) => !known.has(chain.join()));
    if (allowed.length === 0) return 'exhausted';
    // A further proposal without a verdict changes nothing.
    if (round > 1 && settings.verify && client.remaining < 1) return 'budget';
    const proposal = await propose({
      ...{ graph, client, task, allowed, shots, critique, tried, final: final() },
      ...{ hops: choice.hops, vocabulary: choice.vocabulary, count: Math.min(settings.chains, allowed.length) },
    });
    if (!proposal) attempt.degraded = true;
    attempt.confidence = client.byLikelihood ? proposal?.confidence : undefined;
    const proposed = await Promise.all(
      (proposal?.chains ?? []).map((chain) => executed(graph, topics, chain, excluded, signal)),
    );
    tried.push(...proposed);
    const leading = proposed.filter(({ answers }) => answers.length > 0);
    const summary = proposed.map(({ chain, answers }) => `${chainText(graph, chain)} (${answers.length})`).join('; ');
    trace({ event: 'decision', phase: 'propose', summary });
    if (leading.length === 0) {
      critique = brokenCritique(graph, proposed);
      continue;
    }
    if (!settings.verify) {
      attempt.accepted = leading[0]!;
      return 'unverified';
    }

    facts ??=
      encoder && settings.triples > 0
        ? await similarFacts(graph, encoder, {
            ...{ question: task.question, topics, hops: choice.hops, likeness, signal },
            ...{ triples: settings.triples, candidates: settings.tripleCandidates },
            read: (edges) => (attempt.graphReads += edges),
          })
        : [];
    const verify = settings.verifier === 'choice' ? verifyByChoice : verifyByAnswers;
    const { answersShown } = settings;
    const verdict = await verify({ attempt, chains: leading, evidence: facts, answersShown, final: final() });
    const { accepted } = verdict;
    const said = accepted ? chainText(graph, accepted.chain) : verdict.critique;
    trace({ event: 'decision', phase: 'verify', summary: said });
    if (accepted) {
      attempt.accepted = accepted;
      const entry = { masked, chain: accepted.chain, source: { kind: 'online', questionId: task.id, round } } as const;
      if (learns(settings) && memory?.add(entry)) {
        trace({ event: 'memory-write', key: masked, chain: accepted.chain });
      }
      return 'verified';
    }
    critique = verdict.critique;
  }
  return 'rounds';
}

/** Cosine of the question and each relation's words; 0 for all without an encoder. */
async function relationLikeness(
  task: QuestionTask,
  graph: Graph,
  vectors: TextVectors | undefined,
): Promise<(relation: number) => number> {
  if (!vectors) return () => 0;
  const [question] = await vectors.of([maskedQuestion(task)]);
  const rows = await vectors.of(graph.relationNames.map(readableRelation));
  const cosines = rows.map((row) => dot(question!, row));
  // A growing graph may have new relations later.
  return (relation) => cosines[relation] ?? 0;
}
