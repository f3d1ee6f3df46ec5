/** The Llama: tokens to states, states to logits. */
import type { Tape, Taped } from '../../src/nn/tape.js';
import type { LlamaConfig } from './config.js';
import { rotate, rotation } from './rotary.js';

/** Equally long sequences of token ids, one after the other. */
export interface TokenBatch {
  /** int32 [batch · length]. */
  ids: Int32Array;
  batch: number;
  /** At most the context length. */
  length: number;
}

/**
 * States after the last norm, [batch · length, dim]. No token sees a later one, so what stands behind a
 * sequence to fill its batch changes nothing before it.
 */
export function hiddenStates(tape: Tape, config: LlamaConfig, { ids, batch, length }: TokenBatch): Taped {
  const { heads, kvHeads, normEps } = config;
  const norm = (x: Taped, name: string) => tape.rmsNorm(x, `${name}.weight`, normEps);
  const linear = (x: Taped, name: string) => tape.product(x, tape.parameter(`${name}.weight`), true);
  const queryTurn = rotation(tape, config, length, heads);
  const keyTurn = rotation(tape, config, length, kvHeads);
  const attention = causalAttention(tape, config, batch, length);
  let x = tape.rows(tape.parameter('token_embd.weight'), ids);
  for (let layer = 0; layer < config.layers; layer++) {
    const own = (name: string) => `blk.${layer}.${name}`;
    const before = norm(x, own('attn_norm'));
    const [q, k] = [
      rotate(tape, linear(before, own('attn_q')), queryTurn),
      rotate(tape, linear(before, own('attn_k')), keyTurn),
    ];
    const attended = attention(q, k, linear(before, own('attn_v')));
    x = tape.add(x, linear(attended, own('attn_output')));
    const between = norm(x, own('ffn_norm'));
    x = tape.add(
      x,
      linear(gated(tape, linear(between, own('ffn_gate')), linear(between, own('ffn_up'))), own('ffn_down')),
    );
  }
  return norm(x, 'output_norm');
}

/** Logits of states: [n, dim] → [n, vocabSize], by the embedding table. */
export function logitsOf(tape: Tape, states: Taped): Taped {
  return tape.product(states, tape.parameter('token_embd.weight'), true);
}

/** silu(gate) · up, number by number, with silu(x) = x·sigmoid(x). @source Shazeer 2020, arXiv:2002.05202 */
function gated(tape: Tape, gate: Taped, up: Taped): Taped {
  return tape.multiply(tape.multiply(gate, tape.sigmoid(gate)), up);
}

/** Softmax attention of each token to itself and the tokens before it. @returns of queries, keys and values, [batch · length, heads · size] each */
function causalAttention(tape: Tape, { dim, heads, kvHeads }: LlamaConfig, batch: number, length: number) {
  const size = dim / heads;
  const group = heads / kvHeads;
  // Rows by sequence, key head, token: a group each of all queries of one key head.
  const count = batch * kvHeads;
  const order = Int32Array.from({ length: count * length }, (_, i) => {
    const [token, head, sequence] = [i % length, Math.floor(i / length) % kvHeads, Math.floor(i / (length * kvHeads))];
    return (sequence * length + token) * kvHeads + head;
  });
  const back = new Int32Array(order.length);
  order.forEach((from, to) => (back[from] = to));
  const byHead = (x: Taped) => tape.reshape(tape.rows(tape.reshape(x, x.width / kvHeads), order), size);
  const offsets = (rows: number) => Int32Array.from({ length: count + 1 }, (_, g) => g * rows);
  const [ofQueries, ofKeys] = [offsets(length * group), offsets(length)];
  const mask = tape.constant(laterTokens(length, group, count), length);
  const each = Int32Array.from({ length: count * length * group + 1 }, (_, row) => row * length);
  return (q: Taped, k: Taped, v: Taped): Taped => {
    const dots = tape.groupProducts(byHead(q), ofQueries, byHead(k), ofKeys);
    const scores = tape.add(tape.reshape(mask, 1), dots, 1 / Math.sqrt(size));
    const shares = tape.exp(tape.segmentLogSoftmax(scores, each));
    const mixed = tape.groupSums(shares, ofQueries, byHead(v), ofKeys);
    return tape.reshape(tape.rows(tape.reshape(mixed, group * size), back), dim);
  };
}

/** −1e9 where a query would see a later token, else 0: float32 [groups · length · group, length]. */
function laterTokens(length: number, group: number, count: number): Float32Array {
  const one = new Float32Array(length * group * length);
  for (let row = 0; row < length * group; row++) {
    one.fill(-1e9, row * length + Math.floor(row / group) + 1, (row + 1) * length);
  }
  const all = new Float32Array(count * one.length);
  for (let g = 0; g < count; g++) all.set(one, g * one.length);
  return all;
}
