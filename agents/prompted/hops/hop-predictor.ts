/**
 * Predictor of the number of relations in a question, from its text: a softmax over the question's vector and over its words and pairs of
 * words, trained on the chains of train questions. For agents that need the number where the data set does not give it.
 *
 *   logits = V z / √dim + Σ_f U_f x_f / |x| + b     z: z-scored vector     x_f = ln(texts / texts with f) of each f in the text
 *   L = cross-entropy + λ/2 (|V|² + |U|²)
 *
 * @source Self-VEQA predicts the hop count before it proposes chains; theirs is a fine-tuned transformer
 */
import { maskedQuestion, type QuestionSample, type QuestionTask } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { EncodedTexts, StateEncoder } from '../../../src/encoder/state-encoder.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { softmax } from '../../../src/nn/categorical.js';
import { firstNotFinite } from '../../../src/nn/diverged.js';
import { SimdParameters, SimdTape } from '../../../src/nn/simd/tape.js';
import { encodeQuestions, vectorScale } from '../../relation-walker/question-vectors.js';
import type { HopAccuracy } from '../../question-agent.js';
import { wordsOf } from '../../readers/words/inputs.js';

/** Full-batch steps of Adam from zero weights on a convex loss: nothing is drawn, so nothing needs a seed. */
const steps = 150;
const learningRate = 0.4;

/** λ of the loss. Chosen by cross-validation in WebQSP's train questions, as are the words beside the vector. */
const ridge = 3e-4;

/** Parts of train of which each is held out once. */
const folds = 5;

/** Longest question that is read, in tokens. */
const settings = { keepName: false, maxTokens: 128 };

/** Number of hops of questions, at least 1. */
export interface HopPredictor {
  predict(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<number[]>;
  /** Absent where all train questions have one text. */
  heldOut?: HopAccuracy | undefined;
}

/**
 * Trains on the templates of questions whose chain is known, encoded by `encoder`.
 * @param train the only questions it may learn from
 * @throws WorkbenchError `data` where no chain is known
 */
export async function hopPredictor(encoder: StateEncoder, train: readonly QuestionSample[]): Promise<HopPredictor> {
  const known = train.filter(({ gold }) => gold.chains.length > 0);
  known.forEach(madeFromSamples('training', 'hop predictor, with the scale of its vectors'));
  const read = async (tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<HopTexts> => {
    const encoded = await encodeQuestions(encoder, tasks, { settings, signal });
    const texts: string[] = [];
    encoded.rows.forEach((row, i) => (texts[row] = maskedQuestion(tasks[i]!)));
    return { ...encoded, texts };
  };
  const texts = await read(known.map(({ task }) => task));
  const hops = known.map(({ gold }) => gold.chains[0]!.length);
  const { shares } = await fitHops(texts, hops);
  return {
    heldOut: await heldOutAccuracy(texts, hops),
    async predict(tasks, signal) {
      const asked = await read(tasks, signal);
      return Array.from(asked.rows, (row) => mostProbable(shares(asked, row)));
    },
  };
}

/** Vectors with the text of each row. */
export interface HopTexts extends EncodedTexts {
  texts: readonly string[];
}

const mostProbable = (shares: Float64Array) => 1 + shares.indexOf(Math.max(...shares));

/** Cross-validation in which no text is on both sides; undefined where there is one text alone. */
async function heldOutAccuracy(texts: HopTexts, hops: readonly number[]): Promise<HopAccuracy | undefined> {
  if (texts.texts.length < 2) return undefined;
  let right = 0;
  for (let fold = 0; fold < folds; fold++) {
    const parts = Map.groupBy(hops.keys(), (i) => texts.rows[i]! % folds === fold);
    const [held, kept] = [parts.get(true) ?? [], parts.get(false)!];
    const { shares } = await fitHops(
      { ...texts, rows: Int32Array.from(kept, (i) => texts.rows[i]!) },
      kept.map((i) => hops[i]!),
    );
    const predicted = new Map(held.map((i) => [texts.rows[i]!, 0]));
    for (const row of predicted.keys()) predicted.set(row, mostProbable(shares(texts, row)));
    right += held.filter((i) => predicted.get(texts.rows[i]!) === hops[i]).length;
  }
  const counts = [...Map.groupBy(hops, (count) => count).values()].map(({ length }) => length);
  return { n: hops.length, accuracy: right / hops.length, majority: Math.max(...counts) / hops.length };
}

/**
 * @param asked texts and vectors of questions
 * @param hops of each, at least 1
 * @returns the longest chain it was trained on, and the share of each number of hops, 1 first, float64 [maxHops], of a row of texts
 * @throws WorkbenchError `data` without questions, or for a vector that is not finite
 */
export async function fitHops(asked: HopTexts, hops: readonly number[]) {
  if (hops.length === 0) {
    throw new WorkbenchError(
      'data',
      'expected train questions with chains to learn the number of hops from, got none',
      { hint: 'Give the number of hops with the questions, or ask the agent to try all.' },
    );
  }
  const { dim } = asked;
  // Nothing else can make the steps diverge: their rate is fixed and their loss convex.
  const first = firstNotFinite('question vectors', asked.matrix);
  if (first) {
    const place = `number ${first.index % dim} of text ${Math.floor(first.index / dim)} of the hop predictor`;
    throw new WorkbenchError('data', `expected finite ${first.tensor}, got ${first.value}, at ${place}`, {
      hint: 'Encode the questions again: `kgwalk cache info` says where vectors are kept.',
    });
  }
  const scale = vectorScale(asked);
  const maxHops = hops.reduce((most, count) => Math.max(most, count));
  const { rows, targets } = distinctRows(asked, hops, maxHops);
  const rarities = raritiesOf(rows.map((row) => asked.texts[row]!));
  const featureOf = new Map([...rarities.keys()].map((feature, place) => [feature, place]));
  const inputsOf = ({ matrix, texts }: HopTexts, row: number) => ({
    vector: Float32Array.from(
      { length: dim },
      (_, j) => (matrix[row * dim + j]! - scale.mean[j]!) / scale.deviation[j]! / Math.sqrt(dim),
    ),
    words: unitWords(texts[row]!, rarities).map(([feature, weight]) => [featureOf.get(feature)!, weight] as const),
  });
  const inputs = rows.map((row) => inputsOf(asked, row));

  const zeros = (count: number) => ({ shape: [count, maxHops], data: new Float32Array(count * maxHops) });
  const parameters = new SimdParameters({
    vector: zeros(dim),
    'vector.bias': { shape: [maxHops], data: new Float32Array(maxHops) },
    words: zeros(featureOf.size),
  });
  const optimizer = new AdamW(parameters, { weightDecay: 0 });
  const tape = new SimdTape(parameters);
  const matrix = Float32Array.from(inputs.flatMap(({ vector }) => [...vector]));
  const into = Int32Array.from(inputs.flatMap(({ words }, i) => words.map(() => i)));
  const from = Int32Array.from(inputs.flatMap(({ words }) => words.map(([place]) => place)));
  const weights = Float32Array.from(inputs.flatMap(({ words }) => words.map(([, weight]) => weight)));
  for (let step = 0; step < steps; step++) {
    tape.begin();
    const [vector, words] = [tape.parameter('vector', maxHops), tape.parameter('words', maxHops)];
    const ofVectors = tape.dense(tape.constant(matrix, dim), 'vector', maxHops);
    const ofWords = tape.weightedSums(tape.constant(weights, 1), words, into, from, rows.length);
    const { values, backward } = tape.outputs([tape.add(ofVectors, ofWords), vector, words]);
    const grad = values.map((value) => ridge * value);
    grad.set(crossEntropyGrad(values.subarray(0, targets.length), targets, maxHops));
    optimizer.zeroGrad();
    backward(grad);
    await optimizer.step(learningRate);
  }
  const trained = await parameters.export();
  optimizer.dispose();
  parameters.dispose();

  return {
    maxHops,
    shares(texts: HopTexts, row: number) {
      const logits = Float64Array.from(trained['vector.bias']!.data);
      const addRow = (name: string, row: number, weight: number) => {
        for (let k = 0; k < maxHops; k++) logits[k]! += weight * trained[name]!.data[row * maxHops + k]!;
      };
      const { vector, words } = inputsOf(texts, row);
      vector.forEach((value, j) => addRow('vector', j, value));
      for (const [place, weight] of words) addRow('words', place, weight);
      return softmax(logits);
    },
  };
}

/** Words and pairs of words that follow each other, those at the ends of the text among them. */
function phrasesOf(text: string): Set<string> {
  const words = ['', ...wordsOf(text), ''];
  return new Set([...words.slice(1, -1), ...words.slice(1).map((word, i) => `${words[i]} ${word}`)]);
}

/** ln(texts / texts with it) of each phrase. */
function raritiesOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const phrase of texts.flatMap((text) => [...phrasesOf(text)])) counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
  return new Map([...counts].map(([phrase, count]) => [phrase, Math.log(texts.length / count)]));
}

/** The phrases of a text that are in train, with their weights, scaled to length 1. */
function unitWords(text: string, rarities: ReadonlyMap<string, number>): (readonly [phrase: string, weight: number])[] {
  const known = [...phrasesOf(text)].filter((phrase) => (rarities.get(phrase) ?? 0) > 0);
  const length = Math.hypot(...known.map((phrase) => rarities.get(phrase)!));
  return known.map((phrase) => [phrase, rarities.get(phrase)! / length]);
}

/** Each text once, with the share of all questions that ask it with each number of hops: float64 [texts, maxHops]. */
function distinctRows({ rows }: EncodedTexts, hops: readonly number[], maxHops: number) {
  const places = new Map<number, number>();
  for (const row of rows) if (!places.has(row)) places.set(row, places.size);
  const targets = new Float64Array(places.size * maxHops);
  rows.forEach((row, i) => (targets[places.get(row)! * maxHops + hops[i]! - 1]! += 1 / rows.length));
  return { rows: [...places.keys()], targets };
}

/**
 * ∂/∂logits of −Σ targets · log softmax(logits), row by row.
 * @param logits float32 [rows · width]
 * @param targets float64 [rows · width], at least 0
 */
export function crossEntropyGrad(logits: Float32Array, targets: Float64Array, width: number): Float32Array {
  const grad = new Float32Array(logits.length);
  for (let begin = 0; begin < logits.length; begin += width) {
    const shares = softmax(logits.subarray(begin, begin + width));
    const target = targets.subarray(begin, begin + width);
    const weight = target.reduce((sum, value) => sum + value, 0);
    for (let k = 0; k < width; k++) grad[begin + k] = weight * shares[k]! - target[k]!;
  }
  return grad;
}
