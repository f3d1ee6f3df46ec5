/**
 * Relation vectors of `message-network.ts` from how relations meet, for graphs with relations never seen: message passing over the graph of
 * relations from the one that is asked for gives every relation q a state R_q, and w^l_q = P^l [R_q ; 1]; what belongs to the query relation
 * r alone follows from R_r in the same way.
 * @source Galkin et al. 2024, "Towards foundation models for knowledge graph reasoning" (ULTRA)
 */
import type { Graph } from '../../../src/kg/graph.js';
import type { SimdParameters } from '../../../src/nn/simd/tape.js';
import { MessageLayers } from './message-layers.js';
import { features, type MessageSizes, relationHops } from './message-weights.js';
import { relationGraph } from './relation-graph.js';
import type { QueryVectors, RelationWeights } from './relation-weights.js';

/** Vectors that follow from the query relation alone. */
type OfQuery = keyof QueryVectors;

/** Weights that graphs share: they have no tensor with a row for each relation. */
export class GraphWeights implements RelationWeights {
  readonly vectors: QueryVectors;
  readonly grads: QueryVectors;
  readonly #parameters: SimdParameters;
  readonly #layers: MessageLayers;
  readonly #count: number;
  readonly #d: number;
  /** float32 [relations, d + 1]: R and a constant 1; and its gradients. */
  readonly #states: Float32Array;
  readonly #ofStates: Float32Array;
  readonly #w: Float32Array[];
  readonly #ofW: Float32Array[];
  #asked = { relation: -1, version: -1 };
  #pending = false;

  /** @param graph whose relations are asked for, with inverses */
  constructor(parameters: SimdParameters, graph: Graph, sizes: MessageSizes) {
    const { hops, channels: d } = sizes;
    this.#parameters = parameters;
    const meeting = relationGraph(graph);
    this.#layers = new MessageLayers(parameters, meeting.graph, relationHops, sizes, 'relations.', meeting.shares);
    this.#count = graph.numRelations;
    this.#d = d;
    const { arena } = parameters;
    const ofHops = () => Array.from({ length: hops }, () => arena.float32(this.#count * d + 16));
    [this.#w, this.#ofW] = [ofHops(), ofHops()];
    const states = () => arena.float32(this.#count * (d + 1) + 16);
    [this.#states, this.#ofStates] = [states(), states()];
    const vectors = (): QueryVectors => ({
      start: arena.float32(d),
      direct: arena.float32(features),
      bias: arena.float32(d),
    });
    [this.vectors, this.grads] = [vectors(), vectors()];
  }

  ask(relation: number): void {
    const { executor, version } = this.#parameters;
    if (relation === this.#asked.relation && version === this.#asked.version) return;
    this.flush();
    this.#asked = { relation, version };
    const d = this.#d;
    this.#layers.forward(relation, this.#parameters.value('relations.start'), (hop) => this.#kinds('value', hop));
    for (let node = 0; node < this.#count; node++) {
      const row = this.#states.subarray(node * (d + 1), (node + 1) * (d + 1));
      const place = this.#layers.placeOf(node);
      row.fill(0);
      if (place >= 0) row.set(this.#layers.states.subarray(place * d, (place + 1) * d));
      row[d] = 1;
    }
    this.#w.forEach((w, hop) => {
      executor.matMul('ab', this.#states, this.#parameters.value(`map.w.${hop}`), w, this.#count, d + 1, d);
    });
    const own = this.#states.subarray(relation * (d + 1));
    this.#eachOfQuery((name, width) => {
      executor.matMul('ab', own, this.#parameters.value(`map.${name}`), this.vectors[name], 1, d + 1, width);
    });
  }

  w(hop: number): Float32Array {
    return this.#w[hop]!;
  }

  ofW(hop: number): Float32Array {
    this.#pending = true;
    return this.#ofW[hop]!;
  }

  flush(): void {
    if (!this.#pending) return;
    this.#pending = false;
    const { executor } = this.#parameters;
    const [d, count, layers] = [this.#d, this.#count, this.#layers];
    const back = (name: string, states: Float32Array, ofStates: Float32Array, rows: number, of: Float32Array) => {
      const width = of === this.grads.direct ? features : d;
      executor.matMul('aTb', states, of, this.#parameters.grad(name), d + 1, rows, width, true);
      executor.matMul('abT', of, this.#parameters.value(name), ofStates, rows, width, d + 1, true);
      of.fill(0);
    };
    this.#ofStates.fill(0);
    this.#ofW.forEach((ofW, hop) => back(`map.w.${hop}`, this.#states, this.#ofStates, count, ofW));
    const [own, ofOwn] = [this.#states, this.#ofStates].map((rows) => rows.subarray(this.#asked.relation * (d + 1)));
    this.#eachOfQuery((name) => back(`map.${name}`, own!, ofOwn!, 1, this.grads[name]));
    const ofStates = layers.ofStates;
    for (let node = 0; node < count; node++) {
      const place = layers.placeOf(node);
      if (place >= 0) ofStates.set(this.#ofStates.subarray(node * (d + 1), node * (d + 1) + d), place * d);
    }
    layers.backward(
      (hop) => this.#kinds('value', hop),
      this.#parameters.grad('relations.start'),
      (hop) => this.#kinds('grad', hop),
    );
    this.#asked = { relation: -1, version: -1 };
  }

  #kinds(what: 'value' | 'grad', hop: number): Float32Array {
    return this.#parameters[what](`relations.kinds.${hop}`);
  }

  #eachOfQuery(make: (name: OfQuery, width: number) => void): void {
    for (const name of ['start', 'direct', 'bias'] as const) make(name, name === 'direct' ? features : this.#d);
  }
}
