/** `kgwalk/LinkQuery-v1`: answer (head, relation, ?) by walking from the head to the answer. */
import { Rng } from '../../src/run/seeds.js';
import { InvalidAction, ResetNeeded, type Env, type ResetOptions, type ResetResult, type StepResult } from '../env.js';
import {
  hiddenPlaces,
  linkQueryId,
  type LinkQueryObservation,
  type LinkQueryWorld,
  potentialOf,
  stepReward,
} from './world.js';
import { chosenQuery, legalActionWords, linkQueryObservation, noVector, VectorMaker } from './observation.js';

/**
 * ## Action space
 * `discrete(largest degree + 1)`, of which the first `actionMask.length` exist: the out-edges ordered by (relation, tail),
 * then staying, which is always legal and does not end the walk. The mask hides the edge that the query asks for, in both
 * directions, and, where known answers are given, at the last step the edges to the other ones.
 * ## Observation space
 * `LinkQueryObservation`: ids of the query and of where the walk stands, its edges, the mask, and vectors where there are any.
 * ## Rewards
 * 1 at the end for standing on the query's answer, else 0; and what `shaping` pays where it is given (`LinkShaping`).
 * ## Starting state
 * `options.sample`, the index of a query, or one drawn uniformly from the seed.
 * ## Episode end
 * Terminated after `horizon` steps (the step is part of the state, so nothing is left to bootstrap). Never truncated.
 * `info` then holds `hit`, which knows no shaping.
 * ## Version history
 * v1: first version.
 */
export class LinkQueryEnv implements Env<LinkQueryObservation> {
  readonly spec;
  readonly actionSpace;
  readonly observationSpace;
  readonly #world: LinkQueryWorld;
  readonly #hidden: Int32Array;
  readonly #vectors: VectorMaker | undefined;
  readonly #ones: Uint8Array;
  #rng = Rng.named(0, 'env');
  #query = -1;
  #current = 0;
  #hop = 0;
  /** Φ of the state, where shaping knows one. */
  #potential = 0;
  /** [2 · horizon], this episode's own: observations show its beginning, which stays as it is. */
  #path = new Int32Array(0);
  #legal: Uint8Array;
  #running = false;

  constructor(world: LinkQueryWorld) {
    this.#world = world;
    this.spec = { id: linkQueryId, maxSteps: world.horizon };
    this.actionSpace = world.actionSpace;
    this.observationSpace = world.observationSpace;
    this.#hidden = new Int32Array(2 * world.maxActions + 2);
    this.#ones = new Uint8Array(world.maxActions).fill(1);
    this.#legal = this.#ones;
    this.#vectors = world.vectors && new VectorMaker(world.vectors);
  }

  reset({ seed, options }: ResetOptions = {}): ResetResult<LinkQueryObservation> {
    if (seed !== undefined) this.#rng = Rng.named(seed, 'env');
    this.#query = chosenQuery(this.#world, options?.sample, this.#rng);
    this.#current = this.#world.queries.heads[this.#query]!;
    this.#hop = 0;
    this.#path = new Int32Array(2 * this.#world.horizon);
    this.#potential = potentialOf(this.#world, this.#query, this.#current);
    this.#running = true;
    return { observation: this.#observe(), info: { sample: this.#query, done: false } };
  }

  step(action: number): StepResult<LinkQueryObservation> {
    if (!this.#running) throw new ResetNeeded(linkQueryId);
    if (this.#legal[action] !== 1) throw new InvalidAction(linkQueryId, action, legalActionWords(this.#legal.length));
    const { offsets, relations, tails, horizon, queries, graph } = this.#world;
    const edge = offsets[this.#current]! + action;
    const stays = edge === offsets[this.#current + 1]!;
    this.#path[2 * this.#hop] = stays ? graph.numRelations : relations[edge]!;
    if (!stays) this.#current = tails[edge]!;
    this.#path[2 * this.#hop + 1] = this.#current;
    const terminated = ++this.#hop === horizon;
    this.#running = !terminated;
    const hit = terminated ? this.#current === queries.tails[this.#query] : undefined;
    const before = this.#potential;
    if (!terminated) this.#potential = potentialOf(this.#world, this.#query, this.#current);
    const reward = stepReward(this.#world, this.#query, this.#current, hit, before, this.#potential);
    const info = terminated ? { sample: this.#query, done: true, hit } : { sample: this.#query, done: false };
    return { observation: this.#observe(), reward, terminated, truncated: false, info };
  }

  render(): string {
    if (this.#query < 0) throw new ResetNeeded(linkQueryId);
    const { graph, queries, horizon } = this.#world;
    const asked = `${graph.entityNames[queries.heads[this.#query]!]} ${graph.relationNames[queries.relations[this.#query]!]} ?`;
    return `${asked} | at ${graph.entityNames[this.#current]}, step ${this.#hop} of ${horizon}`;
  }

  close(): void {
    this.#query = -1;
    this.#running = false;
  }

  #observe(): LinkQueryObservation {
    const { queries, offsets } = this.#world;
    const [query, current] = [this.#query, this.#current];
    this.#legal = this.#mask(offsets[current + 1]! - offsets[current]! + 1);
    const vector = this.#vectors?.of(queries.heads[query]!, queries.relations[query]!, current) ?? noVector;
    return linkQueryObservation(this.#world, query, this.#path.subarray(0, 2 * this.#hop), this.#legal, vector);
  }

  #mask(length: number): Uint8Array {
    const hidden = hiddenPlaces(this.#world, this.#query, this.#current, this.#hop, this.#hidden);
    if (hidden === 0) return this.#ones.subarray(0, length);
    const mask = new Uint8Array(length).fill(1);
    for (let i = 0; i < hidden; i++) mask[this.#hidden[i]!] = 0;
    return mask;
  }
}
