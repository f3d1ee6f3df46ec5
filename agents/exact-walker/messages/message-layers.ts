/**
 * Layers of message passing over the walks from one entity, forward and backward. Of every entity v within l edges of the head:
 *
 * S^l_v = Σ over edges (u, q, v) of x^(l−1)_u ⊙ w^l_q ⊙ c + [v = head] start,  M^l_v = max(0, x^(l−1)_u ⊙ w^l_q over the same edges),
 * x^l_v = ReLU(W^l [slog S^l_v ; slog M^l_v ; x^(l−1)_v ; 1]),  x^0 = start at the head alone,  slog x = sign(x) log(1 + |x|).
 *
 * c is 1 in the first half of every 16 channels and 1 / |edges of q at u| in the other. Rows are entities in the order in which they are
 * reached, so that a query costs what it reaches, not the whole graph.
 * @source Zhu et al. 2021, "Neural Bellman-Ford networks", eq. 3 to 5; the maximum is one of its PNA aggregators
 */
import type { Graph } from '../../../src/kg/graph.js';
import type { SimdParameters } from '../../../src/nn/simd/tape.js';
import { fillShares, type MessageSizes } from './message-weights.js';

/** Edges of a train query that are hidden: those between its ends, or with `pairs` false its own and its inverse. */
export type HiddenPair = { tail: number; relation: number; inverse: number; pairs: boolean };

/** Relation vectors of a hop, float32 [relations, channels]. */
type HopWeights = (hop: number) => Float32Array;

/** Scratch of one thread: about 400 bytes an entity and layer at 16 channels, as far as entities are reached, and 20 an edge. */
export class MessageLayers {
  readonly #parameters: SimdParameters;
  readonly #graph: Graph;
  readonly #layers: number;
  readonly #prefix: string;
  readonly #d: number;
  /** Numbers of a row of sums: S, then M. */
  readonly #received: number;
  readonly #columns: readonly [offsets: Int32Array, tails: Int32Array, relations: Int32Array];
  /** float32 [edges]: c of the second half of 16 channels. */
  readonly #shares: Float32Array;
  /** Reached entities in order, and the row of each; -1 for others. */
  readonly #list: Int32Array;
  readonly #places: Int32Array;
  /** Entities within each number of edges. */
  readonly #sizes: number[];
  /** x before the first layer and after each. */
  readonly #states: Float32Array[];
  readonly #sums: Float32Array[];
  readonly #slogs: Float32Array[];
  readonly #chosen: Int32Array[];
  readonly #ofSums: Float32Array;
  /** Gradients of the states of a layer and of the one before, in turns. */
  readonly #ofStates: readonly [Float32Array, Float32Array];
  #query: { head: number; pair?: HiddenPair | undefined } = { head: -1 };

  /** @param layers after each of which every entity has a state @param prefix of the names of their parameters, `W.0`, `bias.0` … */
  constructor(
    parameters: SimdParameters,
    graph: Graph,
    layers: number,
    { channels, maximum }: MessageSizes,
    prefix = '',
    shares?: Float32Array,
  ) {
    this.#parameters = parameters;
    this.#graph = graph;
    this.#layers = layers;
    this.#prefix = prefix;
    this.#d = channels;
    this.#received = maximum ? 2 * channels : channels;
    const { arena } = parameters;
    const { numEntities, numEdges } = graph;
    this.#columns = [arena.int32(graph.offsets.length), arena.int32(numEdges), arena.int32(numEdges)];
    [graph.offsets, graph.tails, graph.relations].forEach((column, i) => this.#columns[i]!.set(column));
    this.#shares = arena.float32(numEdges + 4);
    if (shares) this.#shares.set(shares);
    else fillShares(graph, this.#shares);
    this.#list = arena.int32(numEntities + 4);
    this.#places = arena.int32(numEntities).fill(-1);
    this.#sizes = Array.from({ length: layers + 1 }, () => 0);
    const rows = (width: number) => arena.float32(numEntities * width + 16);
    const ofLayers = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
    this.#states = ofLayers(layers + 1, () => rows(channels));
    this.#sums = ofLayers(layers, () => rows(this.#received));
    this.#slogs = ofLayers(layers, () => rows(this.#received));
    this.#chosen = maximum ? ofLayers(layers, () => arena.int32(numEntities * channels + 16)) : [];
    this.#ofSums = rows(this.#received);
    this.#ofStates = [rows(channels), rows(channels)];
  }

  /** Number of entities that are reached. */
  get size(): number {
    return this.#sizes[this.#layers]!;
  }

  /** Row of an entity, -1 where it is not reached. */
  placeOf(entity: number): number {
    return this.#places[entity]!;
  }

  /** States of the last layer, float32 [size, channels]. */
  get states(): Float32Array {
    return this.#states[this.#layers]!;
  }

  /** Gradients of `states`, all 0 after `forward`; `backward` uses them up. */
  get ofStates(): Float32Array {
    return this.#ofStates[this.#layers % 2]!;
  }

  /** @param start float32 [channels] @param pair edges of the head that are hidden */
  forward(head: number, start: Float32Array, w: HopWeights, pair?: HiddenPair): void {
    const { kernels, executor } = this.#parameters;
    const [d, received] = [this.#d, this.#received];
    for (let i = 0; i < this.size; i++) this.#places[this.#list[i]!] = -1;
    this.#query = { head, pair };
    this.#reach();
    this.#present();
    this.#states[0]!.set(start);
    for (let hop = 0; hop < this.#layers; hop++) {
      const [before, size] = [this.#sizes[hop]!, this.#sizes[hop + 1]!];
      const [x, next, sums, chosen] = [this.#states[hop]!, this.#states[hop + 1]!, this.#sums[hop]!, this.#chosen[hop]];
      x.fill(0, before * d, size * d);
      sums.fill(0, 0, size * received);
      chosen?.fill(0, 0, size * d);
      kernels.pushMessages(
        ...([this.#list.byteOffset, before, this.#shares.byteOffset, x.byteOffset, w(hop).byteOffset] as const),
        ...([sums.byteOffset, chosen?.byteOffset ?? 0] as const),
      );
      for (let k = 0; k < d; k++) sums[k]! += start[k]!;
      const slogs = this.#slogs[hop]!;
      kernels.slogAll(slogs.byteOffset, sums.byteOffset, size * received);
      const W = this.#parameters.value(`${this.#prefix}W.${hop}`);
      executor.matMul('ab', slogs, W, next, size, received, d);
      executor.matMul('ab', x, W.subarray(received * d), next, size, d, d, true);
      executor.addBias(next, this.#parameters.value(`${this.#prefix}bias.${hop}`), size, d);
      kernels.reluAll(next.byteOffset, size * d);
    }
    this.ofStates.fill(0, 0, this.size * d);
  }

  /**
   * Sums and maxima of one hop more at some entities.
   * @param entities int32 [count] @param shares float32 [edges]: of the reverse of each edge
   * @param out float32 [count, received] @param chosen int32 [count, channels], with a maximum
   */
  gather(
    entities: Int32Array,
    count: number,
    shares: Float32Array,
    w: Float32Array,
    out: Float32Array,
    chosen?: Int32Array,
  ): void {
    this.#parameters.kernels.pullMessages(
      ...([entities.byteOffset, count, shares.byteOffset, this.states.byteOffset, w.byteOffset] as const),
      ...([out.byteOffset, chosen?.byteOffset ?? 0] as const),
    );
  }

  /** Backward of `gather`: adds to `ofStates` and `ofW`. */
  gatherBack(
    entities: Int32Array,
    count: number,
    shares: Float32Array,
    w: Float32Array,
    grads: Float32Array,
    ofW: Float32Array,
    chosen?: Int32Array,
  ): void {
    this.#parameters.kernels.pullGrads(
      ...([entities.byteOffset, count, shares.byteOffset, this.states.byteOffset, w.byteOffset] as const),
      ...([grads.byteOffset, chosen?.byteOffset ?? 0, this.ofStates.byteOffset, ofW.byteOffset] as const),
    );
  }

  /**
   * Backward of `forward` from `ofStates`: adds to the gradients of the parameters, to `ofStart` and `ofW`.
   */
  backward(w: HopWeights, ofStart: Float32Array, ofW: HopWeights): void {
    const { kernels, executor } = this.#parameters;
    const [d, received] = [this.#d, this.#received];
    this.#present();
    for (let hop = this.#layers - 1; hop >= 0; hop--) {
      const [before, size] = [this.#sizes[hop]!, this.#sizes[hop + 1]!];
      const [ofNext, ofX, ofSums] = [this.#ofStates[(hop + 1) % 2]!, this.#ofStates[hop % 2]!, this.#ofSums];
      const [x, sums, slogs] = [this.#states[hop]!, this.#sums[hop]!, this.#slogs[hop]!];
      kernels.reluGrad(ofNext.byteOffset, this.#states[hop + 1]!.byteOffset, size * d);
      const [W, ofW0] = (['value', 'grad'] as const).map((what) =>
        this.#parameters[what](`${this.#prefix}W.${hop}`),
      ) as [Float32Array, Float32Array];
      executor.matMul('aTb', slogs, ofNext, ofW0, received, size, d, true);
      executor.matMul('aTb', x, ofNext, ofW0.subarray(received * d), d, before, d, true);
      executor.addColumnSums(this.#parameters.grad(`${this.#prefix}bias.${hop}`), ofNext, size, d);
      executor.matMul('abT', ofNext, W, ofSums, size, d, received);
      executor.matMul('abT', ofNext, W.subarray(received * d), ofX, before, d, d);
      kernels.slogGrad(ofSums.byteOffset, sums.byteOffset, size * received);
      for (let k = 0; k < d; k++) ofStart[k]! += ofSums[k]!;
      kernels.pushGrads(
        ...([this.#list.byteOffset, before, this.#shares.byteOffset, x.byteOffset, w(hop).byteOffset] as const),
        ...([ofSums.byteOffset, this.#chosen[hop]?.byteOffset ?? 0, ofX.byteOffset, ofW(hop).byteOffset] as const),
      );
    }
    for (let k = 0; k < d; k++) ofStart[k]! += this.#ofStates[0][k]!;
  }

  /** Makes the graph, and what is hidden of it, that of the kernels: networks over two graphs share them. */
  #present(): void {
    const { head, pair } = this.#query;
    const { kernels } = this.#parameters;
    const [offsets, tails, relations] = this.#columns;
    kernels.messageGraph(
      ...([offsets.byteOffset, tails.byteOffset, relations.byteOffset, this.#places.byteOffset, this.#d] as const),
    );
    const own = pair && !pair.pairs;
    kernels.messageHidden(pair ? head : -1, pair?.tail ?? -1, own ? pair.relation : -1, own ? pair.inverse : -1);
  }

  #reach(): void {
    const { head, pair } = this.#query;
    const { offsets, relations, tails } = this.#graph;
    const [list, places] = [this.#list, this.#places];
    list[0] = head;
    places[head] = 0;
    let size = 1;
    this.#sizes[0] = 1;
    for (let hop = 0, begin = 0; hop < this.#layers; hop++) {
      const end = size;
      for (let i = begin; i < end; i++) {
        const from = list[i]!;
        for (let edge = offsets[from]!; edge < offsets[from + 1]!; edge++) {
          const to = tails[edge]!;
          if (places[to]! >= 0) continue;
          const atPair = pair && ((from === head && to === pair.tail) || (from === pair.tail && to === head));
          if (atPair && (pair.pairs || relations[edge] === (from === head ? pair.relation : pair.inverse))) continue;
          places[to] = size;
          list[size++] = to;
        }
      }
      begin = end;
      this.#sizes[hop + 1] = size;
    }
  }
}
