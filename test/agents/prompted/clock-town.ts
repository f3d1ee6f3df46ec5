/** A made-up town: clocks, who bought them, who repaired them; and a reader that answers decisions by fixed rules. */
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionAgent, QuestionAgentResources, TraceEvent } from '../../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import type { Decision } from '../../../src/llm/decision.js';
import { scriptedClient } from '../../fixtures/scripted-client.js';

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

function reader({ clues, relations = {}, entities = {}, answers }: Reading) {
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

const good = ['~purchased_by', 'purchased_by', 'repaired_by', 'Harbour Clock', 'Tower Clock', 'Jon Weil', 'Mia Kop'];

export const paraphrases = [
  'by whom were the clocks of Orla Brandt mended',
  'Orla Brandt bought clocks that who repaired',
];
export const parts = ['Orla Brandt bought clocks', 'somebody repaired the clocks'];
const texts = {
  paraphrase: paraphrases,
  'sub-question': parts,
  'sub-objective': ['find the clocks', 'find who repaired them'],
  memory: ['the clocks are known'],
  plan: [],
};

/** Chooses what leads to the answer, is content with a path to it, and reads the last tails off the facts; comes back to nothing. */
export function wise(decision: Decision): unknown {
  const repairers = () => [
    ...new Set(decision.evidence.filter(([, relation]) => relation === 'repaired_by').map(([, , tail]) => tail)),
  ];
  switch (decision.kind) {
    case 'rewrite':
      return { texts: texts[decision.about] };
    case 'choose-one':
      return chooses(decision, ...good);
    case 'choose-many':
      if (decision.phase === 'reflect') return { choices: [] };
      return { choices: [...decision.candidates.keys()].filter((i) => good.includes(decision.candidates[i]!.text)) };
    case 'score':
      return { scores: decision.candidates.map(({ text }) => (good.includes(text) ? 10 : 1)) };
    case 'judge': {
      const found = decision.candidates.findIndex(({ text }) => /repaired_by(?: \(\d+\))?$/.test(text));
      const choice = decision.candidates.length === 0 && repairers().length > 0 ? 0 : found;
      return { choice, reason: '', answers: choice >= 0 && decision.withAnswers ? repairers() : [] };
    }
    default:
      return { answers: repairers() };
  }
}

/** The first candidate with one of the texts; the first of all where none has. */
export function chooses(decision: Decision, ...some: string[]): { choice: number } {
  const { candidates } = decision as Extract<Decision, { kind: 'choose-one' }>;
  const choice = candidates.findIndex(({ text }) => some.includes(text));
  return { choice: Math.max(0, choice) };
}

/** A statement on who repaired a clock of the topic. */
export const claimOf = (name: string): Partial<QuestionTask> => ({
  question: `true or false: ${name} repaired a clock that Orla Brandt bought`,
  topics: [{ name: 'Orla Brandt', entity: graphOf(townFacts).entityId('Orla Brandt') }],
  form: 'truth',
});

/** Options of a question about the town; all others are switches of the agent. */
export interface Ways {
  facts?: Facts;
  budget?: number;
  byLikelihood?: boolean;
  change?: Partial<QuestionTask>;
  train?: readonly QuestionSample[];
  /** Made before, to be asked again. */
  agent?: QuestionAgent;
  resources?: Partial<QuestionAgentResources>;
  [name: string]: unknown;
}

/** Asks an agent about Orla Brandt's clocks; the script replies. @param about of the task, in addition to the topic */
export function townAsker(name: string, about: Partial<QuestionTask> = {}) {
  return async (
    script: (decision: Decision) => unknown,
    { facts = townFacts, budget, byLikelihood, change, train = [], agent: known, resources, ...switches }: Ways = {},
  ) => {
    const graph = graphOf(facts);
    const topics = [{ name: 'Orla Brandt', entity: graph.entityId('Orla Brandt'), span: [29, 40] as const }];
    const client = scriptedClient(script, budget, byLikelihood);
    const given = { ...resourcesOf(graph), train: () => train, ...resources };
    const agent = known ?? (await questionAgents.create(name, given, switches));
    const events: TraceEvent[] = [];
    const session = { client, trace: (event: TraceEvent) => void events.push(event) };
    const answer = await agent.answer({ ...taskOf({ topics, ...about }), ...change }, session);
    return {
      ...{ agent, answer, graph, client, events, asked: client.asked, phases: client.asked.map(({ phase }) => phase) },
      names: answer.entities.map((entity) => graph.entityNames[entity]!).sort(),
    };
  };
}

/** Runs FiSKE on the town, or on other facts, with the reader. */
export async function askFiske(reading: Reading, { task, ...ways }: Ways & { task?: Partial<QuestionTask> } = {}) {
  const asked = await townAsker('fiske', { topics: [] })(reader(reading), { ...ways, change: task });
  return { ...asked, names: asked.answer.entities.map((entity) => asked.graph.entityNames[entity]!) };
}
