/** A language model of random weights, for speed alone: as fast as a learned one of its size, and made in seconds. */
import { exportGguf } from '../models/llama/export-gguf.js';
import { llamaTensors } from '../src/llama/config.js';
import { type Merge, toByteLetters, vocabularyOf } from '../models/llama/byte-pair/vocabulary.js';
import { Rng } from '../src/run/seeds.js';

/** Words of the texts that the bench encodes. */
export const plainWords: readonly string[] =
  'the film was directed by a person who won an award in that year and the actor lives in this city'.split(' ');

/** The sizes of SmolLM2-135M. */
const smol = {
  ...{ vocabSize: 49_152, contextLength: 2048, dim: 576, layers: 30, heads: 9, kvHeads: 3, hiddenDim: 1536 },
  ...{ ropeTheta: 100_000, normEps: 1e-5 },
};

/**
 * Writes it, as F16. Each of `plainWords`, with a space before it, is one token.
 * @param sizes where they are not those of SmolLM2-135M
 */
export function writeRandomModel(path: string, sizes: Partial<typeof smol> = {}): void {
  const config = { ...smol, ...sizes };
  // Letter by letter from the space on, so that every merge begins with what the one before it made.
  const merges = plainWords.flatMap((word) => {
    const letters = [...toByteLetters(` ${word}`)];
    return letters.slice(1).map((letter, i): Merge => [letters.slice(0, i + 1).join(''), letter]);
  });
  const { tokens } = vocabularyOf(merges);
  const distinct = [...new Map(merges.map((merge) => [merge.join(' '), merge])).values()];
  const unused = Array.from({ length: config.vocabSize - tokens.length }, (_, i) => `<unused-${i}>`);
  const rng = Rng.named(0, 'bench/random-model');
  // A prime number of values, again and again: rows differ, and hundreds of millions of draws are spared.
  const values = Float32Array.from({ length: 65_537 }, () => rng.normal() / Math.sqrt(config.dim));
  const weights = new Map(
    llamaTensors(config).map(({ name, shape: [rows, columns] }) => {
      if (columns === undefined) return [name, new Float32Array(rows).fill(1)];
      const matrix = new Float32Array(rows * columns);
      for (let at = 0; at < matrix.length; at += values.length) {
        matrix.set(values.subarray(0, Math.min(values.length, matrix.length - at)), at);
      }
      return [name, matrix];
    }),
  );
  const about = { name: 'random', description: 'random weights, to measure speed with', license: 'MIT' };
  exportGguf(path, { config, vocabulary: { tokens: [...tokens, ...unused], merges: distinct }, weights, about });
}
