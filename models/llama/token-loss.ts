/** Cross-entropy of a Llama on the next tokens. */
import type { LlamaConfig } from '../../src/llama/config.js';
import { equalSequences } from '../../src/llama/forest.js';
import { embed, lastNorm, layers, logitsOf, trainedWeights } from '../../src/llama/forward.js';
import type { Tape, Taped } from '../../src/nn/tape.js';

/** Equally long sequences of token ids, one after the other. */
export interface TokenBatch {
  /** int32 [batch · length]. */
  ids: Int32Array;
  batch: number;
  /** At most the context length. */
  length: number;
}

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
  return logitsOf(tape, trainedWeights(tape), tape.rows(hiddenStates(tape, config, batch), targets.rows));
}

/**
 * States after the last norm by the parameters of a tape, [batch · length, dim]. No token sees a later one, so what stands
 * behind a sequence to fill its batch changes nothing before it.
 */
export function hiddenStates(tape: Tape, config: LlamaConfig, { ids, length }: TokenBatch): Taped {
  const weights = trainedWeights(tape);
  const forest = equalSequences(ids, length);
  return lastNorm(tape, config, weights, layers(tape, config, weights, forest, embed(tape, weights, forest)));
}

/** ln p(label), in nats: [m, 1]. */
export function labelLogProbs(tape: Tape, logits: Taped, labels: Int32Array): Taped {
  const index = labels.map((label, i) => i * logits.width + label);
  return tape.rows(tape.reshape(tape.logSoftmax(logits), 1), index);
}
