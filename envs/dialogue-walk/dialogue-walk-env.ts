/** `kgwalk/OpenDialKG-v1`: walk from a dialogue's start entity to what the next speaker will talk about. */
import type { Message, Sender } from '../../datasets/dialogue.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import type { RelationColumn } from '../../src/kg/adjacency.js';
import type { Graph, Path, Triple } from '../../src/kg/graph.js';
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
import { applyAction, defaultWalkRules, initialState, numActions, type WalkRules, type WalkState } from './rules.js';
import type { EnvSettings } from '../settings.js';
import { dict, discrete, ids, multiBinary, oneOf, relationIds, sequence, type Space, text } from '../spaces.js';
import { renderStateText, type StateTextFields, verbalizePath } from './state-text.js';
import { hitsGold } from './hits.js';

/** Φ of a state of a sample. May read the gold: shaping is part of the reward, which agents never see. */
export type Potential = (state: WalkState, sample: WalkSample) => number;

/**
 * F = γΦ(s′) − Φ(s), with Φ = 0 once the walk is over. Leaves the best policy what it was.
 * @source Ng, Harada and Russell 1999, "Policy invariance under reward transformations", theorem 1
 */
export const shapingReward = (
  potential: Potential,
  sample: WalkSample,
  state: WalkState,
  next: WalkState,
  gamma: number,
): number => (next.done ? 0 : gamma * potential(next, sample)) - potential(state, sample);

/**
 * Φ = cosine between the embeddings of the current entity and of the gold target, in [-1, 1]; 0 where either is unknown.
 * @param vectors float32 [numEntities, dim], row-major
 */
export function embeddingPotential(vectors: Float32Array, dim: number): Potential {
  return ({ current }, { gold: { target } }) => {
    if (current < 0 || target < 0) return 0;
    let dot = 0;
    let a = 0;
    let b = 0;
    for (let i = 0; i < dim; i++) {
      const x = vectors[current * dim + i]!;
      const y = vectors[target * dim + i]!;
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    return a > 0 && b > 0 ? dot / Math.sqrt(a * b) : 0;
  };
}

/** Options of `makeEnv('kgwalk/OpenDialKG-v1', …)`. */
export interface DialogueWalkOptions {
  graph: Graph;
  /** At least one must have a walkable start. */
  samples: readonly WalkSample[];
  /** Default: two steps, no stay at the first. */
  rules?: WalkRules;
  /** Default: 1 for the gold path, 0 for any other walk. */
  reward?: EnvSettings['reward'];
  /** Shapes the reward; default none. */
  potential?: Potential;
  /** Discount used by the shaping, in (0, 1]; must be the trainer's. Default 1. */
  gamma?: number;
  /** Under which id it is known. Default `kgwalk/OpenDialKG-v1`. */
  id?: string;
}

/** Observation: the task, never the gold. The arrays are views that must not be written to. */
export interface DialogueWalkObservation extends StateTextFields {
  task: WalkTask;
  messages: readonly Message[];
  sender: Sender;
  /** Entity id. */
  start: number;
  /** Entity id. */
  current: number;
  hop: number;
  /** Steps taken, stays included. */
  path: Path;
  /** `[degree]`: relation ids of the out-edges, a view into the graph: uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [degree]: entity ids at their ends, a view into the graph. */
  tails: Int32Array;
  /** uint8 [length of the action list], all ones: every action is legal; `degree`, where it exists, is staying. */
  actionMask: Uint8Array;
}

/** Id of the environment that walks from a dialogue’s entity. */
export const dialogueWalkId = 'kgwalk/OpenDialKG-v1';

/** Shared by all copies of an environment, made once. */
export interface DialogueWalkWorld extends Required<Omit<DialogueWalkOptions, 'potential'>> {
  potential: Potential | undefined;
  /** int32: the samples that a seeded reset draws from, those whose start has a legal action. */
  walkable: Int32Array;
  /** uint8 [largest action set], ones: the masks are views of it. */
  ones: Uint8Array;
  actionSpace: Space<number>;
  observationSpace: Space<DialogueWalkObservation>;
}

/** @throws WorkbenchError `data` when no sample can be walked */
export function dialogueWalkWorld(options: DialogueWalkOptions): DialogueWalkWorld {
  const { id = dialogueWalkId, graph, samples, rules = defaultWalkRules, potential, gamma = 1 } = options;
  const { reward = { kind: 'path', hit: 1, miss: 0 } } = options;
  const walkable = Int32Array.from(samples.keys()).filter(
    (index) => !initialState(graph, samples[index]!.task.start, rules).done,
  );
  if (walkable.length === 0) {
    const message = `expected a sample whose start has edges, got none, at ${samples.length} samples`;
    throw new WorkbenchError('data', message, { hint: `Import samples that fit the graph "${graph.name}".` });
  }
  let maxDegree = 0;
  for (let entity = 0; entity < graph.numEntities; entity++) maxDegree = Math.max(maxDegree, graph.degree(entity));
  return {
    ...{ id, graph, samples, rules, reward, potential, gamma, walkable },
    ones: new Uint8Array(maxDegree + 1).fill(1),
    actionSpace: discrete(maxDegree + 1),
    observationSpace: observationSpace(graph, rules, maxDegree),
  };
}

function observationSpace(graph: Graph, { horizon }: WalkRules, maxDegree: number): Space<DialogueWalkObservation> {
  const sender = oneOf<Sender>('user', 'assistant');
  const messages = sequence(dict<Message>({ sender, text: text() }));
  const entity = discrete(graph.numEntities + 1, -1);
  const triple: Space<Triple> = {
    contains: (value): value is Triple =>
      Array.isArray(value) && value.length === 3 && value.every((id) => Number.isInteger(id)),
    sample: (rng) => [entity.sample(rng), rng.integer(graph.numRelations + 1), entity.sample(rng)],
  };
  const paths = sequence(sequence(triple));
  return dict<DialogueWalkObservation>({
    task: dict<WalkTask>({
      id: text(),
      dialogueId: text(),
      messages,
      sender,
      start: entity,
      startName: text(),
      earlierPaths: paths,
    }),
    messages,
    sender,
    earlierPaths: sequence(text()),
    startEntity: text(),
    walked: text(),
    currentEntity: text(),
    step: discrete(horizon + 1, 1),
    start: entity,
    current: entity,
    hop: discrete(horizon + 1),
    path: sequence(triple),
    relations: relationIds(graph.numRelations, maxDegree),
    tails: ids(graph.numEntities, maxDegree),
    actionMask: multiBinary(maxDegree + 1),
  });
}

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
    const draw = () => walkable[this.#rng.integer(walkable.length)]!;
    this.#sampleIndex = chosenSample(options?.sample, samples.length, draw);
    this.#state = initialState(graph, samples[this.#sampleIndex]!.task.start, rules);
    return { observation: this.#observe(this.#state), info: this.#info(this.#state) };
  }

  step(action: number): StepResult<DialogueWalkObservation> {
    const { id, graph, samples, rules, reward, potential, gamma } = this.#world;
    const state = this.#state;
    if (!state || state.done) throw new ResetNeeded(id);
    const count = numActions(graph, state, rules);
    if (!Number.isInteger(action) || action < 0 || action >= count) {
      throw new InvalidAction(id, action, `an action in [0, ${count})`);
    }
    const next = applyAction(graph, state, action, rules);
    const sample = samples[this.#sampleIndex]!;
    const hit = next.done && hitsGold(graph, next, sample.gold, reward.kind);
    let stepReward = next.done ? (hit ? reward.hit : reward.miss) : 0;
    if (potential) stepReward += shapingReward(potential, sample, state, next, gamma);
    this.#state = next;
    const info = { ...this.#info(next), ...(next.done && { hit }) };
    return { observation: this.#observe(next), reward: stepReward, terminated: next.done, truncated: false, info };
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
    const { graph, samples, rules, ones } = this.#world;
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
      actionMask: ones.subarray(0, numActions(graph, state, rules)),
    };
  }
}
