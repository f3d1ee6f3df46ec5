/** Trains a Llama on documents: next tokens by weighted cross-entropy, AdamW, a rate that rises, then falls. */
import { setImmediate } from 'node:timers/promises';
import type { Parameters } from '../../src/nn/parameters.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { AdamW } from '../../src/nn/adamw.js';
import { Rng } from '../../src/run/seeds.js';
import { divergedAt } from '../../src/nn/diverged.js';
import { Tape } from '../../src/nn/tape.js';
import { type Batch, batchesOf, type CorpusPlace, nextWindow } from './batches.js';
import type { LlamaConfig } from '../../src/llama/config.js';
import { documentLength, type TokenCorpus } from './token-corpus.js';
import { labelLogProbs, targetLogits } from './token-loss.js';
import type { TrainingSettings } from './training-settings.js';

/** Progress of a training; with parameters and moments the whole state. */
export interface TrainingPlace extends CorpusPlace {
  /** Updates made. */
  steps: number;
  /** Tokens seen, filling not counted. */
  tokens: number;
}

/** Figures of a stretch of training. */
export interface TrainingReport {
  steps: number;
  tokens: number;
  /** Weighted mean loss of a token since the last report, nats. */
  loss: number;
  /** The last update's norm of gradient, before it was cut. */
  gradNorm: number;
  learningRate: number;
}

/** Model, corpus, start and callbacks of a training. */
export interface LanguageModelTraining {
  parameters: Parameters;
  optimizer: AdamW;
  config: LlamaConfig;
  corpus: TokenCorpus;
  settings: TrainingSettings;
  seed: number;
  /** Position to resume at. */
  place: TrainingPlace;
  /** Called after `logTokens` more tokens. */
  onReport: (report: TrainingReport) => void;
  /** Called between two windows; a training that should stop for now returns true. */
  onWindow: (place: TrainingPlace) => boolean | Promise<boolean>;
}

/** Before the first update. */
export const startOfTraining: TrainingPlace = { round: 0, passed: 0, steps: 0, tokens: 0 };

/** The optimizer that `settings` ask for. */
export function optimizerFor(parameters: Parameters, settings: TrainingSettings): AdamW {
  const { beta2, weightDecay, maxGradNorm } = settings;
  return new AdamW(parameters, { beta2, weightDecay, maxGradNorm });
}

/**
 * Trains from `place` until all tokens are seen or `onWindow` stops it. Stopped between two windows and resumed, it
 * gives the very numbers of an unbroken one.
 * @returns where it stands
 * @throws WorkbenchError `data` for a corpus without a document that is short enough to begin with; `failure` before an
 *   update with numbers that are not finite
 */
export async function trainLanguageModel(training: LanguageModelTraining): Promise<TrainingPlace> {
  const { config, corpus, settings, onReport, onWindow } = training;
  const tape = new Tape(training.parameters);
  let place = training.place;
  // Longer ones take part only once tokens were seen: without a shorter one that would be never.
  requireDocument(corpus, longestAt(place.tokens, settings, config.contextLength));
  let [loss, weight, since] = [0, 0, place.tokens];
  while (place.tokens < settings.tokens) {
    const { updates, after } = windowAt(training, place);
    let { steps, tokens } = place;
    for (const batches of updates) {
      // So that Ctrl-C and time limits are heard.
      await setImmediate();
      const learningRate = rateAt(tokens, settings);
      const update = await makeUpdate(tape, training, batches, learningRate, steps);
      loss += update.loss;
      weight += update.weight;
      steps++;
      for (const batch of batches) tokens += tokensOf(corpus, batch);
      if (tokens - since < settings.logTokens) continue;
      onReport({ steps, tokens, loss: loss / weight, gradNorm: update.gradNorm, learningRate });
      [loss, weight, since] = [0, 0, tokens];
    }
    place = { ...after, steps, tokens };
    if (await onWindow(place)) break;
  }
  return place;
}

/** The updates of a window, in their order. */
function windowAt(
  { config, corpus, settings, seed }: Pick<LanguageModelTraining, 'config' | 'corpus' | 'settings' | 'seed'>,
  place: TrainingPlace,
) {
  const longest = longestAt(place.tokens, settings, config.contextLength);
  const { documents, after } = nextWindow(corpus, place, { seed, count: settings.windowDocuments, longest });
  return { updates: updatesOf(corpus, documents, settings, Rng.named(seed, 'llama/window', place.steps)), after };
}

/** @param longest tokens of a document that takes part now */
function requireDocument(corpus: TokenCorpus, longest: number): void {
  const count = corpus.offsets.length - 1;
  for (let document = 0; document < count; document++) {
    const [begin, end] = [corpus.offsets[document]!, corpus.offsets[document + 1]!];
    // The first token is predicted from nothing.
    const learned =
      documentLength(corpus, document) <= longest && corpus.weights.subarray(begin + 1, end).some(Boolean);
    if (learned) return;
  }
  throw new WorkbenchError(
    'data',
    `expected a document of at most ${longest} tokens with something to predict, got none of ${count}, at the corpus`,
    { hint: 'Give the model a longer context, or let long documents take part from the start by shortTokens=0.' },
  );
}

/** A window's batches in seeded order, put together to updates. */
function updatesOf(corpus: TokenCorpus, documents: Int32Array, settings: TrainingSettings, rng: Rng): Batch[][] {
  const batches = batchesOf(corpus, documents, settings.partTokens);
  const updates: Batch[][] = [];
  let room = 0;
  for (const index of rng.shuffle(Int32Array.from(batches.keys()))) {
    if (room <= 0) {
      updates.push([]);
      room = settings.stepTokens;
    }
    updates.at(-1)!.push(batches[index]!);
    room -= tokensOf(corpus, batches[index]!);
  }
  // A last update of few tokens would count as much as a whole one.
  if (updates.length > 1 && room > settings.stepTokens / 2) updates.push([...updates.pop()!, ...updates.pop()!]);
  return updates;
}

/** Tokens of the documents of a batch. */
function tokensOf({ offsets }: TokenCorpus, { documents }: Batch): number {
  return documents.reduce((sum, document) => sum + offsets[document + 1]! - offsets[document]!, 0);
}

async function makeUpdate(
  tape: Tape,
  { optimizer, config }: Pick<LanguageModelTraining, 'optimizer' | 'config'>,
  batches: Batch[],
  learningRate: number,
  done: number,
) {
  const weight = batches.reduce((sum, { targets }) => sum + targets.weights.reduce((a, b) => a + b, 0), 0);
  let loss = 0;
  try {
    optimizer.zeroGrad();
    for (const { tokens, targets } of batches) {
      tape.begin();
      const logProbs = labelLogProbs(tape, targetLogits(tape, config, tokens, targets), targets.labels);
      const outputs = tape.outputs([logProbs]);
      const values = await outputs.read();
      loss -= values.reduce((sum, logProb, i) => sum + targets.weights[i]! * logProb, 0);
      outputs.backward(targets.weights.map((one) => -one / weight));
    }
    return { loss, weight, gradNorm: await optimizer.step(learningRate) };
  } catch (error) {
    throw divergedAt(error, `update ${done + 1}`, 'Lower training.learningRate or training.maxGradNorm.');
  }
}

/** Linear rise, then a cosine down to `lastRate` of the largest. */
export function rateAt(
  tokens: number,
  { learningRate, lastRate, warmupTokens, tokens: all }: TrainingSettings,
): number {
  if (tokens < warmupTokens) return (learningRate * (tokens + 1)) / (warmupTokens + 1);
  const done = Math.min(1, (tokens - warmupTokens) / Math.max(1, all - warmupTokens));
  return learningRate * (lastRate + ((1 - lastRate) * (1 + Math.cos(Math.PI * done))) / 2);
}

/** Longest document that takes part: from a quarter of the context up to all of it. */
function longestAt(tokens: number, { shortTokens }: TrainingSettings, contextLength: number): number {
  if (tokens >= shortTokens) return contextLength;
  return Math.round(contextLength * (1 / 4 + (3 / 4) * (tokens / shortTokens)));
}
