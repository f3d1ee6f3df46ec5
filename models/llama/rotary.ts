/** Rotary positions: pairs of numbers of a head are turned by an angle that grows with the token's place. */
import type { Tape, Taped } from '../../src/nn/tape.js';
import type { LlamaConfig } from './config.js';

/** Rotation of states of a given length and number of heads. */
export interface Rotation {
  /** Cosine and sine of each number's angle, [1, length · heads · headDim]. */
  cos: Taped;
  sin: Taped;
  /** [headDim, headDim]: x·swap puts −x[2i+1] at 2i and x[2i] at 2i+1. */
  swap: Taped;
}

/** Angle of pair i at place p: p · theta^(−2i / headDim). @source Su et al. 2021, arXiv:2104.09864 */
export function rotation(tape: Tape, config: LlamaConfig, length: number, heads: number): Rotation {
  const size = config.dim / config.heads;
  const cos = new Float32Array(length * heads * size);
  const sin = new Float32Array(cos.length);
  for (let pair = 0; pair < size / 2; pair++) {
    const step = config.ropeTheta ** ((-2 * pair) / size);
    for (let index = 0; index < length; index++) {
      for (let head = 0; head < heads; head++) {
        const at = (index * heads + head) * size + 2 * pair;
        cos[at] = cos[at + 1] = Math.cos(index * step);
        sin[at] = sin[at + 1] = Math.sin(index * step);
      }
    }
  }
  const swap = new Float32Array(size * size);
  for (let i = 0; i < size; i += 2) {
    swap[i * size + i + 1] = 1;
    swap[(i + 1) * size + i] = -1;
  }
  return { cos: tape.constant(cos, cos.length), sin: tape.constant(sin, sin.length), swap: tape.constant(swap, size) };
}

/** Turns [batch · length, heads · headDim]. */
export function rotate(tape: Tape, x: Taped, { cos, sin, swap }: Rotation): Taped {
  const rows = (values: Taped) => tape.reshape(values, cos.width);
  const swapped = tape.product(tape.reshape(x, swap.width), swap);
  return tape.reshape(tape.add(tape.multiply(rows(x), cos), tape.multiply(rows(swapped), sin)), x.width);
}
