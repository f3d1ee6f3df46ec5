/**
 * What computes a network: the primitives of which the tape builds operations and their gradients, and where the numbers lie. Matrices are
 * float32 and row-major; what an executor calls `Numbers` and `Rows` it alone reads.
 */

/** Float32 numbers of an executor. */
export type Numbers = object;
/** Int32 row numbers of an executor. */
export type Rows = object;

/** Functions that work number by number; their derivative follows from their value. */
export type Activation = 'tanh' | 'relu' | 'sigmoid' | 'exp' | 'leaky';

/** Room for one computation, given back all at once. */
export interface Scope<N extends Numbers, R extends Rows> {
  /** Starts another computation: what was taken before is no longer valid. */
  begin(): void;
  /** [length] of any values; up to 3 behind its end may be changed. */
  take(length: number): N;
  zeros(length: number): N;
  /** A copy of values of the host. */
  copy(values: Float32Array): N;
  /** A copy of row numbers of the host; those that are there already as they are. */
  rows(values: Int32Array | R): R;
}

/** Part of a matrix: `columns` columns from `column` on, where a row has `width`. */
export type Block<N> = readonly [values: N, width: number, column: number, columns: number];

/** Scaling of rows: to length 1 (`unit`), to variance 1 with mean 0 (`layer`), or to a mean square of 1 (`rms`). */
export interface Normalization {
  kind: 'unit' | 'layer' | 'rms';
  /** Added to the mean square; `unit` leaves rows of zeros as they are instead. */
  epsilon: number;
}

/** Which of two factors is read transposed. */
export type Product = 'ab' | 'abT' | 'aTb';

/** Settings of one step of AdamW, bias corrections included. */
export interface AdamStep {
  beta1: number;
  beta2: number;
  /** Terms of the moments: the gradient and its square times these. */
  gain: number;
  squareGain: number;
  /** Learning rate over 1 − beta1^t. */
  rate: number;
  /** 1 over √(1 − beta2^t). */
  secondScale: number;
  epsilon: number;
  /** Weights are multiplied by it before the step. */
  keep: number;
}

/** Parameters of a network and what belongs to each: runs of one layout. */
export interface Run<N extends Numbers> {
  /** All of them, for `sumSquares`, `adamStep` and `fill`; behind each part may stand up to 3 zeros. */
  readonly whole: N;
  /** One by one. */
  readonly parts: readonly N[];
}

/** Operations write into `out` or add to `into`. A row's numbers do not depend on the other rows of a call where `rowsAreIndependent`. */
export interface Executor<N extends Numbers = Numbers, R extends Rows = Rows> {
  /** Name for settings, records and messages. */
  readonly name: string;
  /** True where a row's numbers are the same in any batch, to the bit. */
  readonly rowsAreIndependent: boolean;

  scope(): Scope<N, R>;
  /** Numbers that stay until the executor is gone: a copy, one for each array, which is not to be changed. */
  hold(values: Float32Array): N;
  /** Zeros of these lengths, which stay until `free`. */
  run(lengths: readonly number[]): Run<N>;
  free(run: Run<N>): void;
  write(into: N, values: Float32Array): void;
  /** A copy. */
  read(values: N): Promise<Float32Array>;
  fill(into: N, value: number): void;

  /** a · b, with one factor transposed or none: [m, n] sums of k products, added to `out` where `add` is true. */
  matMul(kind: Product, a: N, b: N, out: N, m: number, k: number, n: number, add?: boolean): void;
  /** Products a_g · b_gᵀ of groups of rows, one behind the other: of group g [rows of a_g, rows of b_g]. */
  groupProducts(a: N, ofA: Int32Array, b: N, ofB: Int32Array, width: number, out: N): void;
  /** Gradients of it: `da` and `db` are added to, where they are given. */
  groupProductsGrad(grads: N, a: N, ofA: Int32Array, b: N, ofB: Int32Array, width: number, da?: N, db?: N): void;
  /** Adds a bias [width] to each row. */
  addBias(out: N, bias: N, rows: number, width: number): void;
  /** into [width] += sums of the columns. */
  addColumnSums(into: N, x: N, rows: number, width: number): void;
  activate(kind: Activation, out: N, length: number): void;
  /** grads ← grads · f′, by the values of f. */
  activateGrad(kind: Activation, grads: N, out: N, length: number): void;
  /** out = blocks side by side. */
  concat(out: N, blocks: readonly Block<N>[], rows: number): void;
  /** into += x, of as many columns */
  addBlock(into: Block<N>, x: Block<N>, rows: number): void;
  /** into += scale · x */
  addScaled(into: N, x: N, length: number, scale: number): void;
  /** into[i] += a[i] · b[i] of rows; a row step of 0 takes or adds to one row again and again, one of `width` the next row. */
  addProducts(into: N, intoStep: number, a: N, b: N, bStep: number, rows: number, width: number): void;
  /** out[i] = table[index[i]] */
  copyRows(out: N, table: N, index: R, width: number): void;
  /** out[i] += table[index[i]] */
  addRows(out: N, table: N, index: R, width: number): void;
  /** table[index[i]] += x[i] */
  scatterRows(table: N, x: N, index: R, width: number): void;
  /** out[i] += scale · x[left[i]] · y[right[i]], of a block of the columns of x. */
  addDots(out: N, x: Block<N>, left: R, y: N, right: R, scale: number): void;
  /** into[rows[i]] += scale · by[i] · table[of[i]], of blocks of as many columns. */
  addScaledRows(into: Block<N>, rows: R, by: N, scale: number, table: Block<N>, of: R): void;
  /** Log-softmax of each column within segments of rows; see `Tape.segmentLogSoftmax`. */
  segmentLogSoftmax(x: N, out: N, offsets: Int32Array, columns: number, logWeights?: Float32Array): void;
  segmentLogSoftmaxGrad(
    into: N,
    grads: N,
    out: N,
    offsets: Int32Array,
    columns: number,
    logWeights?: Float32Array,
  ): void;
  /** The largest number of each segment. @returns which it is, to which alone the gradient goes */
  segmentMax(x: N, out: N, offsets: Int32Array): object;
  segmentMaxGrad(into: N, grads: N, which: object): void;
  /** out[i] = ln Σ_j exp x[i, j] */
  logSumExp(x: N, out: N, rows: number, width: number): void;
  logSumExpGrad(into: N, grads: N, x: N, out: N, rows: number, width: number): void;
  /** @returns what the gradient needs */
  normalize(by: Normalization, x: N, out: N, rows: number, width: number): object;
  normalizeGrad(by: Normalization, into: N, grads: N, out: N, scales: object, rows: number, width: number): void;
  /** A step of a GRU; see `Tape.gruCell`. @param gates [rows, 3 · width], written: z, r and c, for the gradient */
  gruCell(given: N, own: N, past: N, gates: N, out: N, rows: number, width: number): void;
  /** Gradients by `given`, `own` and `past` are added to, where they are given. */
  gruCellGrad(
    grads: N,
    own: N,
    past: N,
    gates: N,
    rows: number,
    width: number,
    ofGiven?: N,
    ofOwn?: N,
    ofPast?: N,
  ): void;
  /** To the nearest bfloat16. */
  roundBfloat16(x: N, out: N, length: number): void;

  /** into = x, of one length. */
  assign(into: N, x: N): void;
  /** Waits for a device where there is one, as the next does. */
  sumSquares(x: N): Promise<number>;
  sum(x: N): Promise<number>;
  adamStep(weights: Run<N>, first: Run<N>, second: Run<N>, grads: Run<N>, step: AdamStep): void;
  /** Steps without a read between them, on an executor that computes apart from the host. */
  readonly queue?: Queue<N, R>;
}

/** Row numbers that a queue picked. */
export type PickedRows = { readonly length: number };

/** Segments of rows, one behind the other, that stay where the network is computed. */
export interface HeldSegments<R extends Rows> {
  /** int32 [segments + 1], of the host. */
  offsets: Int32Array;
  columns: readonly R[];
}

/** Operations that wait for nothing. */
export interface Queue<N extends Numbers, R extends Rows> {
  /** Room for what steps are made of, next to that of their networks. */
  readonly scope: Scope<N, R>;
  /** While true, what computations copied stays, until it turns false. */
  keeps: boolean;
  /** Begins to compute what is queued. */
  submit(): void;
  /**
   * Some of the segments, one behind the other.
   * @param ids int32: distinct segments
   * @returns their columns, the place among them of each row's segment, and where each segment begins
   */
  pick(
    held: HeldSegments<R>,
    ids: Int32Array,
    scope: Scope<N, R>,
  ): { offsets: Int32Array; segmentOf: R & PickedRows; columns: (R & PickedRows)[] };
  /**
   * The same as `adamStep` with gradients scaled down to a norm; leaves zeros in them.
   * @param most norm; Infinity for none
   * @param norm [1], written: that of the gradients
   * @param stopped [1]: not 0 leaves the step out; set to 1 where the norm is not finite
   */
  clippedAdamStep(
    runs: readonly [weights: Run<N>, first: Run<N>, second: Run<N>, grads: Run<N>],
    step: AdamStep,
    most: number,
    norm: N,
    stopped: N,
  ): void;
  /** PPO's loss and its gradients by logits and values; see `trainers/ppo-loss.ts`. */
  ppoObjective(input: QueuedObjective<N, R>): void;
}

/** A minibatch with what its loss is made of, states in order. */
export interface QueuedObjective<N extends Numbers, R extends Rows> {
  states: number;
  logits: N;
  /** Added to, as the next are. */
  dLogits: N;
  /** [states + 1]: actions of each state. */
  offsets: R;
  /** Place of each action among the logits; absent where they are in order. */
  legal?: R | undefined;
  /** [states + 1]: scores of each state, illegal actions included; absent where there are none. */
  scored?: R | undefined;
  /** [states], with a critic. */
  values?: N | undefined;
  dValues?: N | undefined;
  /** [actions]: log-probabilities of the reference policy. */
  reference?: N | undefined;
  /** [states + 1]: transitions of each state. */
  firsts: R;
  action: R;
  oldLogProb: N;
  advantage: N;
  returns: N;
  oldValue: N;
  /** Weight of the gradients. */
  share: number;
  /** [states, objectiveFigures.length], written. */
  figures: N;
  settings: ObjectiveWeights;
}

/** Settings of PPO's loss; see `trainers/ppo-settings.ts`. */
export interface ObjectiveWeights {
  algorithm: 'ppo' | 'reinforce';
  clipRange: number;
  dualClip: number | null;
  clipRangeValue: number | null;
  entropyCoef: number;
  valueCoef: number;
  klCoef: number;
  feasibilityCoef: number;
}

/** Shares of a state in the means of a minibatch; the last is a maximum. */
export const objectiveFigures = [
  'policyLoss',
  'valueLoss',
  'entropy',
  'anchorKl',
  'approxKl',
  'clipFraction',
  'normalizedEntropy',
  'choices',
  'feasibilityLoss',
  'maxRatioDeviation',
] as const;

/** Visits groups of rows of two matrices: where its rows begin and how many they are, and where the products of its pairs begin. */
export function eachGroup(
  ofA: Int32Array,
  ofB: Int32Array,
  visit: (begin: number, m: number, from: number, n: number, at: number) => void,
): void {
  for (let g = 0, at = 0; g + 1 < ofA.length; g++) {
    const [m, n] = [ofA[g + 1]! - ofA[g]!, ofB[g + 1]! - ofB[g]!];
    if (m * n > 0) visit(ofA[g]!, m, ofB[g]!, n, at);
    at += m * n;
  }
}
