/** The QA role: chains for a question, out of those that may be written. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { ContextBlock, DecisionClient } from '../../../src/llm/decision.js';
import type { MemoryEntry } from './chain-memory.js';
import { chainText, type ExecutedChain } from './executed-chain.js';
import { exampleRelations, proposeExamples, proposeTask } from './prompts.js';

/** A question with the chains that may be written for it and what earlier rounds found. */
export interface ProposeQuery {
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

/** Distinct chains, most reasonable first. Undefined where the reply could not be read. */
export async function propose(query: ProposeQuery): Promise<number[][] | undefined> {
  const { graph, client, task, hops, count, allowed, shots, vocabulary, tried, critique, final } = query;
  const name = (relation: number) => graph.relationNames[relation]!;
  const blocks: ContextBlock[] = [
    { label: 'Relations', lines: vocabulary ? [vocabulary.map(name).sort().join(', ')] : [] },
    {
      label: 'Solved questions, the most similar last',
      // A tight token budget drops the first lines first.
      lines: shots.map(({ masked, chain }) => `${masked} = ${chainText(graph, chain)}`).reverse(),
      role: 'history',
    },
    { label: 'Tried before, wrong', lines: tried.map(({ chain }) => chainText(graph, chain)) },
    { label: 'What was wrong', lines: critique === undefined ? [] : [critique] },
  ];
  const { reply } = await client.decide({
    kind: 'chains',
    phase: 'propose',
    questionId: task.id,
    question: task.question,
    task: proposeTask,
    examples: proposeExamples(graph.numRelations),
    evidence: [],
    context: blocks.filter(({ lines }) => lines.length > 0),
    subjects: task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])),
    hops,
    count,
    allowed,
    relationName: (relation) => graph.relationNames[relation] ?? exampleRelations[relation - graph.numRelations]!,
    final,
  });
  return reply && [...new Map(reply.chains.map((chain) => [chain.join(), chain])).values()];
}
