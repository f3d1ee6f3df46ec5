/** The kernels in WebAssembly SIMD: what they do, and how to get them. Their sources are in `assembly/`. */
import { readFileSync } from 'node:fs';
import { WorkbenchError } from '../run/errors.js';

/** Memory that instances and threads share; may be sent to a worker. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
  /** @param pages of 64 KiB to add; arrays made before stay valid */
  grow(pages: number): number;
}

/** A compiled module. */
type WasmModule = object;

interface WasmApi {
  validate(bytes: Uint8Array): boolean;
  Memory: new (descriptor: { initial: number; maximum: number; shared: true }) => WasmMemory;
  Module: new (bytes: Uint8Array) => WasmModule;
  Instance: new (module: WasmModule, imports: { env: { memory: WasmMemory } }) => { exports: unknown };
}

/** Undefined where Node runs without it (`--jitless`). */
export const webAssembly = (globalThis as unknown as { WebAssembly?: WasmApi }).WebAssembly;

/**
 * Functions over arrays of one memory (`Arena`). Arguments named after arrays are their `byteOffset`; lengths count
 * values. Nothing is checked: a wrong offset or length reads or overwrites other arrays, or traps at the end of memory.
 * Sums are float32, in four lanes, so their last digits differ from those of plain TypeScript; they are the same on every
 * processor.
 */
export interface Kernels {
  /**
   * `out[i] += left[leftRows[i]] · right[rightRows[i]]`, in float64 and in order: to the bit what `addRowDots` of
   * `src/tensor/row-dots.ts` gives.
   * @param left float32, at the first value that takes part @param leftStride values from row to row
   * @param leftRows int32 [count]
   */
  addRowDots(
    out: number,
    left: number,
    leftStride: number,
    right: number,
    rightStride: number,
    width: number,
    leftRows: number,
    rightRows: number,
    count: number,
  ): void;
  /** `gradient[leftRows[i]] += upstream[i] · right[rightRows[i]]`: to the bit `addRowDotsGradient` there. */
  addRowDotsGradient(
    gradient: number,
    gradientStride: number,
    upstream: number,
    right: number,
    rightStride: number,
    width: number,
    leftRows: number,
    rightRows: number,
    count: number,
  ): void;
  /**
   * Dot products of two queries with the same rows: to the bit what plain TypeScript gives that sums even and odd places apart.
   * @param first float64 [width], as is `second` @param width even
   * @param table float32 [any, width]
   * @param rows int32 [count]
   * @param outFirst float32 [count], as is `outSecond`
   */
  twoDots(
    first: number,
    second: number,
    width: number,
    table: number,
    rows: number,
    count: number,
    outFirst: number,
    outSecond: number,
  ): void;

  // Training of TransE. An instance is set up once: the table, the triples, the settings, then its buffers.

  /** Weights and Adagrad's sums: float32 [numEntities, dim] and [any, dim], float64 [numEntities] and [any]. */
  transeTable(
    entities: number,
    relations: number,
    entitySquares: number,
    relationSquares: number,
    numEntities: number,
    dim: number,
  ): void;
  /**
   * True triples, which are never negatives.
   * @param heads int32, as are `relations` and `tails`
   * @param slots int32 [slotCount]: their set, by open addressing; `slotCount` is a power of two
   * @param filter int32 [filterCount]: of that set, `filterCount` a power of two
   * @param tailChance float64 [relations]: of corrupting the tail, else the head
   */
  transeTriples(
    heads: number,
    relations: number,
    tails: number,
    slots: number,
    slotCount: number,
    filter: number,
    filterCount: number,
    tailChance: number,
  ): void;
  /** @param hinge 1 for the margin loss, 0 for the self-adversarial one @param adagrad 1, or 0 for plain descent */
  transeSettings(
    norm: number,
    hinge: number,
    margin: number,
    temperature: number,
    negativeCutoff: number,
    adagrad: number,
    negatives: number,
  ): void;
  /** Bytes of a place, which holds one positive; known once the settings and the table are. */
  transePlaceBytes(): number;
  transeScratchBytes(): number;
  /** @param places as many as a call is given positives @param streams a generator a place: 16 bytes, low word first */
  transeRoom(places: number, streams: number, scratch: number): void;
  /**
   * Trains positives one by one, each after the moves of the ones before, all with draws from the first stream.
   * @param order int32 [count]: numbers of triples
   * @returns `count`, or the place of the first whose numbers are not finite in float32: neither it nor a later one is moved
   */
  transeTrain(order: number, count: number, learningRate: number): number;
  /** The gradients of places `thread`, `thread + threads` … under the weights as they are. Returns as `transeTrain`. */
  transeGradients(order: number, count: number, thread: number, threads: number): number;
  /** Makes the moves of all places, in their order, of the rows whose number modulo `owners` is `owner`. */
  transeMoves(count: number, learningRate: number, owner: number, owners: number): void;
  /** Byte offset of float32 distances of a place: of its answer, then of `transeDrawn(place) - 1` negatives. */
  transeDistances(place: number): number;
  transeDrawn(place: number): number;

  // Forward passes of small networks.

  /**
   * A layer without a bias: `out[s, c] = Σₖ input[s, k] · weights[k, c]`, then tanh (absolute error about 2e-7) where asked.
   * Each sum goes over k in order, so a state's outputs do not depend on the other states.
   * @param input float32 [numStates, inputWidth], of which the first `rows` are read
   * @param weights float32 [panels, rows, 16]: columns `16 · panel` to `16 · panel + 15`
   * @param out float32 [numStates, 16 · panels]
   */
  denseLayer(
    input: number,
    numStates: number,
    inputWidth: number,
    rows: number,
    weights: number,
    panels: number,
    out: number,
    tanh: boolean,
  ): void;

  // Ranking of links.

  /**
   * For each of some queries, counts the rows whose distance is below the query's `low`, and notes those from there to
   * its `high`. Values are whole numbers of 16 bits, the distance is exact: under L1 Σₖ |query[k] − row[k]|, under L2
   * |row|² − 2 query · row. Sums of every eighth value of a vector's L1 distance must stay below 2^16, those of L2 below 2^31.
   * @param queries int16 [numQueries, stride / 2]
   * @param numQueries a multiple of four; query numbers below 2^15
   * @param rows int16 [numRows, stride / 2]; row numbers below 2^16
   * @param squares int32 [numRows]: |row|²; unused under L1
   * @param stride bytes of a vector, a multiple of 16: zeros follow its values
   * @param lows int32 [numQueries]
   * @param highs int32 [numQueries]
   * @param nearer int32 [numQueries], added to
   * @param close int32 [what is returned, at most numQueries · numRows]: query · 2^16 + row
   * @returns how many are in `close`
   */
  countNearer(
    norm: 1 | 2,
    queries: number,
    numQueries: number,
    rows: number,
    squares: number,
    numRows: number,
    stride: number,
    lows: number,
    highs: number,
    nearer: number,
    close: number,
  ): number;
  /**
   * Compares one query of these with some rows: each id in `ids` becomes −1 where the distance is below `low`, 1 where it
   * is over `high`, else 0.
   * @param ids int32 [count]
   */
  compareListed(
    norm: 1 | 2,
    query: number,
    rows: number,
    squares: number,
    ids: number,
    count: number,
    stride: number,
    low: number,
    high: number,
  ): void;
  /**
   * Product of matrices of any strides: `c[i · n + j] = Σₚ a[i · aRow + p · aCol] · b[p · bRow + j · bCol]`. The sum of an element runs in
   * one order whatever `m` and `n` are, so a row's results do not depend on the other rows.
   * @param c float32 [m, n]
   * @param panel float32 [8 · k + 32], scratch
   * @param add 1: the product is added to what is in `c`
   */
  matMul(
    a: number,
    aRow: number,
    aCol: number,
    b: number,
    bRow: number,
    bCol: number,
    c: number,
    m: number,
    k: number,
    n: number,
    panel: number,
    add: number,
  ): void;
  /** `y[i · n + j] += bias[j]`, float32 [m, n]. */
  addBias(y: number, bias: number, m: number, n: number): void;
  /** `y[i] = tanh(y[i])`, absolute error below 3e-7; up to 3 values behind `count` change too. */
  tanhAll(y: number, count: number): void;
  /** `g[i] *= 1 − y[i]²`: the backward pass of `y = tanh(x)`; up to 3 values of `g` behind `count` change too. */
  tanhGrad(g: number, y: number, count: number): void;
  /** `sums[j] = Σᵢ g[i · n + j]`, float32 [n]. */
  columnSums(g: number, m: number, n: number, sums: number): void;
  /** `out[i · n + j] = table[index[i] · n + j]` for `m` rows. */
  copyRows(out: number, table: number, index: number, m: number, n: number): void;
  /** `y[i] = max(y[i], 0)`; up to 3 values behind `count` change too, as in the next one. */
  reluAll(y: number, count: number): void;
  /** `g[i] = y[i] > 0 ? g[i] : 0`: the backward pass of `y = max(x, 0)`. */
  reluGrad(g: number, y: number, count: number): void;
  /** `out[i · n + j] += table[index[i] · n + j]` for `m` rows. */
  addRows(out: number, table: number, index: number, m: number, n: number): void;
  /** `table[index[i] · n + j] += g[i · n + j]` for `m` rows, in order. */
  scatterRows(table: number, g: number, index: number, m: number, n: number): void;
  /** `out[i] += scale · (left[leftRows[i]] · right[rightRows[i]])`, in float32; rows of `n` values. */
  addDots(
    out: number,
    left: number,
    leftRows: number,
    right: number,
    rightRows: number,
    n: number,
    count: number,
    scale: number,
  ): void;
  /** `out[outRows[i]] += scale · by[i] · table[tableRows[i]]`, in order; rows of `n` values. */
  addScaledRows(
    out: number,
    outRows: number,
    by: number,
    scale: number,
    table: number,
    tableRows: number,
    n: number,
    count: number,
  ): void;
  /**
   * One step of a GRU for `m` sequences, gates in the order update z, reset r, candidate c, with σ(x) = ½ + ½ tanh(x / 2):
   * `z = σ(given + own)`, `r = σ(given + own)`, `c = tanh(given + r · own)`, `hidden = z · past + (1 − z) · c`.
   * @param given float32 [m, 3 · dim]: what the inputs bring to the gates
   * @param own float32 [m, 3 · dim]: what the past states bring
   * @param past float32 [m, dim]; 0: zeros
   * @param gates float32 [m, 2 · dim], written
   * @param candidates float32 [m, dim], written, as `hidden`
   */
  gruStep(
    given: number,
    own: number,
    past: number,
    gates: number,
    candidates: number,
    hidden: number,
    m: number,
    dim: number,
  ): void;
  /**
   * Backward of `gruStep`, apart from products: writes `ofOwn`, adds to `ofGiven` and, through the update gate alone, to `ofPast`.
   * @param grads float32 [m, dim]: by `hidden`
   */
  gruGrad(
    grads: number,
    own: number,
    past: number,
    gates: number,
    candidates: number,
    ofGiven: number,
    ofOwn: number,
    ofPast: number,
    m: number,
    dim: number,
  ): void;
  /**
   * `shares[j] = softmax_j(query[i] · x[j])` over the rows `offsets[i] .. offsets[i + 1] - 1` of each query, at least one, and
   * `out[i] = Σ_j shares[j] · x[j]`; rows of `n` values.
   * @param offsets int32 [m + 1]
   * @param shares float32 [rows of x], written
   */
  attend(query: number, x: number, offsets: number, m: number, n: number, shares: number, out: number): void;
  /** Backward of `attend`: adds to `ofQuery` and `ofX`, each of which may be 0. @param grads by `out` */
  attendGrad(
    grads: number,
    query: number,
    x: number,
    offsets: number,
    m: number,
    n: number,
    shares: number,
    out: number,
    ofQuery: number,
    ofX: number,
  ): void;
  /** `to[i · toRow + j] += a[i · n + j] · b[i · bRow + j]`, in order; a stride of 0 stays at one row. */
  addProducts(to: number, toRow: number, a: number, b: number, bRow: number, m: number, n: number): void;
  /** `to[i · toRow + j] = from[i · fromRow + j]` for `m` rows of `n` values. */
  copyBlock(to: number, toRow: number, from: number, fromRow: number, m: number, n: number): void;
  /** The same with `+=`. */
  addBlock(to: number, toRow: number, from: number, fromRow: number, m: number, n: number): void;
  /** `out[j · m + i] = a[i · n + j]` for `m` rows. */
  transpose(out: number, a: number, m: number, n: number): void;

  // Messages along edges: each brings `x[from] ⊙ w[relation]`, rows of 16 values, of which the last 8 are scaled by the edge's share.

  /** The graph, once an instance. @param offsets int32 [entities + 1] @param tails int32 [edges], as is `relations` */
  messageGraph(offsets: number, tails: number, relations: number): void;
  /**
   * Edges between two entities that are left out from now on: all of them, or where `own` is not negative those of `own` from `first` and
   * those of `inverse` from `second`. @param first -1: none is
   */
  messageHidden(first: number, second: number, own: number, inverse: number): void;
  /** `out[tail] += message` along the edges of some rows. @param rows int32 [count] @param shares float32 [edges] */
  pushMessages(rows: number, count: number, shares: number, x: number, w: number, out: number): void;
  /** `out[row] += message` along the same edges walked the other way: from their tails. */
  pullMessages(rows: number, count: number, shares: number, x: number, w: number, out: number): void;
  /** Backward of `pushMessages`: adds to `ofX` and `ofW`. @param grads by `out` */
  pushGrads(
    rows: number,
    count: number,
    shares: number,
    x: number,
    w: number,
    grads: number,
    ofX: number,
    ofW: number,
  ): void;
  /** Backward of `pullMessages`. */
  pullGrads: Kernels['pushGrads'];
  /** `out[i] = b[i] + Σⱼ a[i · k + j] · z[j]` for `count` rows. @param k a multiple of 4 */
  messageWeights(a: number, b: number, z: number, count: number, k: number, out: number): void;
  /** Backward pass: adds to `ofA`, `ofB` and `ofZ`; `ofW` is zero then. */
  messageWeightGrads(
    ofW: number,
    a: number,
    z: number,
    count: number,
    k: number,
    ofA: number,
    ofB: number,
    ofZ: number,
  ): void;
  /** `out[i] = sign(x) · ln(1 + |x|)` of `x = table[index[i]]`, rows of 16 values; relative error below 4e-7. */
  slogRows(out: number, table: number, index: number, m: number): void;
  /** Backward pass, written: `ofTable[index[i]] = g[i] / (1 + |x|)`. @param index each once */
  slogGradRows(ofTable: number, table: number, g: number, index: number, m: number): void;
  /** `table[index[i]] = 0`, rows of 16 values. */
  zeroRows(table: number, index: number, m: number): void;

  /** `Σ g[i]²`, summed in float64; the array is padded with zeros to a multiple of 4. */
  sumSquares(g: number, count: number): number;
  /** `Σ g[i]`, summed in float64, so not finite where one of them is not; the same of its end. */
  sumAll(g: number, count: number): number;
  /**
   * One step of Adam in place, for the gradient `g` scaled by `s`; arrays are padded with zeros to a multiple of 4.
   * @param gain s · (1 − β₁)
   * @param squareGain s² · (1 − β₂)
   * @param decay what the values are multiplied with before the step
   */
  adamStep(
    values: number,
    first: number,
    second: number,
    g: number,
    count: number,
    beta1: number,
    gain: number,
    beta2: number,
    squareGain: number,
    stepSize: number,
    secondScale: number,
    epsilon: number,
    decay: number,
  ): void;
}

let compiled: WasmModule | undefined;
let runs: boolean | undefined;

/**
 * The kernels over the arrays of `memory`. Compiled once a thread.
 * @throws WorkbenchError `native` where this Node or its processor has no WebAssembly SIMD
 */
export function openKernels(memory: WasmMemory): Kernels {
  const { Instance } = webAssembly ?? missing();
  compiled ??= compile();
  return new Instance(compiled, { env: { memory } }).exports as Kernels;
}

/** Returns whether this Node runs the kernels. */
export function kernelsRun(): boolean {
  if (webAssembly === undefined) return false;
  runs ??= webAssembly.validate(read());
  return runs;
}

function compile(): WasmModule {
  const bytes = read();
  if (!webAssembly?.validate(bytes)) missing();
  return new webAssembly.Module(bytes);
}

function read(): Uint8Array {
  return readFileSync(new URL('./kernels.wasm', import.meta.url));
}

/** Refuses a Node without WebAssembly SIMD. @throws WorkbenchError `native` */
export function missing(): never {
  const got = webAssembly === undefined ? 'a Node without WebAssembly' : 'a processor or a Node without it';
  throw new WorkbenchError('native', `expected WebAssembly SIMD, got ${got}`, {
    hint: 'Run node without --jitless; where that does not help, choose the plain kernel in the settings.',
  });
}
