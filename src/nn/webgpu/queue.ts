/** Whole training steps on a device: what else would be read between two of them stays there. */
import { type AdamStep, type HeldSegments, type Queue, type QueuedObjective, type Run } from '../executor.js';
import type { Device } from './device.js';
import { kernels } from './kernels.js';
import { type Index, Room, type Span } from './room.js';
import { trainingKernels } from './training-kernels.js';

/** Shares in which an array is summed. */
export const numShares = 256;

export class DeviceQueue implements Queue<Span, Index> {
  /** Shares of the squares of gradients. */
  readonly #shares: number;
  readonly #known = new WeakMap<Index, number>();

  readonly scope: Room;

  constructor(readonly device: Device) {
    this.scope = new Room(device);
    this.#shares = device.floats.take(numShares);
  }

  get keeps(): boolean {
    return this.device.keeps;
  }

  set keeps(keeps: boolean) {
    this.device.keeps = keeps;
  }

  submit(): void {
    this.device.submit();
  }

  pick({ offsets, columns }: HeldSegments<Index>, ids: Int32Array, scope: Room) {
    const own = new Int32Array(ids.length + 1);
    ids.forEach((id, i) => (own[i + 1] = own[i]! + offsets[id + 1]! - offsets[id]!));
    const length = own.at(-1)!;
    const [first, second = first] = columns as [Index, Index?];
    const picked = { place: this.#places(first), source: scope.takeRows(length).at, length };
    const [segmentOf, ...out] = [0, 1, 2].map(() => scope.takeRows(length)) as [Index, Index, Index];
    const begins = scope.rows(ids.map((id) => offsets[id]!));
    const placed = scope.rows(own);
    this.device.queue(
      ...([trainingKernels.pick, ids.length, begins.at, placed.at, segmentOf.at, first.at, second.at] as const),
      ...[picked.place, picked.source, out[0]!.at, out[1]!.at],
    );
    return {
      offsets: own,
      segmentOf: { ...segmentOf, lists: { count: ids.length, whole: true, begins: placed.at, order: 0 } },
      columns: columns.map((of, i) => ({ ...out[i]!, picked: { of, pick: picked } })),
    };
  }

  /** Room for the place of each entry among those that are picked. */
  #places(held: Index): number {
    const places = this.#known.get(held) ?? held.room.takeRows(held.length).at;
    this.#known.set(held, places);
    return places;
  }

  clippedAdamStep(
    runs: readonly [weights: Run<Span>, first: Run<Span>, second: Run<Span>, grads: Run<Span>],
    { beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep }: AdamStep,
    most: number,
    norm: Span,
    stopped: Span,
  ): void {
    const { device } = this;
    const [weights, first, second, grads] = runs.map(({ whole }) => whole.at) as [number, number, number, number];
    const { length } = runs[0].whole;
    device.queue(kernels.shares, numShares, grads, this.#shares, length, 1);
    device.queue(
      ...([
        trainingKernels.clippedAdamStep,
        length,
        weights,
        first,
        second,
        grads,
        this.#shares,
        norm.at,
        stopped.at,
      ] as const),
      ...[Math.min(most, 3e38), beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep],
    );
  }

  ppoObjective(input: QueuedObjective<Span, Index>): void {
    const { states, logits, dLogits, offsets, legal, scored, values, dValues, reference, figures, share } = input;
    const { firsts, action, oldLogProb, advantage, returns, oldValue, settings } = input;
    const { algorithm, clipRange, dualClip, entropyCoef, klCoef, valueCoef, clipRangeValue, feasibilityCoef } =
      settings;
    const placed = (span: Span | undefined) => (span ? span.at + 1 : 0);
    const pulls = figures.room!.take(action.length);
    this.device.queue(
      ...([trainingKernels.ppoObjective, states, logits.at, dLogits.at, offsets.at, placed(legal)] as const),
      ...([placed(values), dValues?.at ?? 0, placed(reference), firsts.at, action.at, oldLogProb.at] as const),
      ...([advantage.at, returns.at, oldValue.at, pulls.at, figures.at, action.length, share, clipRange] as const),
      ...[dualClip ?? 0, Number(algorithm === 'reinforce'), entropyCoef, klCoef, valueCoef, clipRangeValue ?? 0],
      ...[placed(scored), feasibilityCoef],
    );
  }
}
