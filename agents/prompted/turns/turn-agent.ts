/** Agents that answer questions, opened as agents of dialogues: every turn is a question about the entity that it starts from. */
import { z } from 'zod';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import type { DecisionClient } from '../../../src/llm/decision.js';
import type { Agent, Answer } from '../../agent.js';
import type { BaselineContext } from '../../baselines/baseline.js';
import type { QuestionAgentEntry, RankedWalk, RelationRanker } from '../../question-agent.js';
import { type AgentEntry, whole } from '../../registry.js';
import { asAnswer, type TaskClient } from '../ark/ark-agent.js';
import { answerWalks, longestWalk, turnContext, turnQuestion, turnSample } from './turn-question.js';

/** Resources of such agents. */
export interface TurnResources extends BaselineContext {
  /** The caller disposes it. */
  encoder(): Promise<StateEncoder>;
  /** Access to a language model, for agents that walk by prompt; the caller closes it. */
  taskClients(): Promise<(taskId: string) => TaskClient>;
  /** A trained walker of dialogues, to rank relations; see `QuestionAgentResources.walker`. */
  walker?(run: string): Promise<Agent>;
}

/** Switches that bound the length of walks. */
const lengths = ['depth', 'maxHops'] as const;

/** The switches, no walk of which is longer than those of dialogues. */
function boundedSwitches<Schema extends z.ZodType>(settings: Schema): Schema {
  if (!(settings instanceof z.ZodObject)) return settings;
  const { shape } = settings as z.ZodObject<Record<string, z.ZodType>>;
  const own = lengths.filter((key) => Object.hasOwn(shape, key));
  const bounded = own.map((key) => [key, whole(1, longestWalk, longestWalk).describe(shape[key]!.description ?? key)]);
  return settings.extend(Object.fromEntries(bounded) as Record<string, z.ZodType>) as unknown as Schema;
}

/**
 * The entry of a question agent on dialogues. It gets the last message as its question, the start as its topic and what was said and
 * walked before as context of every decision; its answer becomes walks of equal probability in their order.
 */
export function turnAgent({ settings, needs, required, create }: QuestionAgentEntry): AgentEntry<TurnResources, Agent> {
  return {
    ...{ needs, required, settings: settings && boundedSwitches(settings) },
    async create({ graph, train, encoder, ranking, taskClients, walker }, switches) {
      const asked = new Map<string, WalkTask>();
      const ranker = async (run: string) => turnRanker(await walker!(run), (id) => asked.get(id)!);
      const agent = await create(
        {
          ...{ dataset: 'dialogues', graph, names: new NameIndex(graph), encoder, seed: ranking.seed ?? 0 },
          ...(walker && { walker: ranker }),
          train: () => train.map((sample) => turnSample(graph, sample)),
        },
        switches,
      );
      const clientFor = await taskClients();
      return {
        name: agent.name,
        note: [...(agent.note === undefined ? [] : [agent.note]), 'given the turn as walkers are'].join('; '),
        async answer(tasks, onProgress) {
          const questions = tasks.map(turnQuestion);
          await agent.prepare?.(questions);
          const answers: Answer[] = [];
          for (const [place, task] of tasks.entries()) {
            asked.set(task.id, task);
            const { client, cost } = clientFor(task.id);
            const context = turnContext(graph, task);
            const session = { client: withContext(client, context), trace() {} };
            const question = questions[place]!;
            const found = await agent.answer(agent.topicGiven ? question : { ...question, topics: [] }, session);
            const walks = answerWalks(graph, task.start, found, ranking.beamWidth);
            const { confidence } = found;
            answers.push({
              ...asAnswer(walks, { ...found.cost, ...cost() }),
              ...(confidence !== undefined && { confidence }),
            });
            asked.delete(task.id);
            onProgress?.(answers.length);
          }
          return answers;
        },
      };
    },
  };
}

/** The client, whose decisions all begin with this context. */
function withContext(client: DecisionClient, before: NonNullable<Parameters<DecisionClient['decide']>[0]['context']>) {
  if (before.length === 0) return client;
  return {
    get remaining() {
      return client.remaining;
    },
    byLikelihood: client.byLikelihood,
    decide: (decision) => client.decide({ ...decision, context: [...before, ...(decision.context ?? [])] }),
  } satisfies DecisionClient as DecisionClient;
}

/** Relations as a walker of dialogues ranks them: by the probabilities of the walks of its beam. */
function turnRanker(agent: Agent, taskOf: (id: string) => WalkTask): RelationRanker {
  let last: { id: string; walks: Promise<RankedWalk[]> } | undefined;
  const walksOf = async (task: WalkTask): Promise<RankedWalk[]> => {
    const [answer] = await agent.answer([task]);
    const sums = new Map<string, { relations: number[]; probability: number }>();
    for (const { path, logProb } of answer!.paths) {
      const relations = path.map(([, relation]) => relation);
      const sum = sums.get(relations.join()) ?? { relations, probability: 0 };
      if (relations.length > 0) sums.set(relations.join(), sum);
      sum.probability += Math.exp(logProb);
    }
    return [...sums.values()].sort((a, b) => b.probability - a.probability);
  };
  const known = (id: string) => {
    if (last?.id !== id) last = { id, walks: walksOf(taskOf(id)) };
    return last.walks;
  };
  return {
    prepare: () => Promise.resolve(),
    async shares({ id }, walked, relations) {
      const shares = new Float64Array(relations.length);
      for (const walk of await known(id)) {
        const place = walked.every((one, hop) => walk.relations[hop] === one)
          ? relations.indexOf(walk.relations[walked.length] ?? -1)
          : -1;
        if (place >= 0) shares[place]! += walk.probability;
      }
      const sum = shares.reduce((all, share) => all + share, 0);
      return sum > 0 ? shares.map((share) => share / sum) : undefined;
    },
    async walks({ id }, count, hops) {
      const walks = await known(id);
      return walks.filter(({ relations }) => hops === undefined || relations.length === hops).slice(0, count);
    },
  };
}
