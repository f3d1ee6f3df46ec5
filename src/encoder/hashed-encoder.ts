/** A text encoder without a model: words and character trigrams hashed into signed buckets. */
import { WorkbenchError } from '../run/errors.js';
import {
  distinctTexts,
  type EncodeOptions,
  isBlank,
  noCounts,
  normalizeL2,
  refuseOverlong,
  type StateEncoder,
  timesAsked,
} from './state-encoder.js';

/**
 * Knows spelling, not meaning: for tests. Tokens are words, and a token budget keeps the last ones.
 * @param dim length of a vector, 8 or more
 * @throws WorkbenchError `config` for another `dim`
 */
export function hashedEncoder(dim: number, normalize = true): StateEncoder {
  if (!Number.isInteger(dim) || dim < 8 || dim > 65536) {
    throw new WorkbenchError('config', `expected hashed:DIM with 8 ≤ DIM ≤ 65536, got hashed:${dim}`, {
      hint: 'Write hashed:256, say.',
    });
  }
  const counters = noCounts();

  async function encode(texts: readonly string[], options: EncodeOptions = {}) {
    const { maxTokens = Infinity, overlong, onProgress, signal } = options;
    const { distinct, rows } = distinctTexts(texts);
    if (overlong === 'refuse') await refuseOverlong(distinct, maxTokens, `hashed:${dim}`, countTokens);
    const matrix = new Float32Array(distinct.length * dim);
    const started = performance.now();
    let tokens = 0;
    const asked = timesAsked(rows, distinct.length);
    distinct.forEach((text, index) => {
      if (signal?.aborted) throw new WorkbenchError('stopped', `stopped after ${index} of ${distinct.length} texts`);
      if (isBlank(text)) return;
      const words = wordsOf(text).slice(-maxTokens);
      const row = matrix.subarray(index * dim, (index + 1) * dim);
      for (const word of words) addWord(row, word);
      if (normalize) normalizeL2(row);
      tokens += words.length;
      counters.askedTokens += asked[index]! * words.length;
      counters.encodes++;
    });
    counters.requests += texts.length;
    counters.tokens += tokens;
    counters.seconds += (performance.now() - started) / 1000;
    onProgress?.(distinct.length, distinct.length, tokens, 0);
    return { matrix, rows, dim };
  }

  async function countTokens(texts: readonly string[]) {
    return Int32Array.from(texts, (text) => wordsOf(text).length);
  }

  const name = `hashed:${dim}`;
  const id = `${name}:${normalize ? 'l2' : 'raw'}:v1`;
  return {
    ...{ id, name, dim, counters, encode, countTokens },
    held: (texts) => new Uint8Array(texts.length),
    dispose: async () => {},
  };
}

/** Runs of letters and digits, and every other visible character separately. */
export const wordPattern = /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu;

const wordsOf = (text: string): string[] => text.normalize('NFKC').toLowerCase().match(wordPattern) ?? [];

function addWord(row: Float32Array, word: string): void {
  add(row, `w ${word}`, 1);
  const letters = [...`^${word}$`];
  const weight = 1 / Math.sqrt(letters.length);
  for (let i = 0; i + 3 <= letters.length; i++) add(row, letters.slice(i, i + 3).join(''), weight);
}

/** Adds the weight to one bucket, with a sign, so that unrelated features cancel rather than pile up. */
function add(row: Float32Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  row[(hash >>> 1) % row.length]! += hash & 1 ? weight : -weight;
}

/** 32-bit FNV-1a over UTF-16 units, mixed once more so that low bits serve too. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
