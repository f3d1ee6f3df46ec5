/**
 * What the parts of HiTKG are worth, of which neither code nor full text was found: HiTKG-like. A Transformer reads what was
 * said, the start and the previous path as tokens; a decoder that stands at the walk's end attends to them; edges are scored as
 * vectors of relation and entity together; the length of the walk is given in advance and takes the place of Equal.
 *
 *   m(r, t) = relu(A · E[t] + B · R[r] + b)                          tokens = encoder(said, start, previous path) + types
 *   x = decoder(E[start] + Σ m(walked edges), tokens)                p(edge) = softmax over out-edges of W · x · m(r, t) / √d
 *   p(n) = softmax over lengths of L · norm(first token)
 *   logit(r, t) = ln p(longer than so far | at least so long) + ln p(edge)    logit(Equal) = ln p(so long | at least so long)
 *
 * @source Ni et al. 2022 (HiTKG), AAAI; see docs/dialogue-walkers.md for what is known and what is not
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { type AdjacencyRows, int32Lists } from '../../../src/kg/adjacency.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, gatherSum, matMul, matMulConst, relu } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import { normalValues } from '../../../src/tensor/parameters.js';
import { segmentLogSoftmaxColumns } from '../../../src/tensor/segments.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';
import { elements, type EmbeddedNetwork, type Layers, perBatch, type Scene } from './network.js';
import { createTransformer, type Tokens } from './transformer.js';

type Tensor2D = tfTypes.Tensor2D;

export function hitkgNetwork(
  tf: Tf,
  { width, embeddingDim: d, transformerLayers, transformerHeads: heads, text: read }: WalkerSettings,
  { contextDim, horizon, numRelations, rows }: HeadShape,
  layers: Layers,
  seed = 0,
): EmbeddedNetwork {
  const { parameters, weight, dense } = layers;
  // The two halves of the text vector (last message, window) separately, in addition to all that is read.
  const halves = read === 'words' ? [] : (['last', 'window'] as const);
  const half = contextDim / 2;
  const saidTokens = 1 + halves.length;
  const perState = saidTokens + 1 + horizon;
  const vectors = (name: string, count: number) =>
    parameters.add(name, [count, d], normalValues(Rng.named(seed, `walker/${name}`), 0.02, count * d));
  layers.add('edge.tail', d, d);
  layers.add('edge.relation', d, d, true);
  layers.add('token.said', width, d);
  for (const name of halves) layers.add(`token.${name}`, half, d);
  layers.add('token.start', d, d);
  layers.add('token.edge', d, d);
  vectors('token.type', perState);
  layers.add('walk.start', d, d);
  layers.add('walk.edge', d, d);
  vectors('walk.step', horizon);
  const transformer = createTransformer(tf, layers, { dim: d, heads });
  const encoders = Array.from({ length: transformerLayers }, (_, i) => transformer.encoder(`encoder.${i + 1}`));
  const decoders = Array.from({ length: transformerLayers }, (_, i) => transformer.decoder(`decoder.${i + 1}`));
  const [normTokens, normWalk] = [transformer.norm('encoder.norm'), transformer.norm('decoder.norm')];
  layers.add('state.edge', d, d);
  // One of no edge is there for walks that may stay where they start.
  layers.add('length', d, horizon + 1, true);

  /** float32 [edges, d] of columns that `prepared` makes. */
  const pairs = ({ entities, relations }: Scene, ofRelations: Int32Array, ofEntities: Int32Array) =>
    relu(tf, gatherSum(tf, [columns(tf, relations, d, d), columns(tf, entities, d, d)], [ofRelations, ofEntities]));

  const encode = (scene: Scene, earlier: Int32Array): Tokens => {
    const { batch, text, entities, local, dropped } = scene;
    const { numStates, context, earlierRelations } = batch;
    const part = (begin: number) => {
      const values = new Float32Array(numStates * half);
      for (let s = 0; s < numStates; s++) {
        values.set(context.subarray(s * contextDim + begin, s * contextDim + begin + half), s * half);
      }
      return tf.tensor2d(values, [numStates, half]);
    };
    const edges = matMul(tf, pairs(scene, earlierRelations, earlier), weight('token.edge'));
    const tokens = [
      matMul(tf, text, weight('token.said')),
      ...halves.map((name, i) => matMulConst(tf, part(i * half), weight(`token.${name}`))),
      matMul(tf, gatherRows(tf, columns(tf, entities, 0, d), local.start), weight('token.start')),
      tf.reshape(edges, [numStates, horizon * d]) as Tensor2D,
    ];
    const typed = tf.add(tf.reshape(tf.concat(tokens, 1), [numStates, perState, d]), weight('token.type'));
    const there = new Float32Array(numStates * perState).fill(1);
    earlierRelations.forEach((relation, i) => {
      const index = Math.floor(i / horizon) * perState + saidTokens + 1 + (i % horizon);
      if (relation > numRelations) there[index] = 0;
    });
    let read: Tokens = { rows: dropped(tf.reshape(typed, [-1, d]) as Tensor2D), perState, there };
    for (const layer of encoders) read = layer(read, dropped);
    return { ...read, rows: normTokens(read.rows) };
  };

  const decode = (scene: Scene, tokens: Tokens) => {
    const { batch, entities, local, dropped } = scene;
    const { numStates, walkedRelations } = batch;
    const start = matMul(tf, gatherRows(tf, columns(tf, entities, 0, d), local.start), weight('walk.start'));
    const steps = gatherRows(tf, weight('walk.step'), hopsOf(batch));
    let state = tf.add(start, steps) as Tensor2D;
    if (horizon > 1) {
      const edges = matMul(tf, pairs(scene, walkedRelations, local.walked), weight('walk.edge'));
      const taken = Float32Array.from(walkedRelations, (relation) => Number(relation <= numRelations));
      const kept = tf.reshape(tf.mul(edges, tf.tensor2d(taken, [taken.length, 1])), [numStates, horizon - 1, d]);
      state = tf.add(state, tf.sum(kept, 1)) as Tensor2D;
    }
    state = dropped(state);
    for (const layer of decoders) state = layer(state, tokens, dropped);
    return normWalk(state);
  };

  /** Log-probabilities of continuing and of ending here, of walks at least so long: float32 [S, 2]. */
  const lengths = ({ batch }: Scene, { rows: tokens }: Tokens, mayStay: Uint8Array) => {
    const first = Int32Array.from({ length: batch.numStates }, (_, s) => s * perState);
    const chances = dense(gatherRows(tf, tokens, first), 'length');
    const hops = hopsOf(batch);
    const mask = (holds: (length: number, s: number) => boolean) =>
      tf.tensor2d(
        Float32Array.from({ length: hops.length * (horizon + 1) }, (_, i) =>
          holds(i % (horizon + 1), Math.floor(i / (horizon + 1))) ? 0 : -1e9,
        ),
        [hops.length, horizon + 1],
      );
    const sum = (allowed: Tensor2D) => tf.logSumExp(tf.add(chances, allowed), 1, true);
    const here = sum(mask((length, s) => length === hops[s]!));
    const longer = sum(mask((length, s) => length > hops[s]!));
    const all = sum(mask((length, s) => length > hops[s]! || (length === hops[s]! && mayStay[s] === 1)));
    return tf.concat([tf.sub(longer, all), tf.sub(here, all)], 1) as Tensor2D;
  };

  const out = perBatch((batch) => outEdges(rows, batch));

  return {
    prepared: {
      width: d,
      entities: (vectors) => matMul(tf, vectors, weight('edge.tail')),
      relations: (vectors) => dense(vectors, 'edge.relation'),
    },
    others: (batch) => Int32Array.from([...out(batch).tails, ...batch.earlierTails]),
    scores(scene) {
      const { batch, local } = scene;
      const edges = out(batch);
      const count = edges.tails.length;
      const tokens = encode(scene, local.others.subarray(count));
      const wanted = matMul(tf, decode(scene, tokens), weight('state.edge'));
      const vectors = pairs(scene, edges.relations, local.others.subarray(0, count));
      const each = Int32Array.from({ length: count }, (_, i) => i);
      const dots = tf.mul(pairDot(tf, wanted, vectors, edges.stateOf, each), 1 / Math.sqrt(d));
      const shares = segmentLogSoftmaxColumns(tf, tf.reshape(dots, [-1, 1]) as Tensor2D, edges.offsets);
      // The last row is staying's, which has no other edge.
      const rowOf = edges.placeOf.map((index) => (index < 0 ? count : index));
      const byEdge = elements(tf, tf.concat([shares, tf.zeros([1, 1])], 0), rowOf);
      const lengthOf = batch.stateOf.map((s, i) => 2 * s + Number(edges.placeOf[i]! < 0));
      return tf.add(byEdge, elements(tf, lengths(scene, tokens, edges.mayStay), lengthOf));
    },
  };
}

const hopsOf = (batch: StateBatch) => Int32Array.from({ length: batch.numStates }, (_, s) => hopOf(batch, s));

/** All legal edges where states stand, those included that a batch does not list. */
interface OutEdges {
  /** int32 [states with edges + 1] */
  offsets: Int32Array;
  /** int32 [edges] */
  stateOf: Int32Array;
  relations: Int32Array;
  tails: Int32Array;
  /** int32 [N]: place of each action among the edges, -1 for staying. */
  placeOf: Int32Array;
  /** uint8 [S]: whether staying is legal. */
  mayStay: Uint8Array;
}

function outEdges(rows: AdjacencyRows, { numStates, current, offsets, actions, ...batch }: StateBatch): OutEdges {
  const edges = { stateOf: [] as number[], relations: [] as number[], tails: [] as number[], offsets: [0] };
  const placeOf = new Int32Array(actions.length);
  const mayStay = new Uint8Array(numStates);
  for (let s = 0; s < numStates; s++) {
    const [begin, end] = [rows.offsets[current[s]!] ?? 0, rows.offsets[current[s]! + 1] ?? 0];
    const first = edges.tails.length;
    for (let edge = begin; edge < end; edge++) {
      edges.stateOf.push(s);
      edges.relations.push(rows.relations[edge]!);
      edges.tails.push(rows.tails[edge]!);
    }
    for (let i = offsets[s]!; i < offsets[s + 1]!; i++)
      placeOf[i] = actions[i]! < end - begin ? first + actions[i]! : -1;
    // Always from the second step on; at the first where the list ends with it.
    const ends = offsets[s + 1]! > offsets[s]! && placeOf[offsets[s + 1]! - 1] === -1;
    mayStay[s] = Number(hopOf({ numStates, ...batch }, s) > 0 || ends);
    if (end > begin) edges.offsets.push(edges.tails.length);
  }
  return { placeOf, mayStay, ...int32Lists(edges) };
}
