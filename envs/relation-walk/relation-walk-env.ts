/** `kgwalk/RelationWalk-v1`: answer a question by the relations to take from its topics, all their ends at once. */
import { excludedTopics, type QuestionSample, type QuestionTask, type Topic } from '../../datasets/question.js';
import type { Frontier } from '../../src/kg/frontier.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import {
  chosenSample,
  type Env,
  InvalidAction,
  ResetNeeded,
  type ResetOptions,
  type ResetResult,
  type StepResult,
} from '../env.js';
import { type FrontierNode, frontierTrie, type FrontierTrie } from './frontier-trie.js';
import {
  answerReward,
  applyRelation,
  defaultRelationRules,
  goldSet,
  type GoldSet,
  initialRelationState,
  relationActionMask,
  type RelationWalkRules,
  type RelationWalkState,
  scoreFrontier,
} from './rules.js';
import type { RelationWalkSettings } from '../settings.js';
import { dict, discrete, ids, multiBinary, type Space } from '../spaces.js';

/** Options of `makeEnv('kgwalk/RelationWalk-v1', …)`. */
export interface RelationWalkOptions {
  graph: Graph;
  /** At least one must have a walkable topic. */
  samples: readonly QuestionSample[];
  /** Default: three relations, learned STOP. */
  rules?: RelationWalkRules;
  /** Default `f1`. */
  reward?: RelationWalkSettings['reward'];
  /** Frontiers, shared with other walkers of the graph. Default: a separate cache of 256 MiB. */
  frontiers?: FrontierTrie;
}

/** Observation: the task, never the gold. The arrays must not be written to. */
export interface RelationWalkObservation {
  task: QuestionTask;
  /** int32: topics that the graph has. */
  topics: Int32Array;
  /** int32 [size], ascending: the current frontier. */
  entities: Int32Array;
  /** float64 [size]: relation paths that lead to each. */
  counts: Float64Array;
  /** int32 [step]: relations walked. */
  relations: Int32Array;
  /** Relations walked, 0 before the first. */
  step: number;
  /** uint8 [numRelations + 1]: relations, then STOP. All zero once the walk is over. */
  actionMask: Uint8Array;
}

/** Shared by all copies of an environment, made once. */
export interface RelationWalkWorld extends Required<RelationWalkOptions> {
  /** int32: the samples that a seeded reset draws from: questions for entities whose topics have a legal action. */
  walkable: Int32Array;
  golds(sample: number): GoldSet;
  actionSpace: Space<number>;
  observationSpace: Space<RelationWalkObservation>;
}

/** @throws WorkbenchError `data` when no sample can be walked */
export function relationWalkWorld(options: RelationWalkOptions): RelationWalkWorld {
  const { graph, samples, rules = defaultRelationRules, reward = 'f1', frontiers = frontierTrie(graph) } = options;
  // Not through the shared frontiers: what is checked once need not be remembered.
  const probe = frontierTrie(graph, 0);
  const walkable = Int32Array.from(samples.keys()).filter((index) => {
    const { task } = samples[index]!;
    return task.form === 'entities' && !initialRelationState(questionRoot(probe, task), rules).done;
  });
  if (walkable.length === 0) {
    const message = `expected a question whose topic has edges, got none, at ${samples.length} questions`;
    throw new WorkbenchError('data', message, { hint: `Use questions that fit the graph "${graph.name}".` });
  }
  const golds = new Map<number, GoldSet>();
  return {
    ...{ graph, samples, rules, reward, frontiers, walkable },
    golds(sample) {
      let gold = golds.get(sample);
      if (!gold) golds.set(sample, (gold = goldSet(samples[sample]!.gold)));
      return gold;
    },
    actionSpace: discrete(graph.numRelations + 1),
    observationSpace: observationSpace(graph, rules),
  };
}

/** Initial state of the walk over a question's relations, with the question's own rule for entities that never return. */
export function questionRoot(
  frontiers: FrontierTrie,
  task: Pick<QuestionTask, 'topics' | 'topicsReturn'>,
): FrontierNode {
  const topics = task.topics.map(({ entity }) => entity);
  return frontiers.root(topics, excludedTopics(task));
}

function observationSpace(graph: Graph, { horizon }: RelationWalkRules): Space<RelationWalkObservation> {
  const entities = ids(graph.numEntities, graph.numEntities);
  return dict<RelationWalkObservation>({
    task: taskSpace(graph),
    topics: entities,
    entities,
    counts: {
      contains: (value): value is Float64Array => value instanceof Float64Array && value.every((count) => count > 0),
      sample: (rng) => Float64Array.from({ length: rng.integer(4) }, () => 1 + rng.integer(3)),
    },
    relations: ids(graph.numRelations, horizon),
    step: discrete(horizon + 1),
    actionMask: multiBinary(graph.numRelations + 1),
  });
}

/** Questions with entity answers, as given to agents. */
function taskSpace(graph: Graph): Space<QuestionTask> {
  const isTopic = (topic: Topic) => typeof topic.name === 'string' && topic.entity < graph.numEntities;
  return {
    contains: (value): value is QuestionTask => {
      const { id, question, topics } = (value ?? {}) as Partial<QuestionTask>;
      return typeof id === 'string' && typeof question === 'string' && Array.isArray(topics) && topics.every(isTopic);
    },
    sample: (rng) => {
      const entity = rng.integer(graph.numEntities);
      const topics = [{ name: graph.entityNames[entity]!, entity }];
      return { id: rng.uint32().toString(36), subset: 'sampled', question: 'what is it', topics, form: 'entities' };
    },
  };
}

/** Id of the environment that walks whole frontiers over relations. */
export const relationWalkId = 'kgwalk/RelationWalk-v1';

/**
 * ## Action space
 * `discrete(numRelations + 1)`: relation ids, direction-qualified, then STOP. `actionMask` allows the relations that lead
 * from the frontier to something that may be reached, and STOP from the second step on.
 * ## Observation space
 * `RelationWalkObservation`: the task, the frontier with path counts, the relations walked and the mask.
 * ## Rewards
 * At the end the F1 of the frontier against the answers (`exact`: 1 for the exact set; `hit`: 1 where its first entity in
 * canonical order is right), before it 0. Answers that the graph lacks count as missed. No gold chain is needed.
 * ## Starting state
 * `options.sample`, or a question with a walkable topic drawn from the seed; the frontier is its topics, which never come
 * back, unless the task says so (`topicsReturn`). A question whose topics have no edges can be asked for: nothing is
 * legal, `info.done` is true, no step can be taken.
 * ## Episode end
 * Terminated by STOP and after `horizon` relations (the step is part of the state, so nothing is left to bootstrap). Never
 * truncated. `info` then holds `f1`, `exact` (0 or 1) and `hit`.
 * ## Version history
 * v1: first version.
 */
export class RelationWalkEnv implements Env<RelationWalkObservation> {
  readonly spec;
  readonly actionSpace;
  readonly observationSpace;
  readonly #world: RelationWalkWorld;
  #rng = Rng.named(0, 'env');
  #sampleIndex = -1;
  #state: RelationWalkState | undefined;

  constructor(world: RelationWalkWorld) {
    this.#world = world;
    // The last relation ends the walk, so STOP adds no step.
    this.spec = { id: relationWalkId, maxSteps: world.rules.horizon };
    this.actionSpace = world.actionSpace;
    this.observationSpace = world.observationSpace;
  }

  reset({ seed, options }: ResetOptions = {}): ResetResult<RelationWalkObservation> {
    const { samples, rules, walkable, frontiers } = this.#world;
    if (seed !== undefined) this.#rng = Rng.named(seed, 'env');
    const draw = () => walkable[this.#rng.integer(walkable.length)]!;
    this.#sampleIndex = chosenSample(options?.sample, samples.length, draw);
    const { task } = samples[this.#sampleIndex]!;
    this.#state = initialRelationState(questionRoot(frontiers, task), rules, task.hops);
    return { observation: this.#observe(this.#state), info: { sample: this.#sampleIndex, done: this.#state.done } };
  }

  step(action: number): StepResult<RelationWalkObservation> {
    const state = this.#state;
    if (!state || state.done) throw new ResetNeeded(relationWalkId);
    if (relationActionMask(state)[action] !== 1) {
      throw new InvalidAction(relationWalkId, action, 'a relation that leaves the frontier, or STOP behind the first');
    }
    const next = applyRelation(state, action);
    this.#state = next;
    const info: Record<string, unknown> = { sample: this.#sampleIndex, done: next.done };
    let reward = 0;
    if (next.done) {
      const scores = scoreFrontier(next.node.frontier, this.#world.golds(this.#sampleIndex));
      reward = answerReward(this.#world.reward, scores);
      Object.assign(info, { f1: scores.f1, exact: scores.exact, hit: scores.hit === 1 });
    }
    return { observation: this.#observe(next), reward, terminated: next.done, truncated: false, info };
  }

  render(): string {
    if (!this.#state) throw new ResetNeeded(relationWalkId);
    const { graph, samples } = this.#world;
    const { task } = samples[this.#sampleIndex]!;
    const { relations, frontier } = this.#state.node;
    return [
      `Question: ${task.question}`,
      `Topics: ${task.topics.map(({ name }) => name).join(', ')}`,
      `Walked: ${Array.from(relations, (relation) => graph.relationNames[relation]).join(', ')}`,
      `Frontier: ${frontierText(graph, frontier)}`,
      `Step: ${relations.length + 1}`,
    ].join('\n');
  }

  close(): void {
    this.#state = undefined;
  }

  #observe(state: RelationWalkState): RelationWalkObservation {
    const { node } = state;
    return {
      task: this.#world.samples[this.#sampleIndex]!.task,
      topics: Int32Array.from(node.topics),
      get entities() {
        return node.frontier.entities;
      },
      get counts() {
        return node.frontier.counts;
      },
      relations: node.relations,
      step: node.relations.length,
      actionMask: relationActionMask(state),
    };
  }
}

function frontierText(graph: Graph, { entities }: Frontier): string {
  const names = Array.from(entities.subarray(0, 5), (entity) => graph.entityNames[entity]);
  return `${entities.length} entities: ${names.join(', ')}${entities.length > 5 ? ', …' : ''}`;
}
