/** Validation loss on held-out documents, by their labels. */
import type { Tensor } from '@tensorflow/tfjs-core';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import { batchesOf } from './batches.js';
import type { LlamaConfig } from './config.js';
import type { TokenCorpus } from './token-corpus.js';
import { targetLogits } from './token-loss.js';

/** Loss of some documents. */
export interface WatchedLoss {
  /** Weighted mean of −log p of a token, nats. */
  loss: number;
  /** Share of the documents whose tokens of weight 1 are all the most likely ones, each after the right ones. */
  exact: number;
  documents: number;
}

/** By label, and `all`. Needs the memory of one batch of about `tokens` tokens. */
export async function watch(
  parameters: ParameterSet,
  config: LlamaConfig,
  corpus: TokenCorpus,
  tokens: number,
): Promise<Record<string, WatchedLoss>> {
  const { tf } = parameters;
  const sums = new Map<string, { loss: number; weight: number; exact: number; documents: number }>();
  const add = (label: string, loss: number, weight: number, exact: boolean) => {
    const sum = sums.get(label) ?? { loss: 0, weight: 0, exact: 0, documents: 0 };
    sums.set(label, sum);
    sum.loss += loss;
    sum.weight += weight;
    sum.exact += Number(exact);
    sum.documents++;
  };
  const all = Int32Array.from({ length: corpus.offsets.length - 1 }, (_, document) => document);
  for (const { tokens: batch, targets, documents } of batchesOf(corpus, all, tokens)) {
    const [losses, likeliest] = tf.tidy(() => {
      const logits = targetLogits(parameters, config, batch, targets);
      const right = tf.oneHot(tf.tensor1d(targets.labels, 'int32'), config.vocabSize);
      return [
        tf.neg(tf.sum(tf.mul(tf.logSoftmax(logits), tf.cast(right, 'float32')), 1)),
        tf.argMax(logits, 1),
      ] as const;
    }) as readonly [Tensor, Tensor];
    const found = await Promise.all([losses.data(), likeliest.data()]);
    const own = Array.from(documents, () => ({ loss: 0, weight: 0, exact: true }));
    targets.rows.forEach((row, i) => {
      const document = own[Math.floor(row / batch.length)]!;
      const weight = targets.weights[i]!;
      document.loss += weight * found[0][i]!;
      document.weight += weight;
      if (weight === 1 && found[1][i] !== targets.labels[i]) document.exact = false;
    });
    own.forEach(({ loss, weight, exact }, row) => {
      add(corpus.labels[corpus.label[documents[row]!]!]!, loss, weight, exact);
      add('all', loss, weight, exact);
    });
    tf.dispose([losses, likeliest]);
  }
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    rows.map(([label, { loss, weight, exact, documents }]) => [
      label,
      { loss: loss / Math.max(weight, 1e-9), exact: exact / documents, documents },
    ]),
  );
}
