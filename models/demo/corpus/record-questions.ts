/** Runs prompted agents over train questions, as an evaluation does, and keeps what they ask with the right replies. */
import type { QuestionAgent, QuestionAgentResources } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import { questionFacts } from '../../../evaluation/oracle/question-facts.js';
import { rightTexts } from '../../../evaluation/oracle/right-reply.js';
import { visibleTask } from '../../../evaluation/ask.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import type { ScoreRequest } from '../../../src/llm/language-model.js';
import { pickWeighted, Rng } from '../../../src/run/seeds.js';
import { throwIfStopped } from '../../../src/run/stop.js';
import { agentPlans, mostOfPhase, type AgentPlan } from './agent-plans.js';
import { forgetfulStore } from './forgetful-store.js';
import { recordingModel, type RecordedDecision, type RecordingOptions } from './recording-model.js';
import type { CorpusSource } from './draft.js';
import { teachQuestion } from './teach-question.js';
import { type CorpusWorld, moreMark } from './world.js';

/** From which seed, by which agents, and for which context. */
export interface RecordOptions extends Pick<RecordingOptions, 'contextLength' | 'countTokens'> {
  seed: number;
  plans?: readonly AgentPlan[];
  /** Scores choices as `--choices likelihood` does; default false. */
  scored?: boolean;
  signal?: AbortSignal | undefined;
}

/** A decision with what it is about. */
export type SourcedDecision = RecordedDecision & {
  source: CorpusSource;
  /** For every text of a list that is scored for the decision whether it is right. */
  rightTexts: (asked: Pick<ScoreRequest, 'meant' | 'target'>) => boolean[];
};

/** Endless; each round asks every question of one agent, drawn by the weights of the plans. */
export async function* recordedQuestions(
  world: CorpusWorld['questions'],
  options: RecordOptions,
): AsyncGenerator<SourcedDecision> {
  const { seed, plans = agentPlans, signal } = options;
  const { asked: samples } = world;
  const agents = await openAgents(world, plans, seed);
  for (let round = 0; samples.length > 0; round++) {
    const order = Rng.named(seed, 'corpus/questions', round).shuffle(Int32Array.from(samples.keys()));
    for (const index of order) {
      throwIfStopped(signal);
      const sample = samples[index]!;
      const rng = Rng.named(seed, `corpus/question/${sample.task.id}`, round);
      const plan = pickWeighted(rng, plans, ({ weight }) => weight);
      const records = await recordOne(agents.get(plan)!, sample, plan, rng, world, options);
      const source = sourceOf(sample);
      for (const record of someOf(records, rng)) yield { ...record, source };
    }
  }
}

function sourceOf({ task: { id } }: QuestionSample): CorpusSource {
  return { of: id.startsWith(moreMark) ? 'moreQuestions' : 'questions', id };
}

async function openAgents(
  { dataset, graph, names, asked, memory }: CorpusWorld['questions'],
  plans: readonly AgentPlan[],
  seed: number,
): Promise<Map<AgentPlan, QuestionAgent>> {
  const encoder = hashedEncoder(256);
  const resources: QuestionAgentResources = {
    ...{ dataset, graph, names, seed },
    encoder: () => Promise.resolve(encoder),
    train: () => memory,
  };
  const agents = new Map<AgentPlan, QuestionAgent>();
  for (const plan of plans) {
    const agent = await questionAgents.create(plan.agent, resources, plan.switches);
    await agent.prepare?.(asked.map(({ task }) => visibleTask(agent, task, true)));
    agents.set(plan, agent);
  }
  return agents;
}

async function recordOne(
  agent: QuestionAgent,
  sample: QuestionSample,
  { error }: AgentPlan,
  rng: Rng,
  { graph }: CorpusWorld['questions'],
  { contextLength, countTokens, seed, scored = false, signal }: RecordOptions,
): Promise<Omit<SourcedDecision, 'source'>[]> {
  const records: Omit<SourcedDecision, 'source'>[] = [];
  const facts = questionFacts(graph, sample);
  const model = recordingModel({
    ...{ contextLength, countTokens, teach: teachQuestion(graph, facts, rng, error, scored) },
    ...(scored && { says: (asked, reply) => rightTexts(facts, asked, reply) }),
    onRecord: (record) =>
      records.push({
        ...record,
        rightTexts: (asked) => rightTexts(facts, { decision: record.decision, ...asked }, record.right),
      }),
  });
  const choices = scored ? 'likelihood' : 'written';
  const clients = createClients({
    model,
    store: forgetfulStore(),
    budget: null,
    budgetMode: 'strict',
    seed,
    choices,
    signal,
  });
  const { client } = clients.clientFor(sample.task.id);
  await agent.answer(visibleTask(agent, sample.task, true), { client, trace: () => {}, signal });
  return records;
}

/** A few of each phase, in the order in which they were asked. */
function someOf<Recorded extends RecordedDecision>(records: readonly Recorded[], rng: Rng): Recorded[] {
  const taken = new Map<string, number>();
  const order = rng.shuffle(Int32Array.from(records.keys()));
  const chosen = order.filter((index) => {
    const { phase } = records[index]!.decision;
    const before = taken.get(phase) ?? 0;
    taken.set(phase, before + 1);
    return before < mostOfPhase(phase);
  });
  return Array.from(chosen.sort(), (index) => records[index]!);
}
