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
 * @source Ni et al. 2022 (HiTKG), AAAI; see docs/methods/dialogue-walker.md for what is known and what is not
 */
import { type AdjacencyRows, int32Lists } from '../../../src/kg/adjacency.js';
import { normalValues } from '../../../src/nn/parameters.js';
import type { Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import type { WalkerSettings } from '../settings.js';
import { contextRows } from './batch-rows.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';
import { elements, type EmbeddedNetwork, perBatch, type Scene, type Starts } from './network.js';
import { tokenPairs, transformer } from './transformer.js';

export function hitkgNetwork(
  { width, embeddingDim: d, transformerLayers, transformerHeads: heads, text: read }: WalkerSettings,
  { contextDim, horizon, numRelations, rows }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  // The two halves of the text vector (last message, window) separately, in addition to all that is read.
  const halves = read === 'words' ? [] : (['last', 'window'] as const);
  const half = contextDim / 2;
  const perState = 1 + halves.length + 1 + horizon;
  const vectors = (name: string, count: number) =>
    starts.set(name, [count, d], normalValues(Rng.named(starts.seed, `walker/${name}`), 0.02, count * d));
  starts.add('edge.tail', d, d);
  starts.add('edge.relation', d, d, true);
  starts.add('token.said', width, d);
  for (const name of halves) starts.add(`token.${name}`, half, d);
  starts.add('token.start', d, d);
  starts.add('token.edge', d, d);
  vectors('token.type', perState);
  starts.add('walk.start', d, d);
  starts.add('walk.edge', d, d);
  vectors('walk.step', horizon);
  const layers = transformer(starts, { dim: d, heads });
  const named = (kind: string) => Array.from({ length: transformerLayers }, (_, i) => `${kind}.${i + 1}`);
  const [encoders, decoders] = [named('encoder'), named('decoder')];
  [...encoders, ...decoders].forEach(layers.addLayer);
  ['encoder.norm', 'decoder.norm'].forEach(layers.addNorm);
  starts.add('state.edge', d, d);
  // One of no edge is there for walks that may stay where they start.
  starts.add('length', d, horizon + 1, true);

  /** m of edges: [edges, d]. */
  const edgeVectors = ({ tape, relationTerms, entityTerms }: Scene, ofRelations: Int32Array, ofEntities: Int32Array) =>
    tape.sumOfRows(
      [
        [relationTerms[0]!, ofRelations],
        [entityTerms[0]!, ofEntities],
      ],
      { act: 'relu' },
    );

  const encode = (scene: Scene, earlier: Int32Array): Tokens => {
    const { tape, batch, text, entities, local, dropped } = scene;
    const { numStates, earlierRelations } = batch;
    const vectors = tape.rows(...contextRows(tape, batch, contextDim));
    const edges = tape.times(edgeVectors(scene, earlierRelations, earlier), 'token.edge');
    const all = tape.concat([
      tape.times(text, 'token.said'),
      ...halves.map((name, i) => tape.times(tape.columns(vectors, i * half, half), `token.${name}`)),
      tape.times(tape.rows(entities, local.start), 'token.start'),
      tape.reshape(edges, horizon * d),
    ]);
    const there = Int32Array.from({ length: numStates * perState }, (_, i) => i).filter((i) => {
      const edge = (i % perState) - (perState - horizon);
      return edge < 0 || earlierRelations[Math.floor(i / perState) * horizon + edge]! <= numRelations;
    });
    const types = there.map((i) => i % perState);
    const typed = tape.sumOfRows([
      [tape.reshape(all, d), there],
      [tape.parameter('token.type'), types],
    ]);
    const states = there.map((i) => Math.floor(i / perState));
    const pairs = tokenPairs(states, states);
    const read = encoders.reduce((rows, name) => layers.layer(name, scene, rows, pairs), dropped(typed));
    const first = Int32Array.from(types.keys()).filter((i) => types[i] === 0);
    return { rows: tape.layerNorm(read, 'encoder.norm'), states, first };
  };

  const decode = (scene: Scene, tokens: Tokens): Taped => {
    const { tape, batch, entities, local, dropped } = scene;
    const { numStates, walkedRelations } = batch;
    const start = tape.times(tape.rows(entities, local.start), 'walk.start');
    let state = tape.add(start, tape.rows(tape.parameter('walk.step'), hopsOf(batch)));
    if (horizon > 1) {
      const edges = tape.times(edgeVectors(scene, walkedRelations, local.walked), 'walk.edge');
      const taken = Float32Array.from(walkedRelations, (relation) => Number(relation <= numRelations));
      const each = Int32Array.from(walkedRelations.keys());
      const states = each.map((i) => Math.floor(i / (horizon - 1)));
      state = tape.add(state, tape.weightedSums(tape.constant(taken, 1), edges, states, each, numStates));
    }
    const pairs = tokenPairs(
      Int32Array.from({ length: numStates }, (_, s) => s),
      tokens.states,
    );
    const read = decoders.reduce((rows, name) => layers.layer(name, scene, rows, pairs, tokens.rows), dropped(state));
    return tape.layerNorm(read, 'decoder.norm');
  };

  /** Log-probabilities of continuing and of ending here, of walks at least so long: [S, 2]. */
  const lengths = ({ tape, batch }: Scene, tokens: Tokens, mayStay: Uint8Array) => {
    const chances = tape.layer(tape.rows(tokens.rows, tokens.first), 'length');
    const hops = hopsOf(batch);
    const sum = (holds: (length: number, s: number) => boolean) => {
      const mask = Float32Array.from({ length: hops.length * (horizon + 1) }, (_, i) =>
        holds(i % (horizon + 1), Math.floor(i / (horizon + 1))) ? 0 : -1e9,
      );
      return tape.logSumExp(tape.add(chances, tape.constant(mask, horizon + 1)));
    };
    const here = sum((length, s) => length === hops[s]!);
    const longer = sum((length, s) => length > hops[s]!);
    const all = sum((length, s) => length > hops[s]! || (length === hops[s]! && mayStay[s] === 1));
    return tape.concat([tape.add(longer, all, -1), tape.add(here, all, -1)]);
  };

  const out = perBatch((batch) => outEdges(rows, batch));

  return {
    prepared: {
      entities: (tape, rows) => [tape.times(rows, 'edge.tail')],
      relations: (tape, rows) => [tape.layer(rows, 'edge.relation')],
    },
    others: (batch) => Int32Array.from([...out(batch).tails, ...batch.earlierTails]),
    scores(scene) {
      const { tape, batch, local } = scene;
      const edges = out(batch);
      const count = edges.tails.length;
      const tokens = encode(scene, local.others.subarray(count));
      const wanted = tape.times(decode(scene, tokens), 'state.edge');
      const vectors = edgeVectors(scene, edges.relations, local.others.subarray(0, count));
      const dots = tape.dots(wanted, edges.stateOf, vectors, Int32Array.from(edges.tails.keys()), 1 / Math.sqrt(d));
      const shares = tape.segmentLogSoftmax(dots, edges.offsets);
      // The last row is staying's, which has no other edge.
      const rowOf = edges.placeOf.map((index) => (index < 0 ? count : index));
      const byEdge = tape.rows(tape.stack([shares, tape.zeros(1, 1)]), rowOf);
      const lengthOf = batch.stateOf.map((s, i) => 2 * s + Number(edges.placeOf[i]! < 0));
      return tape.add(byEdge, elements(tape, lengths(scene, tokens, edges.mayStay), lengthOf));
    },
  };
}

/** Tokens of states: what was said, the start, the edges of the previous path. */
interface Tokens {
  /** [tokens, d], those of a state side by side. */
  rows: Taped;
  /** int32 [tokens]: state of each. */
  states: Int32Array;
  /** int32 [S]: row of each state's first token. */
  first: Int32Array;
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
