/** A made-up town: clocks, who bought them, who repaired them; and a reader that answers decisions by fixed rules. */
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionAgentResources } from '../../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import type { QuestionAnswer, TraceEvent } from '../../../agents/question-agent.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { Decision } from '../../../src/llm/decision.js';
import { scriptedClient, type ScriptedClient } from '../../fixtures/scripted-client.js';

export type Facts = readonly (readonly [string, string, string])[];

export const townFacts: Facts = [
  ['Harbour Clock', 'purchased_by', 'Orla Brandt'],
  ['Tower Clock', 'purchased_by', 'Orla Brandt'],
  ['Blue Clock', 'purchased_by', 'Sten Holm'],
  ['Harbour Clock', 'repaired_by', 'Jon Weil'],
  ['Tower Clock', 'repaired_by', 'Mia Kop'],
  ['Tower Clock', 'repaired_by', 'Jon Weil'],
  ['Blue Clock', 'repaired_by', 'Ida Rem'],
  ['Tower Clock', 'stands_in', 'Vell'],
  ['Orla Brandt', 'lives_in', 'Skarn'],
  ['Jon Weil', 'lives_in', 'Vell'],
];

export function graphOf(facts: Facts): Graph {
  const builder = new GraphBuilder();
  for (const [head, relation, tail] of facts) builder.add(head, relation, tail);
  return builder.build('town', { addInverses: true });
}

/** Findings of the reader: clue by relation name and by `relation → entity`. */
export interface Reading {
  /** Undefined: the reply cannot be read. */
  clues: readonly string[] | undefined;
  relations?: Readonly<Record<string, string>>;
  entities?: Readonly<Record<string, string>>;
  /** Default: the tails of the facts. */
  answers?: readonly string[];
}

export const townReading: Reading = {
  clues: ['Orla Brandt', 'bought', 'repaired'],
  relations: { '~purchased_by': 'bought', repaired_by: 'repaired' },
  entities: { '~purchased_by → Harbour Clock': 'bought', '~purchased_by → Tower Clock': 'bought' },
};

export function reader({ clues, relations = {}, entities = {}, answers }: Reading) {
  return (decision: Decision): unknown => {
    if (decision.kind === 'extract') return clues && { items: [...clues] };
    if (decision.kind === 'answer') {
      return { answers: answers ?? [...new Set(decision.evidence.map(([, , tail]) => tail))] };
    }
    if (decision.kind !== 'match') throw new Error(`unexpected ${decision.kind}`);
    const clueOf = decision.phase === 'relation-map' ? relations : entities;
    const matches = decision.candidates.flatMap(({ text }, candidate) => {
      const target = decision.targets.indexOf(clueOf[text] ?? '');
      return target < 0 ? [] : [{ candidate, target, score: 9 }];
    });
    return { matches };
  };
}

export function taskOf(change: Partial<QuestionTask> = {}): QuestionTask {
  const question = 'who repaired the clocks that Orla Brandt bought';
  return { id: 'q-1', subset: 'all', question, topics: [], form: 'entities', ...change };
}

export function resourcesOf(graph: Graph): QuestionAgentResources {
  return {
    ...{ dataset: 'town', graph, names: new NameIndex(graph), seed: 7 },
    encoder: () => Promise.resolve(hashedEncoder(64)),
    train: () => [],
  };
}

export interface Asked {
  answer: QuestionAnswer;
  /** Names of `answer.entities`. */
  names: string[];
  client: ScriptedClient;
  /** Phases of the calls, in order. */
  phases: string[];
  events: TraceEvent[];
}

/** Runs FiSKE on the town, or on other facts, with the reader. */
export async function askFiske(
  reading: Reading,
  {
    facts = townFacts,
    task = {},
    budget,
    ...switches
  }: { facts?: Facts; task?: Partial<QuestionTask>; budget?: number; [name: string]: unknown } = {},
): Promise<Asked> {
  const graph = graphOf(facts);
  const agent = await questionAgents.create('fiske', resourcesOf(graph), switches);
  const client = scriptedClient(reader(reading), budget);
  const events: TraceEvent[] = [];
  const answer = await agent.answer(taskOf(task), { client, trace: (event) => events.push(event) });
  const names = answer.entities.map((entity) => graph.entityNames[entity]!);
  return { answer, names, client, phases: client.asked.map(({ phase }) => phase), events };
}

/** Options of a question about the town; all others are switches of the agent. */
export interface Ways {
  facts?: Facts;
  budget?: number;
  byLikelihood?: boolean;
  change?: Partial<QuestionTask>;
  train?: QuestionSample[];
  [name: string]: unknown;
}

/** Asks an agent about Orla Brandt's clocks; the script replies. @param given of the task, in addition to the topic */
export function townAsker(name: string, given: Partial<QuestionTask> = {}) {
  return async (
    script: (decision: Decision) => unknown,
    { facts = townFacts, budget, byLikelihood, change, train = [], ...switches }: Ways = {},
  ) => {
    const graph = graphOf(facts);
    const topics = [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt'), span: [29, 40] as const }];
    const client = scriptedClient(script, budget, byLikelihood);
    const agent = await questionAgents.create(name, { ...resourcesOf(graph), train: () => train }, switches);
    const answer = await agent.answer({ ...taskOf({ topics, ...given }), ...change }, { client, trace: () => {} });
    return {
      ...{ answer, graph, asked: client.asked, phases: client.asked.map(({ phase }) => phase) },
      names: answer.entities.map((entity) => graph.entityNames[entity]!).sort(),
    };
  };
}
