/** The Llama: tokens to states, states to logits. */
import type { Tape, Taped } from '../nn/tape.js';
import { forestAttention } from './attention.js';
import type { LlamaConfig } from './config.js';
import type { Forest } from './forest.js';
import { rotate, rotation } from './rotary.js';

/** Weights of a forward pass, on its executor. */
export interface LlamaWeights {
  /**
   * A tensor by its GGUF name, [outputs, inputs] or one row; next to a matrix `NAME` may stand `NAME.lora_a` and `NAME.lora_b`.
   * @returns undefined where the model has none of this name
   */
  find(name: string): Taped | undefined;
  /** Factor of what low-rank matrices add; default 1. */
  loraScale?: number;
}

/** Weights that a tape trains, and where it has none, others. */
export function trainedWeights(tape: Tape, others?: LlamaWeights, loraScale?: number): LlamaWeights {
  return { find: (name) => (tape.has(name) ? tape.parameter(name) : others?.find(name)), loraScale };
}

/** Embedded tokens, [tokens, dim]: what enters the first layer. */
export function embed(tape: Tape, weights: LlamaWeights, { ids }: Forest): Taped {
  return tape.rows(needed(weights, 'token_embd.weight'), ids);
}

/** Exceptions of a pass through layers. */
export interface LayerOptions {
  /** Rows of the result: the last layer computes no others. */
  rows?: Int32Array;
  /** Keys and values of all tokens, known ones before those that a layer computed, [tokens, kvHeads · headDim] each. */
  seen?: (layer: number, keys: Taped, values: Taped) => readonly [keys: Taped, values: Taped];
}

/**
 * States after layers `from .. to - 1`. What stands behind a token, or in another branch, changes nothing in it.
 * @param x those before layer `from`, [tokens, dim], without known tokens
 * @throws RangeError for a sequence that is longer than the context
 */
export function layers(
  tape: Tape,
  config: LlamaConfig,
  weights: LlamaWeights,
  forest: Forest,
  x: Taped,
  from = 0,
  to = config.layers,
  { rows, seen = (_, ...both) => both }: LayerOptions = {},
): Taped {
  const positions = forest.positions.subarray(forest.known);
  const longest = positions.reduce((most, position) => Math.max(most, position + 1), 0);
  if (longest > config.contextLength) {
    throw new RangeError(`expected sequences of at most ${config.contextLength} tokens, got ${longest}`);
  }
  const queryTurn = rotation(tape, config, positions, config.heads);
  const keyTurn = rotation(tape, config, positions, config.kvHeads);
  const attention = forestAttention(tape, config, forest);
  for (let layer = from; layer < to; layer++) {
    const norm = (states: Taped, name: string) => normed(tape, config, weights, states, `blk.${layer}.${name}`);
    const linear = (states: Taped, name: string) => product(tape, weights, states, `blk.${layer}.${name}`);
    const before = norm(x, 'attn_norm');
    const q = rotate(tape, linear(before, 'attn_q'), queryTurn);
    const k = rotate(tape, linear(before, 'attn_k'), keyTurn);
    let attended = attention(q, ...seen(layer, k, linear(before, 'attn_v')));
    if (rows && layer === to - 1) [x, attended] = [tape.rows(x, rows), tape.rows(attended, rows)];
    x = tape.add(x, linear(attended, 'attn_output'));
    const between = norm(x, 'ffn_norm');
    x = tape.add(x, linear(gated(tape, linear(between, 'ffn_gate'), linear(between, 'ffn_up')), 'ffn_down'));
  }
  return x;
}

/** States after the last norm: what the output matrix reads. */
export function lastNorm(tape: Tape, config: LlamaConfig, weights: LlamaWeights, x: Taped): Taped {
  return normed(tape, config, weights, x, 'output_norm');
}

/** Logits of normed states: [n, dim] → [n, vocabSize]. */
export function logitsOf(tape: Tape, weights: LlamaWeights, states: Taped): Taped {
  return tape.product(states, weights.find('output.weight') ?? needed(weights, 'token_embd.weight'), true);
}

function needed(weights: LlamaWeights, name: string): Taped {
  const weight = weights.find(name);
  if (!weight) throw new RangeError(`expected the weights of ${name}, got none`);
  return weight;
}

function normed(tape: Tape, { normEps }: LlamaConfig, weights: LlamaWeights, x: Taped, name: string): Taped {
  return tape.rmsNorm(x, needed(weights, `${name}.weight`), normEps);
}

/** W·x, with a bias and low-rank matrices where there are any. @source Hu et al. 2021, arXiv:2106.09685 */
function product(tape: Tape, weights: LlamaWeights, x: Taped, name: string): Taped {
  const y = tape.product(x, needed(weights, `${name}.weight`), true);
  const bias = weights.find(`${name}.bias`);
  const biased = bias ? tape.biased(y, bias) : y;
  const a = weights.find(`${name}.weight.lora_a`);
  if (!a) return biased;
  const b = needed(weights, `${name}.weight.lora_b`);
  return tape.add(biased, tape.product(tape.product(x, a, true), b, true), weights.loraScale);
}

/** silu(gate) · up, number by number, with silu(x) = x·sigmoid(x). @source Shazeer 2020, arXiv:2002.05202 */
function gated(tape: Tape, gate: Taped, up: Taped): Taped {
  return tape.multiply(tape.multiply(gate, tape.sigmoid(gate)), up);
}
