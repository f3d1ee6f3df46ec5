/** Question inputs of readers: vectors of words, frozen or learned, or one frozen vector of the text. */
import { maskedQuestion, type QuestionSample } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { Tensor } from '../../../checkpoints/safetensors.js';
import { distinctTexts, type StateEncoder } from '../../../src/encoder/state-encoder.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { Numbers, Rows } from '../../../src/nn/executor.js';
import type { Dropping, Tape, Taped } from '../../../src/nn/tape.js';
import { bidirectionalStarts, type ReadBothWays, readBothWays } from '../../../src/nn/bidirectional.js';
import { type HostTensor, normalValues, uniformFanIn } from '../../../src/nn/parameters.js';
import { scaleOfSamples, ScaledTexts, type VectorScale, vectorScale } from '../../relation-walker/question-vectors.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderSettings } from '../settings.js';

/** In alphabetical order; in a learned table a word's row is its place plus 1, row 0 stands for all others. */
export type Vocabulary = readonly string[];

/** `[e]`, runs of letters and digits with apostrophes inside, question marks and other apostrophes. */
const word = /\[e\]|[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*|[?']/gu;

/** A text's words in lower case, the last `most` of them; a text without a word is one empty word. */
export function wordsOf(text: string, most = Infinity): string[] {
  const words = text.toLowerCase().match(word) ?? [''];
  return words.length > most ? words.slice(-most) : words;
}

/** The words of train questions, `[E]` for their topics. */
export function vocabularyOf(train: readonly QuestionSample[]): Vocabulary {
  const words = new Set<string>();
  const note = madeFromSamples('frequency table', 'words of questions');
  for (const sample of train) {
    note(sample);
    for (const one of wordsOf(maskedQuestion(sample.task))) words.add(one);
  }
  return [...words].sort();
}

/** Weights by name, drawn by name. */
export type InitialWeights = Record<string, HostTensor>;
/** Generator of a weight's start. */
export type RngOf = (name: string) => Rng;

/** A dense layer, uniform in ±1/√inputs. */
export const denseStarts = (name: string, inputs: number, width: number, rngOf: RngOf): InitialWeights => ({
  [name]: { shape: [inputs, width], data: uniformFanIn(rngOf(name), inputs, inputs * width) },
  [`${name}.bias`]: { shape: [width], data: uniformFanIn(rngOf(`${name}.bias`), inputs, width) },
});

/** Settings and encoder of word inputs, of readers or of a walker. */
export interface WordFacts extends Pick<ReaderFacts, 'maxTokens'> {
  settings: Pick<ReaderSettings, 'words' | 'wordDim' | 'width' | 'maxWords'> & {
    fit: Pick<ReaderSettings['fit'], 'dropout'>;
  };
  encoder: Pick<StateEncoder, 'encode' | 'dim'>;
}

/** Vectors of the words of texts. */
export interface WordInput {
  prepare(texts: readonly string[], signal?: AbortSignal): Promise<void>;
  initialWeights(rngOf: RngOf): InitialWeights;
  /** States of all words, and of each text as a whole. @param dropout of words' vectors; of each text where there are several */
  read<N extends Numbers, R extends Rows>(
    tape: Tape<N, R>,
    texts: readonly string[],
    dropout?: Dropping,
  ): ReadBothWays<N> & { offsets: Int32Array };
}

/** Words of train, and with `words=frozen` the scale of their vectors. Every word counts once. */
export async function wordBasis(
  { settings, encoder, maxTokens }: WordFacts,
  train: readonly QuestionSample[],
  signal?: AbortSignal,
): Promise<ReaderBasis> {
  const words = vocabularyOf(train);
  const state = { words: [...words] };
  if (settings.words === 'trained') return { state, tensors: {} };
  return { state, tensors: tensorsOf(vectorScale(await encoder.encode(words, { maxTokens, signal }))) };
}

/** The scale of vectors of whole questions. */
export async function sentenceBasis(
  { encoder, maxTokens }: Pick<ReaderFacts, 'encoder' | 'maxTokens'>,
  train: readonly QuestionSample[],
  signal?: AbortSignal,
): Promise<ReaderBasis> {
  const texts = train.map(({ task }) => maskedQuestion(task));
  const encoded = await encoder.encode(texts, { maxTokens, signal });
  return { state: {}, tensors: tensorsOf(scaleOfSamples(encoded, train)) };
}

const tensorsOf = ({ mean, deviation }: VectorScale): Record<string, Tensor> => ({
  mean: { shape: [mean.length], data: mean },
  deviation: { shape: [deviation.length], data: deviation },
});

/** The scale that a basis keeps. @throws WorkbenchError `data` where it keeps none, or one of another encoder */
export function scaleOf({ tensors }: ReaderBasis, dim: number): VectorScale {
  const [mean, deviation] = ['mean', 'deviation'].map((name) => tensors[name]?.data);
  if (mean instanceof Float32Array && deviation instanceof Float32Array) {
    if (mean.length === dim && deviation.length === dim) return { mean, deviation };
  }
  throw new WorkbenchError(
    'data',
    `expected float32 mean and deviation of ${dim} numbers, got others, at a reader’s scale`,
    { hint: 'The run belongs to another encoder, or its file reader.safetensors is damaged.' },
  );
}

/** A BiGRU over the words of masked questions. @throws WorkbenchError `data` for a basis without words */
export function wordInput({ settings, encoder, maxTokens }: WordFacts, basis: ReaderBasis): WordInput {
  const { wordDim, width, maxWords, fit } = settings;
  const vectors =
    settings.words === 'frozen'
      ? frozenWords(new ScaledTexts(encoder, scaleOf(basis, encoder.dim), maxTokens), wordDim)
      : learnedWords(vocabularyIn(basis), wordDim);
  const wordsIn = (text: string) => wordsOf(text, maxWords);
  return {
    prepare: (texts, signal) => vectors.prepare(texts.flatMap(wordsIn), signal),
    initialWeights: (rngOf) => ({
      ...vectors.initialWeights(rngOf),
      ...bidirectionalStarts('words', wordDim, width, rngOf),
    }),
    read(tape, texts, dropout) {
      const words = texts.map(wordsIn);
      const offsets = new Int32Array(texts.length + 1);
      words.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + length));
      const { distinct, rows } = distinctTexts(words.flat());
      const x = tape.dropout(tape.rows(vectors.rows(tape, distinct), rows), fit.dropout, dropout, offsets);
      const elements = Int32Array.from(rows.keys());
      const layer = { cell: 'gru', name: 'words', dim: width } as const;
      return { ...readBothWays(tape, layer, x, { rows: elements, offsets }), offsets };
    },
  };
}

/** One vector of a question as a whole. */
interface QuestionInput {
  dim: number;
  prepare(texts: readonly string[], signal?: AbortSignal): Promise<void>;
  initialWeights(rngOf: RngOf): InitialWeights;
  /** [texts, dim] */
  read<N extends Numbers, R extends Rows>(tape: Tape<N, R>, texts: readonly string[], dropout?: Dropping): Taped<N>;
}

/** The basis of what `reader.reads` says. */
export const questionBasis = (
  facts: ReaderFacts,
  train: readonly QuestionSample[],
  signal?: AbortSignal,
): Promise<ReaderBasis> => (facts.settings.reads === 'words' ? wordBasis : sentenceBasis)(facts, train, signal);

/** The frozen vector of the sentence, or the ends of the BiGRU over its words, as `reader.reads` says. */
export function questionInput(facts: ReaderFacts, basis: ReaderBasis): QuestionInput {
  const { settings, encoder, maxTokens } = facts;
  if (settings.reads === 'words') {
    const words = wordInput(facts, basis);
    return {
      dim: 2 * settings.width,
      prepare: words.prepare,
      initialWeights: words.initialWeights,
      read: (tape, all, dropout) => words.read(tape, all, dropout).ends,
    };
  }
  const texts = new ScaledTexts(encoder, scaleOf(basis, encoder.dim), maxTokens);
  return {
    dim: encoder.dim,
    prepare: (all, signal) => texts.prepare(all, signal),
    initialWeights: () => ({}),
    read: (tape, all) => tape.constant(texts.matrix(all), texts.dim),
  };
}

interface WordVectors {
  prepare(words: readonly string[], signal?: AbortSignal): Promise<void>;
  initialWeights(rngOf: RngOf): InitialWeights;
  rows<N extends Numbers, R extends Rows>(tape: Tape<N, R>, words: readonly string[]): Taped<N>;
}

/** Frozen vectors, projected. */
export const frozenWords = (texts: ScaledTexts, dim: ReaderSettings['wordDim']): WordVectors => ({
  prepare: (words, signal) => texts.prepare(words, signal),
  initialWeights: (rngOf) => denseStarts('word', texts.dim, dim, rngOf),
  rows: (tape, words) => tape.dense(tape.constant(texts.matrix(words), texts.dim), 'word', dim),
});

/** A table that is learned, normal at first. */
export function learnedWords(vocabulary: Vocabulary, dim: ReaderSettings['wordDim'], deviation = 1): WordVectors {
  const rowOf = new Map(vocabulary.map((word, i) => [word, i + 1]));
  const size = vocabulary.length + 1;
  return {
    prepare: () => Promise.resolve(),
    initialWeights: (rngOf) => ({
      word: { shape: [size, dim], data: normalValues(rngOf('word'), deviation, size * dim) },
    }),
    rows: (tape, words) =>
      tape.rows(
        tape.parameter('word', dim),
        Int32Array.from(words, (word) => rowOf.get(word) ?? 0),
      ),
  };
}

/** The words of a basis. @throws WorkbenchError `data` where it keeps none */
export function vocabularyIn({ state: { words } }: ReaderBasis): Vocabulary {
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words as string[];
  throw new WorkbenchError('data', 'expected the words of train, got none, at a reader’s basis', {
    hint: 'The file reader.safetensors of the run is damaged or of another kind of reader.',
  });
}
