/** Common parts of agents that choose relations step by step, or whole sequences. */
import type { z } from 'zod';
import type { QuestionTask } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import type { DecisionClient, DecisionKind, NamedTriple } from '../../src/llm/decision.js';
import type {
  QuestionAgent,
  QuestionAgentEntry,
  QuestionAgentResources,
  QuestionAnswer,
  QuestionSession,
} from '../question-agent.js';
import { unlessSpent } from './facts.js';
import { frontierDegree, frontierOf, onwardRelations, startWalk, type Walk } from './frontier-steps.js';
import { type HopsOf, type HopsSetting, hopSourceFor, openHops } from './hops/hops.js';
import { openPrefilter, type Prefilter, type PrefilterSettings, shareOf } from './prefilter/prefilter.js';

/** Inputs of such an agent. */
export interface WalkingParts<Settings> {
  resources: QuestionAgentResources;
  settings: Settings;
  prefilter: Prefilter;
  hopsOf: HopsOf;
}

/** One question in the course of being answered, with its counts so far: they stand, also when the budget ends early. */
export class Attempt<Parts extends WalkingParts<unknown>> {
  readonly settings: Parts['settings'];
  readonly graph: Graph;
  readonly client: DecisionClient;
  readonly start: Walk;
  graphReads = 0;
  degraded = false;
  /** Product of the shares of what was chosen; undefined from the first choice that was written. */
  confidence: number | undefined = 1;

  constructor(
    readonly task: QuestionTask,
    readonly session: QuestionSession,
    readonly parts: Parts,
  ) {
    this.settings = parts.settings;
    this.graph = parts.resources.graph;
    this.client = session.client;
    this.start = startWalk(task);
  }

  /** Fields of any decision, to spread first: the simulated model draws its errors by the order of keys. */
  about<const Kind extends DecisionKind>(kind: Kind, phase: string) {
    const evidence: readonly NamedTriple[] = [];
    return { kind, phase, questionId: this.task.id, question: this.task.question, evidence };
  }

  hops(): Promise<number | undefined> {
    return this.parts.hopsOf(this.task, this.session);
  }

  chose(share: number | undefined): void {
    this.confidence = this.confidence === undefined || share === undefined ? undefined : this.confidence * share;
  }

  /** @param explore from the topics, and says why it ended @returns the same, `no-topic` without any, or `budget` */
  async explored(explore: () => Promise<string>): Promise<string> {
    this.session.trace({ event: 'start', entities: this.start.topics });
    if (this.start.topics.length === 0) return 'no-topic';
    return (await unlessSpent(explore())) ?? 'budget';
  }

  /**
   * Relations that lead on from a walk and that the pre-filter leaves. The edges must be there: see `Graph.ensure`.
   * @returns of a single one also its share, as the pre-filter ranks; else 1
   */
  async onward(walk: Walk, isOpen: (relation: number) => boolean = () => true) {
    const { task, session, parts } = this;
    const frontier = frontierOf(walk);
    this.graphReads += frontierDegree(this.graph, frontier);
    const all = onwardRelations(this.graph, frontier, walk.excluded).filter(isOpen);
    const relations = await parts.prefilter.keep(task, walk.relations, all, session.signal);
    const sure = () => shareOf(parts.prefilter, task, walk.relations, all, relations, session.signal);
    return { relations, share: relations.length === 1 ? await sure() : 1 };
  }

  /** Records the end. @returns what all answers have in common */
  ended(stop: string): Pick<QuestionAnswer, 'degraded' | 'stop' | 'cost'> {
    this.session.trace({ event: 'stop', reason: stop });
    return { degraded: this.degraded, stop, cost: { graphReads: this.graphReads } };
  }
}

/**
 * The entry of such an agent, which is given the topic.
 * @param answering the agent's own part: called once, when it is opened, with what all of them open
 */
export const walkingAgent = <Schema extends z.ZodType<PrefilterSettings & { hops: HopsSetting }>>(
  name: string,
  settings: Schema,
  answering: (parts: WalkingParts<z.output<Schema>>) => QuestionAgent['answer'] | Promise<QuestionAgent['answer']>,
  { walksRemote = false }: Pick<QuestionAgentEntry, 'walksRemote'> = {},
): QuestionAgentEntry<Schema> => ({
  settings,
  needs: ['model', 'encoder', 'train'],
  walksRemote,
  async create(resources, chosen): Promise<QuestionAgent> {
    const prefilter = await openPrefilter(resources, chosen);
    const hopsOf = await openHops(resources, chosen.hops);
    return {
      name,
      topicGiven: true,
      hopSource: (byLikelihood) => hopSourceFor(chosen.hops, byLikelihood),
      hopAccuracy: hopsOf.accuracy,
      prompted: true,
      prepare: (tasks, signal) => prefilter.prepare(tasks, signal),
      answer: await answering({ resources, settings: chosen, prefilter, hopsOf }),
    };
  },
});
