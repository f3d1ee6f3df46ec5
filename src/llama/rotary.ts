/** Rotary positions: pairs of numbers of a head are turned by an angle that grows with the token's place. */
import type { Tape, Taped } from '../nn/tape.js';
import type { LlamaConfig } from './config.js';

/** Rotation of states at given places, of a number of heads. */
export interface Rotation {
  /** Cosine and sine of each number's angle, [tokens, heads · headDim]. */
  cos: Taped;
  sin: Taped;
  /** [headDim, headDim]: of a pair (a, b), x·swap has -b in the place of a, and a in that of b. */
  swap: Taped;
}

/** Angle of pair i at place p: p · theta^(−2i / headDim). @source Su et al. 2021, arXiv:2104.09864 */
export function rotation(tape: Tape, config: LlamaConfig, positions: Int32Array, heads: number): Rotation {
  const size = config.dim / config.heads;
  const width = heads * size;
  const cos = new Float32Array(positions.length * width);
  const sin = new Float32Array(cos.length);
  const swap = new Float32Array(size * size);
  for (let pair = 0; pair < size / 2; pair++) {
    // Neighbours, or in the order of Hugging Face one of each half.
    const [a, b] = config.halves ? [pair, pair + size / 2] : [2 * pair, 2 * pair + 1];
    swap[a * size + b] = 1;
    swap[b * size + a] = -1;
    const step = config.ropeTheta ** ((-2 * pair) / size) / (config.ropeFactors?.[pair] ?? 1);
    positions.forEach((position, row) => {
      const [cosine, sine] = [Math.cos(position * step), Math.sin(position * step)];
      for (let at = row * width; at < (row + 1) * width; at += size) {
        cos[at + a] = cos[at + b] = cosine;
        sin[at + a] = sin[at + b] = sine;
      }
    });
  }
  return { cos: tape.constant(cos, width), sin: tape.constant(sin, width), swap: tape.constant(swap, size) };
}

/** Turns [tokens, heads · headDim]. */
export function rotate(tape: Tape, x: Taped, { cos, sin, swap }: Rotation): Taped {
  const swapped = tape.reshape(tape.product(tape.reshape(x, swap.width), swap), x.width);
  return tape.add(tape.multiply(x, cos), tape.multiply(swapped, sin));
}
