/** `kgwalk/RelationWalk-v1`: answer a question by the relations to take from its topics, all their ends at once. */
import type { Frontier } from '../src/kg/frontier.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { InvalidAction, ResetNeeded, type Env, type ResetOptions, type ResetResult, type StepResult } from './env.js';
import { answerReward, scoreFrontier } from './relation-walk-reward.js';
import {
  applyRelation,
  initialRelationState,
  relationActionMask,
  type RelationWalkState,
} from './relation-walk-rules.js';
import { questionRoot, type RelationWalkObservation, type RelationWalkWorld } from './relation-walk-world.js';

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
    const asked = options?.sample;
    if (asked !== undefined && !(Number.isInteger(asked) && samples[asked as number])) {
      throw new WorkbenchError('usage', `expected a sample in [0, ${samples.length}), got ${String(asked)}, at reset`);
    }
    this.#sampleIndex = (asked as number | undefined) ?? walkable[this.#rng.integer(walkable.length)]!;
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
