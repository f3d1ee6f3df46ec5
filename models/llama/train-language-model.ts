/** Trains a Llama on documents: next tokens by weighted cross-entropy, AdamW, a rate that rises, then falls. */
import { setImmediate } from 'node:timers/promises';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { AdamW } from '../../src/tensor/adamw.js';
import { Rng } from '../../src/run/seeds.js';
import { Diverged, explainedLater } from '../../src/tensor/diverged.js';
import { hostValues, readTensor } from '../../src/tensor/ops.js';
import { type Batch, batchesOf, type CorpusPlace, nextWindow } from './batches.js';
import type { LlamaConfig } from './config.js';
import { documentLength, type TokenCorpus } from './token-corpus.js';
import { targetLogits, weightedCrossEntropy } from './token-loss.js';
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
  parameters: ParameterSet;
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
  /** Told an update that diverged, before which weights and moments stand, and the start of its window; what it resolves to is thrown. */
  onDiverged?: (error: Diverged, window: TrainingPlace) => unknown;
}

/** Before the first update. */
export const startOfTraining: TrainingPlace = { round: 0, passed: 0, steps: 0, tokens: 0 };

/** The optimizer that `settings` ask for. */
export function optimizerFor(parameters: ParameterSet, settings: TrainingSettings): AdamW {
  const { beta2, weightDecay, maxGradNorm } = settings;
  return new AdamW(parameters, { beta2, weightDecay, maxGradNorm });
}

/**
 * Trains from `place` until all tokens are seen or `onWindow` stops it. Stopped between two windows and resumed, it
 * gives the very numbers of an unbroken one.
 * @returns where it stands
 * @throws WorkbenchError `data` for a corpus without a document that is short enough to begin with; `Diverged` before an update
 *   whose numbers are not finite
 */
export async function trainLanguageModel(training: LanguageModelTraining): Promise<TrainingPlace> {
  const { config, corpus, settings, onReport, onWindow, onDiverged } = training;
  let place = training.place;
  // Longer ones take part only once tokens were seen: without a shorter one that would be never.
  requireDocument(corpus, longestAt(place.tokens, settings, config.contextLength));
  let [loss, weight, since] = [0, 0, place.tokens];
  try {
    while (place.tokens < settings.tokens) {
      const { updates, after } = windowAt(training, place);
      let { steps, tokens } = place;
      for (const batches of updates) {
        // So that Ctrl-C and time limits are heard.
        await setImmediate();
        const learningRate = rateAt(tokens, settings);
        const update = await makeUpdate(training, batches, learningRate, steps);
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
  } catch (error) {
    throw error instanceof Diverged && onDiverged ? await onDiverged(error, place) : error;
  }
  return place;
}

/**
 * Makes an update of the window at `place` again; weights and moments are those before it.
 * @param update from 1
 * @throws Diverged as the training did; WorkbenchError `data` for an update that is not in the window
 */
export async function repeatUpdate(
  training: Omit<LanguageModelTraining, 'onReport' | 'onWindow'>,
  update: number,
): Promise<{ loss: number; gradNorm: number }> {
  const { corpus, settings, place } = training;
  const { updates } = windowAt(training, place);
  const before = updates.slice(0, update - place.steps - 1);
  const batches = updates[before.length];
  if (!batches || before.length !== update - place.steps - 1) {
    throw new WorkbenchError('data', `expected one of ${updates.length} updates of a window, got update ${update}`);
  }
  const tokens = before.flat().reduce((sum, batch) => sum + tokensOf(corpus, batch), place.tokens);
  const { loss, weight, gradNorm } = await makeUpdate(training, batches, rateAt(tokens, settings), update - 1);
  return { loss: loss / weight, gradNorm };
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
  for (const place of rng.shuffle(Int32Array.from(batches.keys()))) {
    if (room <= 0) {
      updates.push([]);
      room = settings.stepTokens;
    }
    updates.at(-1)!.push(batches[place]!);
    room -= tokensOf(corpus, batches[place]!);
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
  training: Pick<LanguageModelTraining, 'parameters' | 'optimizer' | 'config' | 'corpus'>,
  batches: Batch[],
  learningRate: number,
  done: number,
) {
  const { parameters, optimizer, config } = training;
  const { tf } = parameters;
  const weight = batches.reduce((sum, { targets }) => sum + targets.weights.reduce((a, b) => a + b, 0), 0);
  const total = tf.tidy(() => tf.variable(tf.scalar(0), false));
  const losses = batches.map(({ tokens, targets }) => () => {
    const loss = weightedCrossEntropy(tf, targetLogits(parameters, config, tokens, targets), targets);
    total.assign(tf.add(total, loss));
    return tf.div(loss, weight) as typeof loss;
  });
  const lossSoFar = async () => (await hostValues(tf, total))[0]!;
  try {
    const gradNorm = await explainedLater(
      async () => ({
        place: { update: done + 1 },
        loss: (await lossSoFar()) / weight,
        samples: await lossesByDocument(training, batches),
      }),
      () => optimizer.minimize(losses, learningRate),
    );
    return { loss: await lossSoFar(), weight, gradNorm };
  } finally {
    total.dispose();
  }
}

/** Mean loss of a token in each document of some batches. */
async function lossesByDocument(
  { parameters, config, corpus }: Pick<LanguageModelTraining, 'parameters' | 'config' | 'corpus'>,
  batches: readonly Batch[],
): Promise<{ id: string; loss: number }[]> {
  const { tf } = parameters;
  const losses: { id: string; loss: number }[] = [];
  for (const document of batches.flatMap(({ documents }) => [...documents])) {
    for (const { tokens, targets } of batchesOf(corpus, Int32Array.of(document), Infinity)) {
      const [loss] = await readTensor(tf, () =>
        weightedCrossEntropy(tf, targetLogits(parameters, config, tokens, targets), targets),
      );
      const id = `document ${document}, ${corpus.labels[corpus.label[document]!]}`;
      losses.push({ id, loss: loss! / targets.weights.reduce((a, b) => a + b, 0) });
    }
  }
  return losses;
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
