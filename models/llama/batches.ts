/** Documents of similar length side by side, and what they should predict. */
import { Rng } from '../../src/run/seeds.js';

import type { Targets, TokenBatch } from './token-loss.js';
import { documentLength, type TokenCorpus } from './token-corpus.js';

/** Documents that go through the model at once. */
export interface Batch {
  tokens: TokenBatch;
  targets: Targets;
  /** The documents, by row. */
  documents: Int32Array;
}

/** Lengths are filled up to a multiple of this: kernels like even shapes. */
const lengthUnit = 16;

/**
 * Documents as batches of at most about `tokens` tokens, filling included; each has at least one document. Rows are filled
 * at their end, where nothing before can see it.
 */
export function batchesOf(corpus: TokenCorpus, documents: Int32Array, tokens: number): Batch[] {
  const sorted = documents.slice().sort((a, b) => documentLength(corpus, a) - documentLength(corpus, b) || a - b);
  const batches: Batch[] = [];
  for (let from = 0; from < sorted.length;) {
    let to = from + 1;
    while (to < sorted.length && (to + 1 - from) * filledLength(corpus, sorted[to]!) <= tokens) to++;
    batches.push(batchOf(corpus, sorted.slice(from, to)));
    from = to;
  }
  return batches.filter(({ targets }) => targets.rows.length > 0);
}

/** The last token is no input. */
function filledLength(corpus: TokenCorpus, document: number): number {
  return Math.ceil((documentLength(corpus, document) - 1) / lengthUnit) * lengthUnit;
}

function batchOf(corpus: TokenCorpus, documents: Int32Array): Batch {
  const length = filledLength(corpus, documents.at(-1)!);
  const ids = new Int32Array(documents.length * length);
  const rows: number[] = [];
  const labels: number[] = [];
  const weights: number[] = [];
  documents.forEach((document, row) => {
    const from = corpus.offsets[document]!;
    const inputs = documentLength(corpus, document) - 1;
    for (let i = 0; i < inputs; i++) {
      ids[row * length + i] = corpus.ids[from + i]!;
      const weight = corpus.weights[from + i + 1]!;
      if (weight === 0) continue;
      rows.push(row * length + i);
      labels.push(corpus.ids[from + i + 1]!);
      weights.push(weight);
    }
  });
  return {
    tokens: { ids, batch: documents.length, length },
    targets: { rows: Int32Array.from(rows), labels: Int32Array.from(labels), weights: Float32Array.from(weights) },
    documents,
  };
}

/** Position of a training in its corpus. */
export interface CorpusPlace {
  round: number;
  /** Documents of the round's order that were passed. */
  passed: number;
}

/**
 * The next window of documents: `count` in the seeded order of their round, those longer than `longest` tokens passed over.
 * The same position gives the same window, so that a stopped training can be resumed.
 */
export function nextWindow(
  corpus: TokenCorpus,
  { round, passed }: CorpusPlace,
  { seed, count, longest }: { seed: number; count: number; longest: number },
): { documents: Int32Array; after: CorpusPlace } {
  const order = roundOrder(corpus, seed, round);
  const documents: number[] = [];
  let at = passed;
  for (; at < order.length && documents.length < count; at++) {
    if (documentLength(corpus, order[at]!) <= longest) documents.push(order[at]!);
  }
  const after = at < order.length ? { round, passed: at } : { round: round + 1, passed: 0 };
  return { documents: Int32Array.from(documents), after };
}

const orders = new WeakMap<TokenCorpus, { key: string; order: Int32Array }>();

function roundOrder(corpus: TokenCorpus, seed: number, round: number): Int32Array {
  const key = `${seed}/${round}`;
  let held = orders.get(corpus);
  if (held?.key !== key) {
    const order = Int32Array.from({ length: corpus.offsets.length - 1 }, (_, document) => document);
    held = { key, order: Rng.named(seed, 'llama/order', round).shuffle(order) };
    orders.set(corpus, held);
  }
  return held.order;
}
