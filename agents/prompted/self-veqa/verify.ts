/** The verifier: which of the chains, if any, answers the question. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Candidate, DecisionClient, JudgeDecision, NamedTriple } from '../../../src/llm/decision.js';
import { integratedText, plainCritique, type ExecutedChain } from './executed-chain.js';
import * as prompts from './prompts.js';

/** A question with the chains to be judged and the facts to judge them by. */
export interface VerifyQuery {
  graph: Graph;
  client: DecisionClient;
  task: QuestionTask;
  /** Chains that lead somewhere, at least one. */
  chains: readonly ExecutedChain[];
  evidence: readonly NamedTriple[];
  answersShown: number;
  final: boolean;
}

/** What the verifier made of the chains. */
export interface Verdict {
  /** The chain that answers the question, with the answers that count. */
  accepted?: ExecutedChain;
  /** For the next round. */
  critique: string;
  /** Whether the reply could be read. */
  read: boolean;
}

/** The verifier names a chain by its number, so no answer can be miscopied. */
export async function verifyByChoice(query: VerifyQuery): Promise<Verdict> {
  const { graph, client, chains } = query;
  const candidates: Candidate[] = chains.map((one) => ({
    kind: 'chain',
    relations: one.chain,
    answers: one.answers,
    text: integratedText(graph, topicOf(query), one, query.answersShown),
  }));
  const { reply } = await client.decide({
    ...judgement(query),
    task: prompts.verifyTask,
    examples: prompts.verifyExamples,
    candidates,
    withAnswers: false,
  });
  const accepted = chains[reply?.choice ?? -1];
  const critique = reply?.reason.trim() || plainCritique(graph, chains);
  return { ...(accepted && { accepted }), critique, read: reply !== undefined };
}

/**
 * The paper's verifier, which writes the answers out. One that no chain leads to is made up: such a verdict counts as a
 * rejection, and so do answers of which no single chain has all.
 */
export async function verifyByAnswers(query: VerifyQuery): Promise<Verdict> {
  const { graph, client, chains } = query;
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
  const critique = reply?.reason.trim() || plainCritique(graph, chains);
  return { ...(accepted && { accepted }), critique, read: reply !== undefined };
}

const topicOf = ({ task }: VerifyQuery) => task.topics.map(({ name }) => name).join(', ');

function judgement({
  task,
  evidence,
  final,
}: VerifyQuery): Omit<JudgeDecision, 'task' | 'examples' | 'candidates' | 'withAnswers'> {
  return {
    kind: 'judge',
    phase: 'verify',
    questionId: task.id,
    question: task.question,
    evidence,
    subjects: task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])),
    final,
  };
}
