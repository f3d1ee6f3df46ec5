/**
 * Message passing over all walks of L hops from a head, with small vectors, forward and backward (after NBFNet):
 *
 * w^l_q = B^l_q + A^l_q z_r S^l_v = Σ over edges (u, q, v) of x^(l−1)_u ⊙ w^l_q ⊙ c + [v = head] a_r x^l_v = ReLU(W^l [slog S^l_v ;
 * x^(l−1)_v ; 1]) slog x = sign(x) log(1 + |x|) x^0 = a_r at the head alone s(v) = c_r · φ(v) + u · ReLU(V [slog S^L_v ; x^(L−1)_v ; φ(v)]
 * + V_z z_r) φ(v) = [0.3 log(1 + freq_r(v)), freq_r(v) > 0, 0.2 log(1 + degree)]
 *
 * c is 1 in the first half of the channels and 1 / |edges of q at u| in the other. Unreached states stay 0. The last hop gathers messages
 * only at scored entities; there w^L uses the relation of the edge as seen from them.
 */
import type { Graph } from '../../../src/kg/graph.js';
import { SimdParameters } from '../../../src/nn/simd/tape.js';
import { d, features, fillShares, hidden, messageWeights, relationDim } from './message-weights.js';

type HiddenPair = { tail: number; relation: number; inverse: number; pairs: boolean };

type Level = { list: Int32Array; size: number };

/** Network and scratch of one thread: about 330 bytes an entity and hop, 400 an entity and 20 an edge. */
export class MessageNetwork {
  readonly parameters: SimdParameters;
  readonly #graph: Graph;
  /** The last one is gathered at scored entities. */
  readonly #hops: number;
  readonly #forth: Float32Array;
  readonly #back: Float32Array;
  readonly #w: Float32Array[];
  readonly #ofW: Float32Array;
  /** S of each hop, x after each, and their gradients: float32 [numEntities, d]; all zero between queries. */
  readonly #sums: Float32Array[];
  readonly #states: Float32Array[];
  readonly #ofSums: Float32Array;
  readonly #ofStates: Float32Array[];
  /** Inputs of the layers before the last hop and of the head, by reached entity: slog S, then the previous x. */
  readonly #slogs: Float32Array[];
  readonly #befores: Float32Array[];
  readonly #ofSlogs: Float32Array;
  readonly #ofBefores: Float32Array;
  readonly #outputs: Float32Array;
  readonly #gathered: Float32Array;
  readonly #features: Float32Array;
  readonly #panel: Float32Array;
  readonly #small: Float32Array;
  /** Entities within each number of hops. */
  readonly #levels: Level[];
  readonly #scored: Int32Array;
  readonly #reachedAt: Uint8Array;
  readonly #degrees: Float32Array;
  #query = { head: -1, relation: -1 };

  /** @param hops maximum walk length @param seed of the initial weights */
  constructor(graph: Graph, hops: number, seed: number) {
    this.#graph = graph;
    this.#hops = hops;
    const { numEntities, numRelations } = graph;
    this.parameters = new SimdParameters(messageWeights(numRelations, hops, seed));
    const { arena, kernels } = this.parameters;
    const rows = (n: number, of = d) => arena.float32(n * of + 16);
    const ofHops = <T>(make: () => T): T[] => Array.from({ length: hops }, make);
    const [offsets, tails] = [arena.int32(graph.offsets.length), arena.int32(graph.numEdges)];
    const relations = arena.int32(graph.numEdges);
    offsets.set(graph.offsets);
    tails.set(graph.tails);
    relations.set(graph.relations);
    kernels.messageGraph(offsets.byteOffset, tails.byteOffset, relations.byteOffset);
    this.#forth = arena.float32(graph.numEdges + 4);
    this.#back = arena.float32(graph.numEdges + 4);
    fillShares(graph, this.#forth, this.#back);
    this.#w = ofHops(() => rows(numRelations));
    this.#ofW = rows(numRelations);
    this.#sums = ofHops(() => rows(numEntities));
    this.#states = ofHops(() => rows(numEntities));
    this.#ofSums = rows(numEntities);
    this.#ofStates = ofHops(() => rows(numEntities));
    this.#slogs = ofHops(() => rows(numEntities));
    this.#befores = ofHops(() => rows(numEntities));
    this.#ofSlogs = rows(numEntities);
    this.#ofBefores = rows(numEntities);
    this.#outputs = rows(numEntities, Math.max(d, hidden));
    this.#gathered = rows(numEntities);
    this.#features = rows(numEntities, features);
    this.#panel = arena.float32(8 * Math.max(numEntities, numRelations * d, 64) + 32);
    this.#small = arena.float32(numRelations * d + 64);
    this.#levels = ofHops(() => ({ list: arena.int32(numEntities + 4), size: 0 }));
    this.#scored = arena.int32(numEntities + 4);
    this.#reachedAt = new Uint8Array(numEntities);
    this.#degrees = Float32Array.from({ length: numEntities }, (_, v) => 0.2 * Math.log1p(graph.degree(v)));
  }

  /**
   * Scores some entities; `back` may follow, and `clear` must.
   * @param entities distinct
   * @param frequency count of each entity as an answer of the relation, the query itself excluded
   * @param out output, float64 [entities]
   */
  score(
    head: number,
    relation: number,
    pair: HiddenPair | undefined,
    entities: Int32Array,
    frequency: (entity: number) => number,
    out: Float64Array,
  ): void {
    this.#query = { head, relation };
    const final = this.#hops - 1;
    const { kernels } = this.parameters;
    const own = pair && !pair.pairs;
    kernels.messageHidden(pair ? head : -1, pair?.tail ?? -1, own ? pair.relation : -1, own ? pair.inverse : -1);
    this.#reach(head, pair);
    for (let hop = 0; hop < this.#hops; hop++) this.#relationWeights(hop);
    const start = this.parameters.value('start').subarray(relation * d, (relation + 1) * d);
    this.#states[0]!.set(start, head * d);
    for (let hop = 0; hop < final; hop++) {
      const { list, size } = this.#levels[hop]!;
      const [shares, x] = [this.#forth.byteOffset, this.#states[hop]!.byteOffset];
      kernels.pushMessages(list.byteOffset, size, shares, x, this.#w[hop]!.byteOffset, this.#sums[hop]!.byteOffset);
      for (let k = 0; k < d; k++) this.#sums[hop]![head * d + k]! += start[k]!;
      this.#update(hop);
    }
    this.#scored.set(entities);
    const count = entities.length;
    const last = this.#sums[final]!;
    const [x, w] = [this.#states[final]!.byteOffset, this.#w[final]!.byteOffset];
    kernels.pullMessages(this.#scored.byteOffset, count, this.#back.byteOffset, x, w, last.byteOffset);
    if (entities.includes(head)) for (let k = 0; k < d; k++) last[head * d + k]! += start[k]!;
    this.#readHead(entities, frequency, out);
  }

  /** Adds to the gradients of the parameters. @param entities as scored @param grads float64 [entities]: gradients of the scores */
  back(entities: Int32Array, grads: Float64Array): void {
    const { parameters } = this;
    const { kernels } = parameters;
    const { head, relation } = this.#query;
    const final = this.#hops - 1;
    const ofStart = parameters.grad('start');
    this.#headBack(entities, grads);
    const ofSums = this.#ofSums;
    kernels.pullGrads(
      ...([this.#scored.byteOffset, entities.length, this.#back.byteOffset, this.#states[final]!.byteOffset] as const),
      ...([this.#w[final]!.byteOffset, ofSums.byteOffset, this.#ofStates[final]!.byteOffset] as const),
      this.#ofW.byteOffset,
    );
    const own = entities.includes(head);
    if (own) for (let k = 0; k < d; k++) ofStart[relation * d + k]! += ofSums[head * d + k]!;
    kernels.zeroRows(ofSums.byteOffset, this.#scored.byteOffset, entities.length);
    this.#relationBack(final);
    for (let hop = final - 1; hop >= 0; hop--) {
      this.#updateBack(hop);
      for (let k = 0; k < d; k++) ofStart[relation * d + k]! += ofSums[head * d + k]!;
      const { list, size } = this.#levels[hop]!;
      kernels.pushGrads(
        ...([list.byteOffset, size, this.#forth.byteOffset, this.#states[hop]!.byteOffset] as const),
        ...([this.#w[hop]!.byteOffset, ofSums.byteOffset, this.#ofStates[hop]!.byteOffset] as const),
        this.#ofW.byteOffset,
      );
      this.#zero(ofSums, this.#levels[hop + 1]!);
      this.#relationBack(hop);
    }
    for (let k = 0; k < d; k++) ofStart[relation * d + k]! += this.#ofStates[0]![head * d + k]!;
    this.#ofStates.slice(0, final).forEach((array) => this.#zero(array, this.#levels[final]!));
    // The last hop writes gradients of all states around scored entities, reached or not.
    this.#ofStates[final]!.fill(0);
  }

  clear(entities: Int32Array): void {
    const all = this.#levels.at(-1)!;
    for (const array of [...this.#sums, ...this.#states]) this.#zero(array, all);
    this.parameters.kernels.zeroRows(this.#sums.at(-1)!.byteOffset, this.#scored.byteOffset, entities.length);
    const { list, size } = all;
    for (let i = 0; i < size; i++) this.#reachedAt[list[i]!] = 0;
  }

  #zero(array: Float32Array, { list, size }: Level): void {
    if (4 * size > this.#graph.numEntities) {
      array.fill(0);
      return;
    }
    this.parameters.kernels.zeroRows(array.byteOffset, list.byteOffset, size);
  }

  /** Each level contains the previous one and its neighbours. */
  #reach(head: number, pair: HiddenPair | undefined): void {
    const { offsets, relations, tails } = this.#graph;
    const reached = this.#reachedAt;
    const all = this.#levels.at(-1)!.list;
    all[0] = head;
    reached[head] = 1;
    let size = 1;
    this.#levels[0]!.size = 1;
    for (let hop = 0, begin = 0; hop < this.#hops - 1; hop++) {
      const end = size;
      for (let i = begin; i < end; i++) {
        const from = all[i]!;
        for (let edge = offsets[from]!; edge < offsets[from + 1]!; edge++) {
          const to = tails[edge]!;
          if (reached[to] !== 0) continue;
          const atPair = pair && ((from === head && to === pair.tail) || (from === pair.tail && to === head));
          if (atPair && (pair.pairs || relations[edge] === (from === head ? pair.relation : pair.inverse))) continue;
          reached[to] = 1;
          all[size++] = to;
        }
      }
      begin = end;
      this.#levels[hop + 1]!.size = size;
    }
    for (const level of this.#levels) level.list.set(all.subarray(0, level.size));
  }

  /** w = B + A z */
  #relationWeights(hop: number): void {
    const { parameters } = this;
    parameters.kernels.messageWeights(
      ...([parameters.value(`A.${hop}`).byteOffset, parameters.value(`B.${hop}`).byteOffset] as const),
      ...([this.#asked('value').byteOffset, this.#graph.numRelations * d, relationDim] as const),
      this.#w[hop]!.byteOffset,
    );
  }

  /** From `ofW`, which is zeroed again. */
  #relationBack(hop: number): void {
    const { parameters } = this;
    parameters.kernels.messageWeightGrads(
      ...([this.#ofW.byteOffset, parameters.value(`A.${hop}`).byteOffset, this.#asked('value').byteOffset] as const),
      ...([this.#graph.numRelations * d, relationDim, parameters.grad(`A.${hop}`).byteOffset] as const),
      ...([parameters.grad(`B.${hop}`).byteOffset, this.#asked('grad').byteOffset] as const),
    );
  }

  /** z of the query relation. */
  #asked(what: 'value' | 'grad'): Float32Array {
    const { relation } = this.#query;
    return this.parameters[what]('asked').subarray(relation * relationDim, (relation + 1) * relationDim);
  }

  /** x = ReLU(W [slog S ; previous x ; 1]) of all entities reached so far. */
  #update(hop: number): void {
    const { kernels } = this.parameters;
    const { list, size } = this.#levels[hop + 1]!;
    const outputs = this.#outputs;
    this.#layer(hop, list, size, this.parameters.value(`W.${hop}`), d);
    kernels.addBias(outputs.byteOffset, this.parameters.value(`bias.${hop}`).byteOffset, size, d);
    kernels.reluAll(outputs.byteOffset, size * d);
    // Zero before.
    kernels.scatterRows(this.#states[hop + 1]!.byteOffset, outputs.byteOffset, list.byteOffset, size, d);
  }

  /** Writes W [slog S ; previous x] of some entities to `outputs`, `width` numbers each. */
  #layer(hop: number, list: Int32Array, size: number, W: Float32Array, width: number): void {
    const { kernels } = this.parameters;
    const [slogs, befores] = [this.#slogs[hop]!, this.#befores[hop]!];
    kernels.slogRows(slogs.byteOffset, this.#sums[hop]!.byteOffset, list.byteOffset, size);
    kernels.copyRows(befores.byteOffset, this.#states[hop]!.byteOffset, list.byteOffset, size, d);
    [slogs, befores].forEach((rows, i) => {
      const part = W.byteOffset + i * d * width * Float32Array.BYTES_PER_ELEMENT;
      kernels.matMul(
        ...([rows.byteOffset, d, 1, part, width, 1, this.#outputs.byteOffset, size, d, width] as const),
        ...([this.#panel.byteOffset, i] as const),
      );
    });
  }

  /** Backward pass from `grads` to the gradients of W, and to `ofSlogs` and `ofBefores`. */
  #layerBack(hop: number, size: number, grads: Float32Array, name: string, width: number): void {
    const { kernels } = this.parameters;
    const panel = this.#panel.byteOffset;
    const W = this.parameters.value(name).byteOffset;
    const ofW = this.parameters.grad(name).byteOffset;
    const inputs = [this.#slogs[hop]!, this.#befores[hop]!];
    [this.#ofSlogs, this.#ofBefores].forEach((ofInputs, i) => {
      const part = i * d * width * Float32Array.BYTES_PER_ELEMENT;
      kernels.matMul(
        ...([inputs[i]!.byteOffset, 1, d, grads.byteOffset, width, 1, ofW + part, d, size, width, panel, 1] as const),
      );
      kernels.matMul(
        ...([grads.byteOffset, width, 1, W + part, 1, width, ofInputs.byteOffset, size, width, d, panel, 0] as const),
      );
    });
  }

  #updateBack(hop: number): void {
    const { kernels } = this.parameters;
    const { list, size } = this.#levels[hop + 1]!;
    const [grads, gathered] = [this.#outputs, this.#gathered];
    kernels.copyRows(grads.byteOffset, this.#ofStates[hop + 1]!.byteOffset, list.byteOffset, size, d);
    kernels.copyRows(gathered.byteOffset, this.#states[hop + 1]!.byteOffset, list.byteOffset, size, d);
    kernels.reluGrad(grads.byteOffset, gathered.byteOffset, size * d);
    this.#layerBack(hop, size, grads, `W.${hop}`, d);
    this.#addColumns(grads, size, d, this.parameters.grad(`bias.${hop}`));
    this.#inputsBack(hop, list, size);
  }

  /** Backward pass to S (written) and to the previous states (added). */
  #inputsBack(hop: number, list: Int32Array, size: number): void {
    const { kernels } = this.parameters;
    const [ofSlogs, ofBefores] = [this.#ofSlogs.byteOffset, this.#ofBefores.byteOffset];
    kernels.slogGradRows(this.#ofSums.byteOffset, this.#sums[hop]!.byteOffset, ofSlogs, list.byteOffset, size);
    kernels.scatterRows(this.#ofStates[hop]!.byteOffset, ofBefores, list.byteOffset, size, d);
  }

  #addColumns(rows: Float32Array, count: number, width: number, to: Float32Array): void {
    this.parameters.kernels.columnSums(rows.byteOffset, count, width, this.#small.byteOffset);
    for (let k = 0; k < width; k++) to[k]! += this.#small[k]!;
  }

  #readHead(entities: Int32Array, frequency: (entity: number) => number, out: Float64Array): void {
    const { parameters } = this;
    const { kernels } = parameters;
    const [phi, outputs] = [this.#features, this.#outputs];
    const count = entities.length;
    const panel = this.#panel.byteOffset;
    entities.forEach((entity, i) => {
      const often = frequency(entity);
      phi[i * features] = often > 0 ? 0.3 * Math.log1p(often) : 0;
      phi[i * features + 1] = Number(often > 0);
      phi[i * features + 2] = this.#degrees[entity]!;
    });
    const V = parameters.value('V');
    kernels.matMul(
      ...([this.#asked('value').byteOffset, relationDim, 1, parameters.value('V.asked').byteOffset] as const),
      ...([hidden, 1, this.#small.byteOffset, 1, relationDim, hidden, panel, 0] as const),
    );
    this.#layer(this.#hops - 1, this.#scored, count, V, hidden);
    kernels.matMul(
      ...([phi.byteOffset, features, 1, V.subarray(2 * d * hidden).byteOffset, hidden, 1] as const),
      ...([outputs.byteOffset, count, features, hidden, panel, 1] as const),
    );
    kernels.addBias(outputs.byteOffset, this.#small.byteOffset, count, hidden);
    kernels.reluAll(outputs.byteOffset, count * hidden);
    const [u, c] = [parameters.value('u'), this.#direct('value')];
    for (let i = 0; i < count; i++) {
      let score = 0;
      for (let k = 0; k < features; k++) score += c[k]! * phi[i * features + k]!;
      for (let k = 0; k < hidden; k++) score += u[k]! * outputs[i * hidden + k]!;
      out[i] = score;
    }
  }

  #direct(what: 'value' | 'grad'): Float32Array {
    const { relation } = this.#query;
    return this.parameters[what]('direct').subarray(relation * features, (relation + 1) * features);
  }

  #headBack(entities: Int32Array, grads: Float64Array): void {
    const { parameters } = this;
    const { kernels } = parameters;
    const [phi, outputs] = [this.#features, this.#outputs];
    const count = entities.length;
    const [u, ofU, ofC] = [parameters.value('u'), parameters.grad('u'), this.#direct('grad')];
    for (let i = 0; i < count; i++) {
      const own = grads[i]!;
      for (let k = 0; k < features; k++) ofC[k]! += own * phi[i * features + k]!;
      for (let k = 0; k < hidden; k++) {
        const output = outputs[i * hidden + k]!;
        ofU[k]! += own * output;
        outputs[i * hidden + k] = output > 0 ? own * u[k]! : 0;
      }
    }
    this.#layerBack(this.#hops - 1, count, outputs, 'V', hidden);
    kernels.matMul(
      ...([phi.byteOffset, 1, features, outputs.byteOffset, hidden, 1] as const),
      ...([parameters.grad('V').subarray(2 * d * hidden).byteOffset, features, count, hidden] as const),
      ...([this.#panel.byteOffset, 1] as const),
    );
    const sums = this.#small;
    kernels.columnSums(outputs.byteOffset, count, hidden, sums.byteOffset);
    const [z, ofZ] = [this.#asked('value'), this.#asked('grad')];
    const [Vz, ofVz] = [parameters.value('V.asked'), parameters.grad('V.asked')];
    for (let j = 0; j < relationDim; j++) {
      for (let k = 0; k < hidden; k++) {
        ofVz[j * hidden + k]! += z[j]! * sums[k]!;
        ofZ[j]! += Vz[j * hidden + k]! * sums[k]!;
      }
    }
    this.#inputsBack(this.#hops - 1, this.#scored, count);
  }
}
