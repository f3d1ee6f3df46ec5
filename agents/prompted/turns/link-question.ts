/** Agents that answer questions, opened as rankers of link queries: (head, relation, ?) is asked as a sentence. */
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { type Graph, inversePrefix } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import type { LinkRanker } from '../../link-ranker.js';
import type { QuestionAgentEntry } from '../../question-agent.js';
import type { AgentEntry } from '../../registry.js';
import type { TaskClient } from '../ark/ark-agent.js';
import { readableRelation } from '../self-veqa/sub-graph.js';

/** Resources of such rankers. */
export interface LinkQuestionResources {
  dataset: string;
  /** Edges of train and their inverses, with names. */
  named: Graph;
  /** Display name of each entity. */
  labels: readonly string[];
  seed: number;
  encoder(): Promise<StateEncoder>;
  taskClients(): (taskId: string) => TaskClient;
}

/** Identifies the question of all triples that share head and relation. */
export const linkQuestionId = (head: number, relation: number): string => `link/${head}/${relation}`;

/** `What is the RELATION of HEAD?`; of an inverse relation `What has HEAD as its RELATION?`. An answer may be the head itself. */
export function linkQuestion(graph: Graph, labels: readonly string[], head: number, relation: number): QuestionTask {
  const [relationName, label] = [graph.relationNames[relation]!, labels[head]!];
  const words = readableRelation(relationName) || relationName;
  const before = relationName.startsWith(inversePrefix) ? 'What has ' : `What is the ${words} of `;
  const after = relationName.startsWith(inversePrefix) ? ` as its ${words}?` : '?';
  const span = [before.length, before.length + label.length] as const;
  return {
    ...{ id: linkQuestionId(head, relation), subset: 'links', question: before + label + after, form: 'entities' },
    topics: [{ name: graph.entityNames[head]!, entity: head, span }],
    topicsReturn: true,
  };
}

/** The questions of some queries with their answers, for a simulated model: no chain is known. */
export function linkQuestionSamples(
  graph: Graph,
  labels: readonly string[],
  queries: readonly { head: number; relation: number; answer: number }[],
): QuestionSample[] {
  const grouped = Map.groupBy(queries, ({ head, relation }) => linkQuestionId(head, relation));
  return [...grouped.values()].map((same) => {
    const { head, relation } = same[0]!;
    const answers = [...new Set(same.map(({ answer }) => answer))].map((entity) => {
      return { name: graph.entityNames[entity]!, aliases: [labels[entity]!], entity };
    });
    return { task: linkQuestion(graph, labels, head, relation), gold: { answers, chains: [] } };
  });
}

/** The entry of a question agent on link queries: its answers in their order, all other entities tied behind them. It has no solved questions. */
export function linkQuestionAgent({
  settings,
  required,
  create,
}: QuestionAgentEntry): AgentEntry<LinkQuestionResources, { ranker: LinkRanker; agent: string; note: string }> {
  return {
    ...{ needs: ['model', 'encoder'], required, settings },
    async create({ dataset, named: graph, labels, seed, encoder, taskClients }, switches) {
      const aliases = new Map([...labels.entries()].map(([entity, label]) => [entity, [label]]));
      const resources = { dataset, graph, names: new NameIndex(graph, aliases), seed, encoder, train: () => [] };
      const agent = await create(resources, switches);
      const clientFor = taskClients();
      const scores = new Float64Array(graph.numEntities);
      const ranker: LinkRanker = {
        name: agent.name,
        rankings: ['score'],
        batchSize: 1,
        async rank(questions, take) {
          for (const [i, { head, relation }] of questions.entries()) {
            const task = linkQuestion(graph, labels, head, relation);
            await agent.prepare?.([task]);
            const { client, cost } = clientFor(task.id);
            const visible = agent.topicGiven ? task : { ...task, topics: [] };
            const { entities, chain, cost: own } = await agent.answer(visible, { client, trace() {} });
            scores.fill(-Infinity);
            entities.forEach((entity, place) => (scores[entity] = -place));
            take(i, { scores: [scores], ...(chain && { chainTo: () => chain }), cost: { ...own, ...cost() } });
          }
        },
      };
      return { ranker, agent: agent.name, note: 'asked by a sentence; answers ranked, others tied behind' };
    },
  };
}
