/** The states of demonstrated walks, as the environment shows them, and what is done in each. */
import type { Actor } from '../../agents/actor.js';
import { LinkQueryBatch } from '../../envs/link-query-batch.js';
import type { LinkQueryObservation, LinkQueryWorld } from '../../envs/link-query-world.js';
import type { Demonstrations } from './demonstrations.js';

/** States of some walks, the first of every walk first. */
export interface DemonstratedStates<Request> {
  requests: Request[];
  /** Place of what is done among the legal actions of each state. */
  golds: { gold: number }[];
}

/** Replays walks in an environment of their own, so that states have the masks and paths of training. */
export class DemonstrationReplay<Request> {
  readonly #world: LinkQueryWorld;
  readonly #demonstrations: Demonstrations;
  readonly #requestOf: Actor<LinkQueryObservation, Request>['requestOf'];
  #batch: LinkQueryBatch | undefined;

  constructor(
    world: LinkQueryWorld,
    demonstrations: Demonstrations,
    { requestOf }: Pick<Actor<LinkQueryObservation, Request>, 'requestOf'>,
  ) {
    this.#world = world;
    this.#demonstrations = demonstrations;
    this.#requestOf = requestOf;
  }

  /** @param places of walks among the demonstrations; at least one @throws InvalidAction for a walk that the world forbids */
  states(places: Int32Array): DemonstratedStates<Request> {
    const { queries, actions } = this.#demonstrations;
    const { horizon } = this.#world;
    if (!this.#batch || this.#batch.numEnvs < places.length) {
      this.#batch = new LinkQueryBatch(this.#world, places.length);
    }
    const batch = this.#batch;
    const requests: Request[] = [];
    const golds: { gold: number }[] = [];
    const done = new Int32Array(places.length);
    let { observations } = batch.reset({ options: Array.from(places, (place) => ({ sample: queries[place]! })) });
    for (let hop = 0; hop < horizon; hop++) {
      for (let i = 0; i < places.length; i++) {
        done[i] = actions[places[i]! * horizon + hop]!;
        requests.push(this.#requestOf(observations[i]!));
        golds.push({ gold: legalBefore(observations[i]!.actionMask, done[i]!) });
      }
      ({ observations } = batch.step(done));
    }
    return { requests, golds };
  }
}

function legalBefore(mask: Uint8Array, action: number): number {
  let legal = 0;
  for (let place = 0; place < action; place++) legal += mask[place]!;
  return legal;
}
