/**
 * The relation walker that reads words: the instructions of NSM chains (`agents/readers/chains/attention.ts`), one for each step, each of
 * which knows the one before. Relations walked are not looked at. A walk of h relations is drawn as a reader draws its chains,
 *
 *   p(r_1 … r_h) = softmax(g)_h · Π_t softmax(l_t)_{r_t},
 *
 * so that after t relations STOP has the share of length t among those of t or more, and the rest is divided by softmax(l_{t+1}).
 * Computed on the host.
 *
 * @source the network: as `attention.ts`. Dropout that is the same in walking and in learning: Hausknecht and Wagener 2022, arXiv:2202.11818
 */
import { maskedQuestion, type QuestionTask } from '../../datasets/question.js';
import { distinctTexts, type StateEncoder } from '../../src/encoder/state-encoder.js';
import { Rng } from '../../src/run/seeds.js';
import { type HostOutputs, SimdParameters, SimdTape } from '../../src/nn/simd/tape.js';
import { type AttentionFacts, attentionScores } from '../readers/chains/attention.js';
import type { ReaderBasis } from '../readers/facts.js';
import type { RelationNetwork, RelationRequest, RelationShape } from './network.js';
import type { RelationWalkerSettings } from './settings.js';

/** Scores of a text: float32 [horizon · numRelations + horizon], logits l_1 … l_H, then g. */
type TextScores = Float32Array;

/** Texts whose scores are kept between updates. */
const mostKept = 4096;

/** A walker's settings as readers of words have them. */
const wordSettings = ({ wordDim, wordWidth, dropout }: RelationWalkerSettings): Pick<AttentionFacts, 'settings'> => ({
  settings: { words: 'frozen', wordDim, width: wordWidth, maxWords: 64, fit: { dropout } },
});

/** Word inputs of a walker. */
export const wordFacts = (
  settings: RelationWalkerSettings,
  encoder: Pick<StateEncoder, 'encode' | 'dim'>,
): AttentionFacts => ({ ...wordSettings(settings), encoder, maxTokens: settings.maxTokens });

/** Weights, and cached scores of texts. */
export class WordNetwork implements RelationNetwork {
  readonly parameters: SimdParameters;
  readonly #tape: SimdTape;
  readonly #network: ReturnType<typeof attentionScores>;
  readonly #known = new Map<string, TextScores>();
  #version = 0;
  #dropped: number | undefined;

  constructor(
    facts: AttentionFacts,
    readonly shape: RelationShape,
    basis: ReaderBasis,
    seed: number,
  ) {
    this.#network = attentionScores('nsm', facts, shape, basis);
    this.parameters = new SimdParameters(
      this.#network.initialWeights((name) => Rng.named(seed, `relation-walker/words/${name}`)),
    );
    this.#tape = new SimdTape(this.parameters);
  }

  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void> {
    return this.#network.prepare([...new Set(tasks.map(maskedQuestion))], signal);
  }

  drop(seed: number | undefined): void {
    this.#dropped = seed;
    this.#known.clear();
  }

  /** Kept by text until weights change. */
  scores(requests: readonly RelationRequest[]): Float32Array {
    const texts = requests.map(({ task }) => maskedQuestion(task));
    this.#know(texts);
    return this.#actions(requests, (i) => this.#known.get(texts[i]!)!);
  }

  recorded(requests: readonly RelationRequest[], dropout?: Rng): HostOutputs {
    const { distinct, rows } = distinctTexts(requests.map(({ task }) => maskedQuestion(task)));
    const { values, back } = this.#compute(distinct, dropout);
    const said = (i: number, all: Float32Array) => all.subarray(rows[i]! * this.#width, (rows[i]! + 1) * this.#width);
    const scores = this.#actions(requests, (i) => said(i, values));
    return {
      values: scores,
      read: () => Promise.resolve(scores),
      back: (grad) => {
        const grads = new Float32Array(values.length);
        const size = this.shape.numRelations + 1;
        requests.forEach(({ relations }, i) => {
          const of = grad.subarray(i * size, (i + 1) * size);
          actionGrads(said(i, values), relations.length, this.shape, of, said(i, grads));
        });
        back(grads);
      },
    };
  }

  #actions(requests: readonly RelationRequest[], said: (request: number) => TextScores): Float32Array {
    const size = this.shape.numRelations + 1;
    const scores = new Float32Array(requests.length * size);
    requests.forEach(({ relations }, i) => {
      actionScores(said(i), relations.length, this.shape, scores.subarray(i * size, (i + 1) * size));
    });
    return scores;
  }

  #know(texts: readonly string[]): void {
    if (this.#version !== this.parameters.version || this.#known.size > mostKept) this.#known.clear();
    this.#version = this.parameters.version;
    const { distinct } = distinctTexts(texts.filter((text) => !this.#known.has(text)));
    if (distinct.length === 0) return;
    const { values } = this.#compute(distinct);
    distinct.forEach((text, i) => this.#known.set(text, values.slice(i * this.#width, (i + 1) * this.#width)));
  }

  #compute(texts: readonly string[], dropout?: Rng): HostOutputs {
    this.#tape.begin();
    // By text, so that it does not matter which texts are computed together.
    const seed = this.#dropped;
    const own = seed === undefined ? undefined : texts.map((text) => Rng.named(seed, text));
    const { steps, hops } = this.#network.compute(this.#tape, texts, dropout ?? own);
    return this.#tape.outputs([this.#tape.concat([...steps, hops!])]);
  }

  get #width(): number {
    return this.shape.horizon * (this.shape.numRelations + 1);
  }
}

/** Score of STOP before the first relation: chains have at least one. */
const never = -1e4;

/** Logits of a step and of lengths in the scores of a text. */
function partsOf(said: TextScores, step: number, { numRelations, horizon }: RelationShape) {
  return {
    relations: said.subarray(step * numRelations, (step + 1) * numRelations),
    lengths: said.subarray(horizon * numRelations),
  };
}

/** Log-probabilities of all actions behind `step` relations, where nothing is masked; STOP comes last. */
function actionScores(said: TextScores, step: number, shape: RelationShape, into: Float32Array): void {
  const { relations, lengths } = partsOf(said, step, shape);
  const goesOn = logSum(lengths, step);
  const ofAll = logSum(relations, 0);
  const reached = step === 0 ? goesOn : logSum(lengths, step - 1);
  for (let r = 0; r < relations.length; r++) into[r] = goesOn - reached + relations[r]! - ofAll;
  into[relations.length] = step === 0 ? never : lengths[step - 1]! - reached;
}

/** Adds the gradients of a text's scores to `into`. @param grad of the scores of all actions after `step` relations */
function actionGrads(
  said: TextScores,
  step: number,
  shape: RelationShape,
  grad: Float32Array,
  into: Float32Array,
): void {
  const { relations, lengths } = partsOf(said, step, shape);
  const { relations: byRelations, lengths: byLengths } = partsOf(into, step, shape);
  const stop = step === 0 ? 0 : grad[relations.length]!;
  let onwards = 0;
  for (let r = 0; r < relations.length; r++) onwards += grad[r]!;
  const ofAll = logSum(relations, 0);
  for (let r = 0; r < relations.length; r++) {
    byRelations[r]! += grad[r]! - onwards * Math.exp(relations[r]! - ofAll);
  }
  const goesOn = logSum(lengths, step);
  for (let h = step; h < lengths.length; h++) byLengths[h]! += onwards * Math.exp(lengths[h]! - goesOn);
  const first = Math.max(step - 1, 0);
  const reached = logSum(lengths, first);
  for (let h = first; h < lengths.length; h++) byLengths[h]! -= (onwards + stop) * Math.exp(lengths[h]! - reached);
  if (step > 0) byLengths[step - 1]! += stop;
}

/** log Σ exp of the values from `begin` on. */
function logSum(values: Float32Array, begin: number): number {
  let most = -Infinity;
  for (let i = begin; i < values.length; i++) most = Math.max(most, values[i]!);
  let sum = 0;
  for (let i = begin; i < values.length; i++) sum += Math.exp(values[i]! - most);
  return most + Math.log(sum);
}
