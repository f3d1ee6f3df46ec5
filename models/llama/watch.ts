/** Validation loss on held-out documents, by their labels. */
import { softmax } from '../../src/nn/categorical.js';
import type { Parameters } from '../../src/nn/parameters.js';
import { Tape } from '../../src/nn/tape.js';
import { batchesOf } from './batches.js';
import type { LlamaConfig } from '../../src/llama/config.js';
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
  parameters: Parameters,
  config: LlamaConfig,
  corpus: TokenCorpus,
  tokens: number,
): Promise<Record<string, WatchedLoss>> {
  const tape = new Tape(parameters, false);
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
    tape.begin();
    const logits = await tape.outputs([targetLogits(tape, config, batch, targets)]).read();
    const own = Array.from(documents, () => ({ loss: 0, weight: 0, exact: true }));
    targets.rows.forEach((row, i) => {
      const document = own[Math.floor(row / batch.length)]!;
      const weight = targets.weights[i]!;
      const shares = softmax(logits.subarray(i * config.vocabSize, (i + 1) * config.vocabSize));
      document.loss -= weight * Math.log(shares[targets.labels[i]!]!);
      document.weight += weight;
      if (weight === 1 && shares.indexOf(Math.max(...shares)) !== targets.labels[i]) document.exact = false;
    });
    own.forEach(({ loss, weight, exact }, row) => {
      add(corpus.labels[corpus.label[documents[row]!]!]!, loss, weight, exact);
      add('all', loss, weight, exact);
    });
  }
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    rows.map(([label, { loss, weight, exact, documents }]) => [
      label,
      { loss: loss / Math.max(weight, 1e-9), exact: exact / documents, documents },
    ]),
  );
}
