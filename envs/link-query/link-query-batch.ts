/** Many walks of `kgwalk/LinkQuery-v1` at once, in columns: a step makes no object and no array. */
import type { RelationColumn } from '../../src/kg/adjacency.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { type EnvSpec, InvalidAction, ResetNeeded } from '../env.js';
import type { Space } from '../spaces.js';
import {
  chosenQuery,
  legalActionWords,
  linkQueryObservation,
  noVector,
  RowCopier,
  VectorMaker,
} from './observation.js';
import {
  hiddenPlaces,
  linkQueryId,
  type LinkQueryObservation,
  type LinkQueryWorld,
  potentialOf,
  stepReward,
} from './world.js';
import type { Autoreset, BatchedEnv, ObservationColumns, VectorReset, VectorStep } from '../vector-env.js';

/**
 * The same walks as as many copies of `LinkQueryEnv`, for equal seeds and actions. All arrays are its own and change with
 * every step: what is to be kept must be copied. A step costs O(copies), and the degrees where known answers are hidden.
 */
export class LinkQueryBatch implements BatchedEnv<LinkQueryObservation> {
  readonly spec: EnvSpec;
  readonly actionSpace: Space<number>;
  readonly observationSpace: Space<LinkQueryObservation>;
  readonly numEnvs: number;
  /** Room for a copy's actions in `masks`: the largest degree, and one for staying. */
  readonly maxActions: number;
  /** int32 [numEnvs]: entity where the walk began. */
  readonly heads: Int32Array;
  /** int32 [numEnvs]: relation of the query. */
  readonly relations: Int32Array;
  /** int32 [numEnvs]: current entity. */
  readonly currents: Int32Array;
  /** int32 [numEnvs]: steps taken. */
  readonly hops: Int32Array;
  /** int32 [numEnvs, 2 · horizon]: relation and entity of each step; values after `2 · hops` are from earlier walks. */
  readonly paths: Int32Array;
  /** int32 [numEnvs]: index of the query. */
  readonly samples: Int32Array;
  /** int32 [numEnvs]: length of the action list; its last action stays. */
  readonly counts: Int32Array;
  /** uint8 [numEnvs, maxActions], 1 = legal; zeros behind a list's end. */
  readonly masks: Uint8Array;
  /** float32 [numEnvs, 3 · dim]: vectors of head, relation and current; empty where the world has none. */
  readonly vectors: Float32Array;
  readonly columns: ObservationColumns;
  readonly #world: LinkQueryWorld;
  readonly #autoreset: Autoreset;
  readonly #rngs: Rng[];
  readonly #ended: EndedWalks;
  readonly #hidden: Int32Array;
  /** uint8 [numEnvs]: whether the mask has a zero inside the list. */
  readonly #pierced: Uint8Array;
  readonly #entityRows: RowCopier | undefined;
  readonly #relationRows: RowCopier | undefined;
  /** float64 [numEnvs]: Φ of each state, where shaping knows one. */
  readonly #potentials: Float64Array;
  readonly #live: Int32Array;
  #result: VectorStep<LinkQueryObservation>;

  constructor(world: LinkQueryWorld, numEnvs: number, autoreset: Autoreset = 'disabled') {
    if (!(Number.isInteger(numEnvs) && numEnvs >= 1)) {
      throw new WorkbenchError('usage', `expected at least one environment, got ${numEnvs}, at LinkQueryBatch`);
    }
    const column = () => new Int32Array(numEnvs);
    this.spec = { id: linkQueryId, maxSteps: world.horizon };
    this.actionSpace = world.actionSpace;
    this.observationSpace = world.observationSpace;
    this.numEnvs = numEnvs;
    this.maxActions = world.maxActions;
    this.#world = world;
    this.#autoreset = autoreset;
    [this.heads, this.relations, this.currents, this.hops] = [column(), column(), column(), column()];
    [this.samples, this.counts, this.#live] = [column(), column(), column()];
    this.paths = new Int32Array(numEnvs * 2 * world.horizon);
    this.masks = new Uint8Array(numEnvs * world.maxActions);
    this.#potentials = new Float64Array(numEnvs);
    this.#hidden = new Int32Array(2 * world.maxActions + 2);
    const flags = () => new Uint8Array(numEnvs);
    this.#pierced = flags();
    this.#ended = { running: flags(), hits: flags(), samples: column(), replaced: flags(), paths: this.paths.slice() };
    const { vectors } = world;
    this.#ended.vectors = vectors && new VectorMaker(vectors);
    this.vectors = vectors ? new Float32Array(numEnvs * 3 * vectors.dim) : noVector;
    this.#entityRows = vectors && new RowCopier(vectors.entities, this.vectors, vectors.dim);
    this.#relationRows = vectors && new RowCopier(vectors.relations, this.vectors, vectors.dim);
    this.columns = {
      ...{ maxActions: world.maxActions, counts: this.counts, masks: this.masks },
      fields: {
        ...{ head: this.heads, relation: this.relations, current: this.currents, hop: this.hops },
        vector: this.vectors,
      },
    };
    this.#rngs = Array.from({ length: numEnvs }, () => Rng.named(0, 'env'));
    this.#result = this.#resultOf(numEnvs);
  }

  reset({ seed, options }: VectorReset = {}): VectorStep<LinkQueryObservation> {
    const count = options?.length ?? this.numEnvs;
    if (count > this.numEnvs) {
      throw new WorkbenchError('usage', `expected options for at most ${this.numEnvs} copies, got ${count}, at reset`);
    }
    if (count !== this.#result.rewards.length) this.#result = this.#resultOf(count);
    const { rewards, terminated } = this.#result;
    rewards.fill(0);
    terminated.fill(0);
    this.#ended.replaced.fill(0);
    this.#ended.running.fill(0);
    for (let i = 0; i < count; i++) {
      if (seed !== undefined) this.#rngs[i] = Rng.named(seed + i, 'env');
      this.#begin(i, chosenQuery(this.#world, options?.[i]?.sample, this.#rngs[i]!));
    }
    return this.#listLive();
  }

  /** @throws InvalidAction before any copy has moved */
  step(actions: ArrayLike<number>): VectorStep<LinkQueryObservation> {
    const { rewards, terminated } = this.#result;
    const count = rewards.length;
    if (actions.length !== count) {
      throw new WorkbenchError('usage', `expected ${count} actions, got ${actions.length}, at step of ${linkQueryId}`);
    }
    this.#check(actions);
    const { horizon, queries } = this.#world;
    const { running, hits, samples, replaced } = this.#ended;
    const { currents, hops } = this;
    let stopped = false;
    for (let i = 0; i < count; i++) {
      rewards[i] = 0;
      terminated[i] = 0;
      replaced[i] = 0;
      if (running[i] === 0) {
        if (this.#autoreset === 'nextStep') this.#begin(i, this.#draw(i));
        continue;
      }
      this.#walk(i, actions[i]!);
      const hit = hops[i] === horizon ? currents[i] === queries.tails[this.samples[i]!] : undefined;
      rewards[i] = this.#reward(i, hit);
      if (hit !== undefined) {
        samples[i] = this.samples[i]!;
        hits[i] = Number(hit);
        terminated[i] = 1;
        if (this.#autoreset === 'sameStep') {
          replaced[i] = 1;
          this.#keepPath(i);
          this.#begin(i, this.#draw(i));
          continue;
        }
        running[i] = 0;
        stopped = true;
      }
      this.#show(i);
    }
    return stopped ? this.#listLive() : this.#result;
  }

  close(): void {
    this.#ended.running.fill(0);
  }

  #draw(i: number): number {
    return this.#rngs[i]!.integer(this.#world.queries.heads.length);
  }

  /** Takes one step of copy `i` and notes it in the path. */
  #walk(i: number, action: number): void {
    const { offsets, relations, tails, horizon, graph } = this.#world;
    const stays = action === this.counts[i]! - 1;
    const edge = offsets[this.currents[i]!]! + action;
    const at = 2 * (i * horizon + this.hops[i]!++);
    this.paths[at] = stays ? graph.numRelations : relations[edge]!;
    if (!stays) this.currents[i] = tails[edge]!;
    this.paths[at + 1] = this.currents[i]!;
  }

  #reward(i: number, hit: boolean | undefined): number {
    const [query, current, before] = [this.samples[i]!, this.currents[i]!, this.#potentials[i]!];
    const now = hit !== undefined ? 0 : potentialOf(this.#world, query, current);
    this.#potentials[i] = now;
    return stepReward(this.#world, query, current, hit, before, now);
  }

  /** The path of a walk that ended, before the next one writes over it. */
  #keepPath(i: number): void {
    const width = 2 * this.#world.horizon;
    const { paths } = this.#ended;
    for (let at = i * width; at < (i + 1) * width; at++) paths[at] = this.paths[at]!;
  }

  #check(actions: ArrayLike<number>): void {
    const { running } = this.#ended;
    const width = this.maxActions;
    let live = 0;
    for (let i = 0; i < actions.length; i++) {
      if (running[i] === 0) continue;
      live++;
      const action = actions[i]!;
      // Out of the row is out of the mask, though another copy's may begin there.
      if (action >= 0 && action < width && this.masks[i * width + action] === 1) continue;
      throw new InvalidAction(linkQueryId, action, `${legalActionWords(this.counts[i]!)} for copy ${i}`);
    }
    if (live === 0 && this.#autoreset !== 'nextStep') throw new ResetNeeded(linkQueryId);
  }

  #begin(i: number, sample: number): void {
    const { queries, vectors } = this.#world;
    const head = queries.heads[sample]!;
    const relation = queries.relations[sample]!;
    this.samples[i] = sample;
    this.heads[i] = head;
    this.relations[i] = relation;
    this.currents[i] = head;
    this.hops[i] = 0;
    this.#potentials[i] = potentialOf(this.#world, sample, head);
    this.#ended.running[i] = 1;
    if (vectors) {
      this.#entityRows!.copy(head, 3 * i * vectors.dim);
      this.#relationRows!.copy(relation, (3 * i + 1) * vectors.dim);
    }
    this.#show(i);
  }

  /** Brings a copy's mask and vector of the current entity up to date. */
  #show(i: number): void {
    const { offsets, vectors, maxActions } = this.#world;
    const current = this.currents[i]!;
    const before = this.counts[i]!;
    const count = offsets[current + 1]! - offsets[current]! + 1;
    const { masks } = this;
    const begin = i * maxActions;
    if (this.#pierced[i] === 1) masks.fill(1, begin, begin + before);
    // A list is a run of ones: only its end moves.
    if (count > before) masks.fill(1, begin + before, begin + count);
    else if (count < before) masks.fill(0, begin + count, begin + before);
    this.counts[i] = count;
    const hidden = hiddenPlaces(this.#world, this.samples[i]!, current, this.hops[i]!, this.#hidden);
    for (let k = 0; k < hidden; k++) masks[begin + this.#hidden[k]!] = 0;
    this.#pierced[i] = Number(hidden > 0);
    if (vectors) this.#entityRows!.copy(current, (3 * i + 2) * vectors.dim);
  }

  #listLive(): VectorStep<LinkQueryObservation> {
    const count = this.#result.rewards.length;
    const { running } = this.#ended;
    let live = 0;
    for (let i = 0; i < count; i++) if (running[i] === 1 || this.#autoreset === 'nextStep') this.#live[live++] = i;
    if (this.#result.live.length !== live) this.#result.live = this.#live.subarray(0, live);
    return this.#result;
  }

  #resultOf(count: number): VectorStep<LinkQueryObservation> {
    const rows = Array.from({ length: count }, (_, row) => row);
    return {
      observations: rows.map((row) => new RowObservation(this, this.#world, row)),
      infos: rows.map((row) => rowInfo(this, this.#world, this.#ended, row)),
      rewards: new Float64Array(count),
      terminated: new Uint8Array(count),
      truncated: new Uint8Array(count),
      live: this.#live.subarray(0, count),
    };
  }
}

class RowObservation implements LinkQueryObservation {
  readonly #batch: LinkQueryBatch;
  readonly #world: LinkQueryWorld;
  readonly #row: number;

  constructor(batch: LinkQueryBatch, world: LinkQueryWorld, row: number) {
    this.#batch = batch;
    this.#world = world;
    this.#row = row;
  }

  get head(): number {
    return this.#batch.heads[this.#row]!;
  }

  get relation(): number {
    return this.#batch.relations[this.#row]!;
  }

  get current(): number {
    return this.#batch.currents[this.#row]!;
  }

  get hop(): number {
    return this.#batch.hops[this.#row]!;
  }

  get path(): Int32Array {
    const begin = 2 * this.#row * this.#world.horizon;
    return this.#batch.paths.subarray(begin, begin + 2 * this.hop);
  }

  get relations(): RelationColumn {
    return this.#edges(this.#world.relations);
  }

  get tails(): Int32Array {
    return this.#edges(this.#world.tails);
  }

  get actionMask(): Uint8Array {
    const begin = this.#row * this.#batch.maxActions;
    return this.#batch.masks.subarray(begin, begin + this.#batch.counts[this.#row]!);
  }

  get vector(): Float32Array {
    const width = this.#batch.vectors.length / this.#batch.numEnvs;
    return this.#batch.vectors.subarray(this.#row * width, (this.#row + 1) * width);
  }

  #edges<T extends RelationColumn>(column: T): T {
    const { offsets } = this.#world;
    return column.subarray(offsets[this.current], offsets[this.current + 1]) as T;
  }
}

interface EndedWalks {
  /** uint8 [numEnvs]: whether a copy's episode is running. */
  running: Uint8Array;
  /** uint8 [numEnvs]: 1 where the copy's last finished walk hit. */
  hits: Uint8Array;
  /** int32 [numEnvs]: its query. */
  samples: Int32Array;
  /** uint8 [numEnvs]: 1 where a walk ended in the last step and another one began. */
  replaced: Uint8Array;
  /** int32 [numEnvs, 2 · horizon]: the whole path of those walks. */
  paths: Int32Array;
  vectors?: VectorMaker | undefined;
}

/** The info of one copy: `sample`, `done`, at the end `hit`, and `final` where the next episode has begun in the same step. */
function rowInfo(
  batch: LinkQueryBatch,
  world: LinkQueryWorld,
  ended: EndedWalks,
  row: number,
): Record<string, unknown> {
  const done = () => ended.running[row] === 0;
  return {
    get sample() {
      return batch.samples[row];
    },
    get done() {
      return done();
    },
    get hit() {
      return done() ? ended.hits[row] === 1 : undefined;
    },
    get final() {
      return ended.replaced[row] === 1 ? finalOf(world, ended, row) : undefined;
    },
  };
}

function finalOf(world: LinkQueryWorld, { hits, samples, paths, vectors }: EndedWalks, row: number) {
  const { queries, offsets, horizon } = world;
  const sample = samples[row]!;
  const path = paths.slice(2 * row * horizon, 2 * (row + 1) * horizon);
  const end = path.at(-1)!;
  const mask = new Uint8Array(offsets[end + 1]! - offsets[end]! + 1).fill(1);
  const vector = vectors?.of(queries.heads[sample]!, queries.relations[sample]!, end) ?? noVector;
  return {
    observation: linkQueryObservation(world, sample, path, mask, vector),
    info: { sample, done: true, hit: hits[row] === 1 },
  };
}
