/** `kgwalk/OpenDialKG-v1`: walk from a dialogue's start entity to what the next speaker will talk about. */
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import type { DialogueWalkObservation, DialogueWalkWorld } from './dialogue-walk-world.js';
import { InvalidAction, ResetNeeded, type Env, type ResetOptions, type ResetResult, type StepResult } from './env.js';
import { applyAction, initialState, legalActions, numActions, type WalkState } from './rules.js';
import { verbalizePath } from './state-text/fields.js';
import { renderStateText } from './state-text/render.js';
import { hitsGold, shapingReward } from './walk-reward.js';

/**
 * ## Action space
 * `discrete(largest degree + 1)`, of which the first `actionMask.length` are legal: the out-edges in the graph's order,
 * then staying, from the second step on (`equalAtStep1` allows it at the first).
 * ## Observation space
 * `DialogueWalkObservation`: the fields of the state text, ids, edge views and the mask.
 * ## Rewards
 * At the end `reward.hit` or `reward.miss`, before it 0; shaping is added where a potential is given.
 * ## Starting state
 * `options.sample`, or a sample with a walkable start drawn from the seed. A sample whose start has no edges can be
 * asked for: its observation has no legal action, `info.done` is true and no step can be taken.
 * ## Episode end
 * Terminated at the horizon (the step is part of the state, so nothing is left to bootstrap) and after a stay. Never truncated.
 * ## Version history
 * v1: first version.
 */
export class DialogueWalkEnv implements Env<DialogueWalkObservation> {
  readonly spec;
  readonly actionSpace;
  readonly observationSpace;
  readonly #world: DialogueWalkWorld;
  #rng = Rng.named(0, 'env');
  #sampleIndex = -1;
  #state: WalkState | undefined;

  constructor(world: DialogueWalkWorld) {
    this.#world = world;
    this.spec = { id: world.id, maxSteps: world.rules.horizon };
    this.actionSpace = world.actionSpace;
    this.observationSpace = world.observationSpace;
  }

  reset({ seed, options }: ResetOptions = {}): ResetResult<DialogueWalkObservation> {
    const { graph, samples, rules, walkable } = this.#world;
    if (seed !== undefined) this.#rng = Rng.named(seed, 'env');
    const asked = options?.sample;
    if (asked !== undefined && !(Number.isInteger(asked) && samples[asked as number])) {
      throw new WorkbenchError('usage', `expected a sample in [0, ${samples.length}), got ${String(asked)}, at reset`);
    }
    this.#sampleIndex = (asked as number | undefined) ?? walkable[this.#rng.integer(walkable.length)]!;
    this.#state = initialState(graph, samples[this.#sampleIndex]!.task.start, rules);
    return { observation: this.#observe(this.#state), info: this.#info(this.#state) };
  }

  step(action: number): StepResult<DialogueWalkObservation> {
    const { id, graph, samples, rules, reward, potential, gamma } = this.#world;
    const state = this.#state;
    if (!state || state.done) throw new ResetNeeded(id);
    const count = numActions(graph, state, rules);
    const legal = legalActions(graph, state, rules);
    if (!Number.isInteger(action) || action < 0 || action >= count || legal?.includes(action) === false) {
      throw new InvalidAction(
        id,
        action,
        `an action in [0, ${count})${legal ? ' that does not lead to the start' : ''}`,
      );
    }
    const next = applyAction(graph, state, action, rules);
    const sample = samples[this.#sampleIndex]!;
    const hit = next.done && hitsGold(graph, next, sample.gold, reward.kind);
    let earned = next.done ? (hit ? reward.hit : reward.miss) : 0;
    if (potential) earned += shapingReward(potential, sample, state, next, gamma);
    this.#state = next;
    const info = { ...this.#info(next), ...(next.done && { hit }) };
    return { observation: this.#observe(next), reward: earned, terminated: next.done, truncated: false, info };
  }

  render(): string {
    if (!this.#state) throw new ResetNeeded(this.#world.id);
    return renderStateText(this.#observe(this.#state));
  }

  close(): void {
    this.#state = undefined;
  }

  #info(state: WalkState) {
    return { sample: this.#sampleIndex, done: state.done };
  }

  #observe(state: WalkState): DialogueWalkObservation {
    const { graph, samples } = this.#world;
    const { task } = samples[this.#sampleIndex]!;
    const { start, current, hop, path } = state;
    const begin = current < 0 ? 0 : graph.offsets[current]!;
    const end = begin + graph.degree(current);
    return {
      task,
      messages: task.messages,
      sender: task.sender,
      get earlierPaths() {
        return task.earlierPaths.map((earlier) => verbalizePath(graph, earlier));
      },
      startEntity: task.startName,
      get walked() {
        return verbalizePath(graph, path);
      },
      currentEntity: graph.entityNames[current] ?? task.startName,
      step: hop + 1,
      start,
      current,
      hop,
      path,
      relations: graph.relations.subarray(begin, end),
      tails: graph.tails.subarray(begin, end),
      actionMask: this.#mask(state),
    };
  }

  #mask(state: WalkState): Uint8Array {
    const { graph, rules, ones } = this.#world;
    const count = numActions(graph, state, rules);
    const legal = legalActions(graph, state, rules);
    if (!legal) return ones.subarray(0, count);
    const mask = new Uint8Array(count);
    for (const action of legal) mask[action] = 1;
    return mask;
  }
}
