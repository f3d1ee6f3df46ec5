/**
 * Scores of entities for (head, relation, ?) by message passing over all walks of L hops, with small vectors (after NBFNet):
 *
 * s(v) = c_r · φ(v) + u · ReLU(V [slog S^L_v ; slog M^L_v ; x^(L−1)_v ; φ(v)] + b_r)
 *
 * with S^L, M^L and x^(L−1) of `message-layers.ts`, φ(v) = [0.3 log(1 + freq_r(v)), freq_r(v) > 0, 0.2 log(1 + degree)], and c_r, b_r and all
 * relation vectors of `relation-weights.ts`. The last hop is gathered at scored entities alone; its vectors are those of the edges as seen
 * from there.
 */
import type { Graph } from '../../../src/kg/graph.js';
import { SimdParameters } from '../../../src/nn/simd/tape.js';
import { type HiddenPair, MessageLayers } from './message-layers.js';
import { GraphWeights } from './graph-weights.js';
import { features, fillReverseShares, type MessageSizes, messageWeights } from './message-weights.js';
import { OwnWeights, type RelationWeights } from './relation-weights.js';

/** Network and scratch of one thread. */
export class MessageNetwork {
  readonly parameters: SimdParameters;
  readonly #layers: MessageLayers;
  readonly #relations: RelationWeights;
  readonly #last: number;
  readonly #d: number;
  readonly #received: number;
  readonly #degrees: Float32Array;
  readonly #shares: Float32Array;
  /** By scored entity: its id, S and M, their logarithms, the state before, φ, and the hidden units. */
  readonly #scored: Int32Array;
  readonly #sums: Float32Array;
  readonly #chosen: Int32Array | undefined;
  readonly #slogs: Float32Array;
  readonly #befores: Float32Array;
  readonly #features: Float32Array;
  readonly #units: Float32Array;
  readonly #ofSums: Float32Array;
  readonly #ofBefores: Float32Array;
  #head = -1;

  /** @param weights of another network of these sizes, or the seed of new ones */
  constructor(graph: Graph, sizes: MessageSizes, weights: SimdParameters | number) {
    const { numEntities, numRelations } = graph;
    const { hops, channels, maximum } = sizes;
    const isNew = typeof weights === 'number';
    this.parameters = isNew ? new SimdParameters(messageWeights(numRelations, sizes, weights)) : weights;
    this.#layers = new MessageLayers(this.parameters, graph, hops - 1, sizes);
    this.#relations =
      sizes.relations === 'graph'
        ? new GraphWeights(this.parameters, graph, sizes)
        : new OwnWeights(this.parameters, numRelations, sizes);
    this.#last = hops - 1;
    this.#d = channels;
    this.#received = maximum ? 2 * channels : channels;
    this.#degrees = Float32Array.from({ length: numEntities }, (_, v) => 0.2 * Math.log1p(graph.degree(v)));
    const { arena } = this.parameters;
    this.#shares = arena.float32(graph.numEdges + 4);
    fillReverseShares(graph, this.#shares);
    const rows = (width: number) => arena.float32(numEntities * width + 16);
    this.#scored = arena.int32(numEntities + 4);
    this.#chosen = maximum ? arena.int32(numEntities * channels + 16) : undefined;
    [this.#sums, this.#slogs, this.#ofSums] = [rows(this.#received), rows(this.#received), rows(this.#received)];
    [this.#befores, this.#ofBefores, this.#units] = [rows(channels), rows(channels), rows(channels)];
    this.#features = rows(features);
  }

  /**
   * Scores some entities; `back` may follow.
   * @param pair hidden edges @param entities distinct
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
    this.#head = head;
    const relations = this.#relations;
    relations.ask(relation);
    const { start, direct, bias } = relations.vectors;
    const { executor, kernels } = this.parameters;
    this.#layers.forward(head, start, (hop) => relations.w(hop), pair);
    this.#gather(entities, start);
    const [count, d, received, units] = [entities.length, this.#d, this.#received, this.#units];
    const phi = this.#features;
    entities.forEach((entity, i) => {
      const often = frequency(entity);
      phi[i * features] = often > 0 ? 0.3 * Math.log1p(often) : 0;
      phi[i * features + 1] = Number(often > 0);
      phi[i * features + 2] = this.#degrees[entity]!;
    });
    const V = this.parameters.value('V');
    executor.matMul('ab', this.#slogs, V, units, count, received, d);
    executor.matMul('ab', this.#befores, V.subarray(received * d), units, count, d, d, true);
    executor.matMul('ab', phi, V.subarray((received + d) * d), units, count, features, d, true);
    executor.addBias(units, bias, count, d);
    kernels.reluAll(units.byteOffset, count * d);
    const u = this.parameters.value('u');
    for (let i = 0; i < count; i++) {
      let score = 0;
      for (let k = 0; k < features; k++) score += direct[k]! * phi[i * features + k]!;
      for (let k = 0; k < d; k++) score += u[k]! * units[i * d + k]!;
      out[i] = score;
    }
  }

  /** Takes gradients of the scores back; `flush` follows a batch. @param entities as scored @param grads float64 [entities] */
  back(entities: Int32Array, grads: Float64Array): void {
    const relations = this.#relations;
    const { start } = relations.grads;
    this.#readBack(entities.length, grads);
    const { kernels } = this.parameters;
    const [count, d, received, ofSums, layers] = [entities.length, this.#d, this.#received, this.#ofSums, this.#layers];
    kernels.slogGrad(ofSums.byteOffset, this.#sums.byteOffset, count * received);
    const own = entities.indexOf(this.#head);
    if (own >= 0) for (let k = 0; k < d; k++) start[k]! += ofSums[own * received + k]!;
    const ofStates = layers.ofStates;
    entities.forEach((entity, i) => {
      const place = layers.placeOf(entity);
      if (place >= 0) for (let k = 0; k < d; k++) ofStates[place * d + k]! += this.#ofBefores[i * d + k]!;
    });
    const last = this.#last;
    layers.gatherBack(
      ...([this.#scored, count, this.#shares, relations.w(last), ofSums, relations.ofW(last), this.#chosen] as const),
    );
    layers.backward(
      (hop) => relations.w(hop),
      start,
      (hop) => relations.ofW(hop),
    );
  }

  /** Ends a batch: the gradients of its queries are in the parameters then. */
  flush(): void {
    this.#relations.flush();
  }

  /** Sums, maxima and states of the entities to score. */
  #gather(entities: Int32Array, start: Float32Array): void {
    const [count, d, received, sums] = [entities.length, this.#d, this.#received, this.#sums];
    const { states } = this.#layers;
    this.#scored.set(entities);
    this.#layers.gather(this.#scored, count, this.#shares, this.#relations.w(this.#last), sums, this.#chosen);
    const own = entities.indexOf(this.#head);
    if (own >= 0) for (let k = 0; k < d; k++) sums[own * received + k]! += start[k]!;
    this.parameters.kernels.slogAll(this.#slogs.byteOffset, sums.byteOffset, count * received);
    entities.forEach((entity, i) => {
      const place = this.#layers.placeOf(entity);
      if (place < 0) this.#befores.fill(0, i * d, (i + 1) * d);
      else for (let k = 0; k < d; k++) this.#befores[i * d + k] = states[place * d + k]!;
    });
  }

  /** Backward of the last layer, to `ofSums` (of the logarithms) and `ofBefores`. */
  #readBack(count: number, grads: Float64Array): void {
    const { parameters } = this;
    const { executor } = parameters;
    const [d, received, units, phi] = [this.#d, this.#received, this.#units, this.#features];
    const { direct, bias } = this.#relations.grads;
    const [u, ofU] = [parameters.value('u'), parameters.grad('u')];
    for (let i = 0; i < count; i++) {
      const own = grads[i]!;
      for (let k = 0; k < features; k++) direct[k]! += own * phi[i * features + k]!;
      for (let k = 0; k < d; k++) {
        const unit = units[i * d + k]!;
        ofU[k]! += own * unit;
        units[i * d + k] = unit > 0 ? own * u[k]! : 0;
      }
    }
    const [V, ofV] = [parameters.value('V'), parameters.grad('V')];
    executor.matMul('aTb', this.#slogs, units, ofV, received, count, d, true);
    executor.matMul('aTb', this.#befores, units, ofV.subarray(received * d), d, count, d, true);
    executor.matMul('aTb', phi, units, ofV.subarray((received + d) * d), features, count, d, true);
    executor.addColumnSums(bias, units, count, d);
    executor.matMul('abT', units, V, this.#ofSums, count, d, received);
    executor.matMul('abT', units, V.subarray(received * d), this.#ofBefores, count, d, d);
  }
}
