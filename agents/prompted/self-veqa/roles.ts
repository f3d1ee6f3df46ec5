/** The two roles of the model: one proposes chains for a question, the other says which of them answers it. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Candidate, ContextBlock, DecisionClient, JudgeReply, NamedTriple } from '../../../src/llm/decision.js';
import { plainSolved } from '../../../src/llm/decisions/likelihood/plain-text.js';
import type { Attempt, WalkingParts } from '../walking-agent.js';
import type { MemoryEntry } from './chain-memory.js';
import { chainText, type ExecutedChain, integratedText, plainCritique } from './chains.js';
import * as prompts from './prompts.js';

interface ProposeQuery {
  graph: Graph;
  client: DecisionClient;
  task: QuestionTask;
  /** Length of chains; the longest where they differ. */
  hops: number;
  count: number;
  allowed: readonly (readonly number[])[];
  /** Most like the question first. */
  shots: readonly MemoryEntry[];
  /** Relations to choose from; absent: the examples speak for themselves. */
  vocabulary?: readonly number[] | undefined;
  tried: readonly ExecutedChain[];
  critique?: string | undefined;
  final: boolean;
}

interface Proposed {
  /** Distinct, most reasonable first. */
  chains: number[][];
  confidence?: number;
}

/** Undefined where the reply could not be read. */
export async function propose(query: ProposeQuery): Promise<Proposed | undefined> {
  const { graph, client, task, hops, count, allowed, shots, vocabulary, tried, critique, final } = query;
  const name = (relation: number) => graph.relationNames[relation]!;
  const blocks: ContextBlock[] = [
    // The plain form takes the topic from it.
    { label: 'Path', lines: client.byLikelihood ? [task.topics.map((topic) => topic.name).join(', ')] : [] },
    // What is scored need not be listed, and small models do worse with a list.
    { label: 'Relations', lines: vocabulary && !client.byLikelihood ? [vocabulary.map(name).sort().join(', ')] : [] },
    {
      label: 'Solved questions, the most similar last',
      // A tight token budget drops the first lines first.
      lines: shots
        .map(({ masked, chain }) =>
          client.byLikelihood
            ? plainSolved(masked, ['[E]'], chain.map(name))
            : `${masked} = ${chainText(graph, chain)}`,
        )
        .reverse(),
      role: 'history',
    },
    { label: 'Tried before, wrong', lines: tried.map(({ chain }) => chainText(graph, chain)) },
    { label: 'What was wrong', lines: critique === undefined ? [] : [critique] },
  ];
  const { reply, confidence } = await client.decide({
    kind: 'chains',
    phase: 'propose',
    questionId: task.id,
    question: task.question,
    task: prompts.proposeTask,
    examples: prompts.proposeExamples(graph.numRelations),
    evidence: [],
    context: blocks.filter(({ lines }) => lines.length > 0),
    subjects: task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])),
    hops,
    count,
    allowed,
    relationName: (relation) =>
      graph.relationNames[relation] ?? prompts.exampleRelations[relation - graph.numRelations]!,
    final,
  });
  if (!reply) return undefined;
  const chains = [...new Map(reply.chains.map((chain) => [chain.join(), chain])).values()];
  return { chains, confidence };
}

interface VerifyQuery {
  attempt: Attempt<WalkingParts<unknown>>;
  /** Chains that lead somewhere, at least one. */
  chains: readonly ExecutedChain[];
  evidence: readonly NamedTriple[];
  answersShown: number;
  final: boolean;
}

interface Verdict {
  /** The chain that answers the question, with the answers that count. */
  accepted?: ExecutedChain;
  critique: string;
}

/** The verifier names a chain by its number, so no answer can be miscopied. */
export async function verifyByChoice(query: VerifyQuery): Promise<Verdict> {
  const { chains } = query;
  const { graph, client } = query.attempt;
  const candidates: Candidate[] = chains.map((one) => ({
    kind: 'chain',
    relations: one.chain,
    answers: one.answers,
    // Names of answers would drown the chain's own words.
    text: client.byLikelihood
      ? chainText(graph, one.chain)
      : integratedText(graph, topicOf(query), one, query.answersShown),
  }));
  const { reply } = await client.decide({
    ...judgement(query),
    ...(client.byLikelihood && { context: [{ label: 'Path', lines: [topicOf(query)] }] }),
    task: prompts.verifyTask,
    examples: prompts.verifyExamples,
    candidates,
    withAnswers: false,
  });
  const accepted = chains[reply?.choice ?? -1];
  return verdictOf(query, reply, accepted);
}

/**
 * The paper's verifier, which writes the answers out. One that no chain leads to is made up: such a verdict counts as a
 * rejection, and so do answers of which no single chain has all.
 */
export async function verifyByAnswers(query: VerifyQuery): Promise<Verdict> {
  const { chains } = query;
  const { graph, client } = query.attempt;
  const { reply } = await client.decide({
    ...judgement(query),
    task: prompts.writtenTask,
    examples: prompts.writtenExamples,
    context: [
      { label: 'Chains', lines: chains.map((one) => integratedText(graph, topicOf(query), one, query.answersShown)) },
    ],
    candidates: [],
    withAnswers: true,
  });
  const named = new Set((reply?.answers ?? []).map(normalizeName));
  const sourced = chains.flatMap((one) => {
    const answers = one.answers.filter((entity) => named.has(normalizeName(graph.entityNames[entity]!)));
    const names = new Set(answers.map((entity) => normalizeName(graph.entityNames[entity]!)));
    return names.size === named.size ? [{ ...one, answers }] : [];
  });
  const accepted = reply?.choice === 0 && named.size > 0 ? sourced[0] : undefined;
  return verdictOf(query, reply, accepted);
}

/** An unreadable reply degrades the answer. */
function verdictOf({ attempt, chains }: VerifyQuery, reply?: JudgeReply, accepted?: ExecutedChain): Verdict {
  if (!reply) attempt.degraded = true;
  return { accepted, critique: reply?.reason.trim() || plainCritique(attempt.graph, chains) };
}

const topicOf = ({ attempt }: VerifyQuery) => attempt.task.topics.map(({ name }) => name).join(', ');

function judgement({ attempt, evidence, final }: VerifyQuery) {
  const subjects = attempt.task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : []));
  return { ...attempt.about('judge', 'verify'), evidence, subjects, final };
}
