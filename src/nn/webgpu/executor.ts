/** Networks on a graphics card of any maker, by custom kernels over WebGPU. */
import {
  type Activation,
  type AdamStep,
  type Block,
  eachGroup,
  type Executor,
  type Normalization,
  type Product,
  type Queue,
  type Run,
  type Scope,
} from '../executor.js';
import { type Device, openDevice } from './device.js';
import { roomy } from './heap.js';
import { activationCodes, kernels } from './kernels.js';
import { DeviceQueue, numShares } from './queue.js';
import { listsOf } from './lists.js';
import { type Index, type PlacedLists, Room, type Span } from './room.js';

const normalizations = { unit: 0, layer: 1, rms: 2 } as const;
/** Arguments of a queued kernel that take up what follows it. */
type Takes = { bias?: number; act?: number; derivative?: number };

/** Groups below which a product is cut finer, so that a card has work for all of its processors. */
const fewTiles = 256;

/** Rounds by the shape of the batch: rows are equal within float32 alone. */
export class WebGpuExecutor implements Executor<Span, Index> {
  readonly name = 'webgpu';
  readonly rowsAreIndependent = false;
  readonly #held = new WeakMap<Float32Array, Span>();
  readonly #own: Room;
  readonly queue: Queue<Span, Index>;
  /** The latest product or copy, which takes up the bias and activation that follow it. */
  #latest: { dispatch: number; slot: number; out: number; takes: Takes } = {
    dispatch: -1,
    slot: 0,
    out: -1,
    takes: {},
  };

  constructor(readonly device: Device) {
    this.#own = new Room(device);
    this.queue = new DeviceQueue(device);
  }

  scope(): Scope<Span, Index> {
    return new Room(this.device);
  }

  hold(values: Float32Array): Span {
    let held = this.#held.get(values);
    if (!held) {
      held = { at: this.device.floats.take(values.length), length: values.length };
      this.write(held, values);
      this.#held.set(values, held);
      const { at, length } = held;
      this.device.whenGone(held, () => this.device.floats.give(at, length));
    }
    return held;
  }

  run(lengths: readonly number[]): Run<Span> {
    const rooms = lengths.map(roomy);
    const whole = rooms.reduce((sum, room) => sum + room, 0);
    const at = this.device.floats.take(whole);
    let begin = at;
    const parts = lengths.map((length, i) => {
      const part = { at: begin, length };
      begin += rooms[i]!;
      return part;
    });
    const run = { whole: { at, length: whole }, parts };
    this.fill(run.whole, 0);
    return run;
  }

  free({ whole }: Run<Span>): void {
    this.device.submit();
    this.device.floats.give(whole.at, whole.length);
  }

  write(into: Span, values: Float32Array): void {
    this.device.write('floats', into.at, values);
  }

  async read({ at, length }: Span): Promise<Float32Array> {
    return new Float32Array(await this.device.read('floats', at, length));
  }

  fill(into: Span, value: number): void {
    this.device.queue(kernels.fill, into.length, into.at, value);
  }

  assign(into: Span, x: Span): void {
    this.device.queue(kernels.block, x.length, x.length, into.at, 0, x.at, 0, 0, 0);
  }

  matMul(kind: Product, a: Span, b: Span, out: Span, m: number, k: number, n: number, add = false): void {
    if (m * n === 0) return;
    const [aRow, aColumn] = kind === 'aTb' ? [1, m] : [k, 1];
    const [bRow, bColumn] = kind === 'abT' ? [1, k] : [n, 1];
    const tiles = (tile: number) => [Math.ceil(n / tile), Math.ceil(m / tile)] as const;
    const [x, y] = tiles(64);
    const fine = x * y < fewTiles;
    const args = [a.at, b.at, out.at, m, k, n, aRow, aColumn, bRow, bColumn, Number(add), 0, 0, 0, 0];
    const slot = this.device.dispatch(fine ? kernels.product32 : kernels.product64, args, fine ? tiles(32) : [x, y]);
    this.#remember(slot, out, { bias: 11, act: 12, derivative: 13 });
  }

  groupProducts(a: Span, ofA: Int32Array, b: Span, ofB: Int32Array, width: number, out: Span): void {
    const { at, groups } = this.#plan(out, ofA, ofB);
    this.device.queue(kernels.groupProducts, groups, a.at, b.at, out.at, at, width);
  }

  groupProductsGrad(
    grads: Span,
    a: Span,
    ofA: Int32Array,
    b: Span,
    ofB: Int32Array,
    width: number,
    da?: Span,
    db?: Span,
  ): void {
    const { at, groups } = this.#plan(grads, ofA, ofB);
    if (da) this.device.queue(kernels.groupProductsGrad, groups, da.at, grads.at, b.at, at, width, 0);
    if (db) this.device.queue(kernels.groupProductsGrad, groups, db.at, grads.at, a.at, at, width, 1);
  }

  addBias(out: Span, bias: Span, rows: number, width: number): void {
    const { slot, takes } = this.#latest;
    if (this.#follows(out) && takes.bias) {
      this.device.change(slot, takes.bias, bias.at + 1);
      this.#latest.takes = { act: takes.act };
    } else this.device.queue(kernels.addBias, rows * width, out.at, bias.at, width);
  }

  addColumnSums(into: Span, x: Span, rows: number, width: number): void {
    this.device.queue(kernels.addColumnSums, width, into.at, x.at, 0, rows);
  }

  activate(kind: Activation, out: Span, length: number): void {
    const { slot, takes } = this.#latest;
    if (this.#follows(out) && takes.act) {
      this.device.change(slot, takes.act, activationCodes[kind]);
      this.#latest.takes = {};
    } else this.device.queue(kernels.activate, length, out.at, activationCodes[kind]);
  }

  activateGrad(kind: Activation, grads: Span, out: Span, length: number): void {
    const { slot, takes } = this.#latest;
    if (this.#follows(grads) && takes.derivative) {
      this.device.change(slot, takes.derivative, activationCodes[kind]);
      this.device.change(slot, takes.derivative + 1, out.at);
      this.#latest.takes = {};
    } else this.device.queue(kernels.activateGrad, length, grads.at, out.at, activationCodes[kind]);
  }

  concat(out: Span, blocks: readonly Block<Span>[], rows: number): void {
    const width = blocks.reduce((sum, [, , , columns]) => sum + columns, 0);
    let begin = 0;
    for (const [x, own, column, columns] of blocks) {
      const slot = this.device.queue(
        kernels.block,
        rows * columns,
        columns,
        out.at + begin,
        width,
        x.at + column,
        own,
        0,
        0,
      );
      if (slot >= 0 && blocks.length === 1) this.#remember(slot, out, { act: 7 });
      begin += columns;
    }
  }

  addBlock([into, width, column, columns]: Block<Span>, [x, own, from]: Block<Span>, rows: number): void {
    this.device.queue(kernels.block, rows * columns, columns, into.at + column, width, x.at + from, own, 1, 0);
  }

  addScaled(into: Span, x: Span, length: number, scale: number): void {
    this.device.queue(kernels.addScaled, length, into.at, x.at, scale);
  }

  addProducts(into: Span, intoStep: number, a: Span, b: Span, bStep: number, rows: number, width: number): void {
    if (intoStep === 0 && bStep > 0 && rows > 1) {
      this.device.queue(kernels.addColumnSums, width, into.at, a.at, b.at + 1, rows);
    } else this.device.queue(kernels.addProducts, rows * width, into.at, intoStep, a.at, b.at, bStep, width);
  }

  copyRows(out: Span, table: Span, index: Index, width: number): void {
    this.device.queue(kernels.rows, index.length * width, width, out.at, table.at, index.at, 0);
  }

  addRows(out: Span, table: Span, index: Index, width: number): void {
    this.device.queue(kernels.rows, index.length * width, width, out.at, table.at, index.at, 1);
  }

  scatterRows(table: Span, x: Span, index: Index, width: number): void {
    this.#addByRow([table, width, 0, width], index, [x, width, 0, width]);
  }

  addDots(out: Span, [x, step, column, width]: Block<Span>, left: Index, y: Span, right: Index, scale: number): void {
    const ofX = x.at + column;
    this.device.queue(kernels.addDots, left.length, out.at, ofX, step, left.at, y.at, right.at, width, scale);
  }

  addScaledRows(into: Block<Span>, rows: Index, by: Span, scale: number, table: Block<Span>, of: Index): void {
    this.#addByRow(into, rows, table, { by, of, scale });
  }

  segmentLogSoftmax(x: Span, out: Span, offsets: Int32Array, columns: number, logWeights?: Float32Array): void {
    const room = out.room!;
    const weights = logWeights ? room.copy(logWeights).at + 1 : 0;
    const { at } = room.rows(offsets);
    this.device.queue(kernels.segmentLogSoftmax, offsets.length - 1, x.at, out.at, at, columns, weights);
  }

  segmentLogSoftmaxGrad(
    into: Span,
    grads: Span,
    out: Span,
    offsets: Int32Array,
    columns: number,
    logWeights?: Float32Array,
  ): void {
    const room = out.room!;
    const weights = logWeights ? room.copy(logWeights).at + 1 : 0;
    const args = [into.at, grads.at, out.at, room.rows(offsets).at, columns, weights];
    this.device.queue(kernels.segmentLogSoftmaxGrad, offsets.length - 1, ...args);
  }

  segmentMax(x: Span, out: Span, offsets: Int32Array): Span {
    const room = out.room!;
    const which = room.rows(new Int32Array(offsets.length - 1));
    this.device.queue(kernels.segmentMax, which.length, x.at, out.at, room.rows(offsets).at, which.at);
    return which;
  }

  segmentMaxGrad(into: Span, grads: Span, which: Span): void {
    this.device.queue(kernels.segmentMaxGrad, which.length, into.at, grads.at, which.at);
  }

  logSumExp(x: Span, out: Span, rows: number, width: number): void {
    this.device.queue(kernels.logSumExp, rows, x.at, out.at, width);
  }

  logSumExpGrad(into: Span, grads: Span, x: Span, out: Span, rows: number, width: number): void {
    this.device.queue(kernels.logSumExpGrad, rows * width, into.at, grads.at, x.at, out.at, width);
  }

  normalize({ kind, epsilon }: Normalization, x: Span, out: Span, rows: number, width: number): Span {
    const scales = out.room!.take(rows);
    this.device.queue(kernels.normalize, rows, x.at, out.at, scales.at, width, normalizations[kind], epsilon);
    return scales;
  }

  normalizeGrad(
    { kind }: Normalization,
    into: Span,
    grads: Span,
    out: Span,
    scales: Span,
    rows: number,
    width: number,
  ): void {
    this.device.queue(kernels.normalizeGrad, rows, into.at, grads.at, out.at, scales.at, width, normalizations[kind]);
  }

  gruCell(given: Span, own: Span, past: Span, gates: Span, out: Span, rows: number, width: number): void {
    this.device.queue(kernels.gruCell, rows * width, given.at, own.at, past.at, gates.at, out.at, width);
  }

  gruCellGrad(
    grads: Span,
    own: Span,
    past: Span,
    gates: Span,
    rows: number,
    width: number,
    ofGiven?: Span,
    ofOwn?: Span,
    ofPast?: Span,
  ): void {
    const into = [ofGiven, ofOwn, ofPast].map((one) => (one ? one.at + 1 : 0));
    this.device.queue(kernels.gruCellGrad, rows * width, grads.at, own.at, past.at, gates.at, ...into, width);
  }

  roundBfloat16(x: Span, out: Span, length: number): void {
    this.device.queue(kernels.roundBfloat16, length, out.at, x.at);
  }

  sumSquares(x: Span): Promise<number> {
    return this.#total(x, 1);
  }

  sum(x: Span): Promise<number> {
    return this.#total(x, 0);
  }

  adamStep(
    { whole: weights }: Run<Span>,
    { whole: first }: Run<Span>,
    { whole: second }: Run<Span>,
    { whole: grads }: Run<Span>,
    { beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep }: AdamStep,
  ): void {
    this.device.queue(
      ...([kernels.adamStep, weights.length, weights.at, first.at, second.at, grads.at] as const),
      ...[beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep],
    );
  }

  async #total(x: Span, squares: number): Promise<number> {
    const out = this.device.floats.take(numShares);
    this.device.queue(kernels.shares, numShares, x.at, out, x.length, squares);
    const shares = new Float32Array(await this.device.read('floats', out, numShares));
    this.device.floats.give(out, numShares);
    return shares.reduce((sum, share) => sum + share, 0);
  }

  /** into[index[e]] += scale · by[e] · x[of[e]], in the order of e on every card. */
  #addByRow(
    [into, intoStep, intoColumn, width]: Block<Span>,
    index: Index,
    [x, step, column]: Block<Span>,
    { by, of, scale = 1 }: { by?: Span; of?: Index; scale?: number } = {},
  ): void {
    if (index.length * width === 0) return;
    const { picked } = index;
    const { begins, rows, order, count, whole } = this.#listsOf(picked?.of ?? index);
    const { place, source, length } = picked?.pick ?? { place: -1, source: 0, length: 0 };
    const blocks = Math.ceil(width / 64);
    const queue = (to: number, toStep: number, which: number, fresh: number) =>
      this.device.queue(
        ...([
          kernels.sumLists,
          count * blocks,
          blocks,
          to,
          toStep,
          which,
          fresh,
          begins,
          order,
          place + 1,
          source,
        ] as const),
        ...[length, x.at + column, step, of ? of.at + 1 : 0, by ? by.at + 1 : 0, scale, width],
      );
    if (whole) return void queue(into.at + intoColumn, intoStep, rows ? rows.at + 1 : 0, 0);
    // Long lists are summed in parts, and these by their row.
    const parts = index.room.take(count * width);
    queue(parts.at, width, 0, 1);
    this.#addByRow([into, intoStep, intoColumn, width], rows!, [parts, width, 0, width]);
  }

  #listsOf(index: Index): PlacedLists {
    const { room } = index;
    if (index.lists) return index.lists;
    const { begins, order, rows, ...lists } = listsOf(index.host!);
    const placed = { begins: room.rows(begins).at, rows: room.rows(rows) };
    return (index.lists = { ...lists, ...placed, order: order ? room.rows(order).at + 1 : 0 });
  }

  #plan({ room = this.#own }: Span, ofA: Int32Array, ofB: Int32Array): { at: number; groups: number } {
    const plan: number[] = [];
    eachGroup(ofA, ofB, (...group) => plan.push(...group));
    if (room === this.#own) room.begin();
    return { at: room.rows(Int32Array.from(plan)).at, groups: plan.length / 5 };
  }

  #remember(slot: number, out: Span, takes: Takes): void {
    this.#latest = { dispatch: this.device.calls.dispatches, slot, out: out.at, takes };
  }

  /** True where nothing was queued since the kernel that wrote all of `out`, which is queued still. */
  #follows(out: Span): boolean {
    const { dispatch, out: at } = this.#latest;
    return dispatch === this.device.calls.dispatches && at === out.at && this.device.waits;
  }
}

/** The executor of the fastest card. @throws WorkbenchError `native` without the package or without a device */
export const openWebGpu = async (): Promise<WebGpuExecutor> => new WebGpuExecutor(await openDevice());
