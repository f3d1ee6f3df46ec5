/** Cross-entropy of a Llama on the next tokens. */
import type { Tape, Taped } from '../../src/nn/tape.js';
import type { LlamaConfig } from './config.js';
import { hiddenStates, logitsOf, type TokenBatch } from './forward.js';

/** The places of a batch whose next token counts: place i predicts `labels[i]` with `weights[i]` > 0. */
export interface Targets {
  /** Rows of the batch's states, int32 [m]. */
  rows: Int32Array;
  /** The token that follows, int32 [m]. */
  labels: Int32Array;
  /** float32 [m]. */
  weights: Float32Array;
}

/** Logits of the targets' places alone, [m, vocabSize]: the table is the widest product, and most places do not count. */
export function targetLogits(tape: Tape, config: LlamaConfig, batch: TokenBatch, targets: Targets): Taped {
  return logitsOf(tape, tape.rows(hiddenStates(tape, config, batch), targets.rows));
}

/** ln p(label), in nats: [m, 1]. */
export function labelLogProbs(tape: Tape, logits: Taped, labels: Int32Array): Taped {
  const index = labels.map((label, i) => i * logits.width + label);
  return tape.rows(tape.reshape(tape.logSoftmax(logits), 1), index);
}
