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
import type { RelationWalkObservation } from '../../envs/relation-walk/relation-walk-env.js';
import { distinctTexts, type StateEncoder } from '../../src/encoder/state-encoder.js';
import { Rng } from '../../src/run/seeds.js';
import { type HostOutputs, HostParameters } from '../../src/tensor/host/host-parameters.js';
import { Tape } from '../../src/tensor/host/tape.js';
import type { Actor } from '../actor.js';
import { type AttentionFacts, attentionScores } from '../readers/chains/attention.js';
import type { ReaderBasis } from '../readers/facts.js';
import { legalActions, type RelationReader, type RelationRequest, relationSteps } from './network.js';
import type { RelationWalkerSettings } from './settings.js';

/** Scores of a text: float32 [horizon · numRelations + horizon], logits l_1 … l_H, then g. */
type TextScores = Float32Array;

interface WordShape {
  numRelations: number;
  /** Relations a walk may take. */
  horizon: number;
}

/** Texts whose scores are kept between updates. */
const mostKept = 4096;

/** A walker's settings as readers of words have them. */
export const wordSettings = ({
  wordDim,
  wordWidth,
  dropout,
}: RelationWalkerSettings): Pick<AttentionFacts, 'settings'> => ({
  settings: { words: 'frozen', wordDim, width: wordWidth, maxWords: 64, fit: { dropout } },
});

/** Word inputs of a walker. */
export const wordFacts = (
  settings: RelationWalkerSettings,
  encoder: Pick<StateEncoder, 'encode' | 'dim'>,
): AttentionFacts => ({ ...wordSettings(settings), encoder, maxTokens: settings.maxTokens });

/** Weights, and cached scores of texts. */
export class WordNetwork {
  readonly parameters: HostParameters;
  readonly #tape: Tape;
  readonly #network: ReturnType<typeof attentionScores>;
  readonly #known = new Map<string, TextScores>();
  #version = 0;
  #dropped: number | undefined;

  /** @param basis from `wordBasis` of train */
  constructor(
    facts: AttentionFacts,
    readonly shape: WordShape,
    basis: ReaderBasis,
    seed: number,
  ) {
    this.#network = attentionScores('nsm', facts, shape, basis);
    this.parameters = new HostParameters(
      this.#network.starts((name) => Rng.named(seed, `relation-walker/words/${name}`)),
    );
    this.#tape = new Tape(this.parameters);
  }

  /** Encodes the words of questions; required before `scores` and `recorded`. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void> {
    return this.#network.prepare([...new Set(tasks.map(maskedQuestion))], signal);
  }

  /** Sets the seed of dropout masks by text; undefined: no dropout. */
  drop(seed: number | undefined): void {
    this.#dropped = seed;
    this.#known.clear();
  }

  /** float32 [S · (numRelations + 1)]: scores of all actions, kept by text until weights change. */
  scores(requests: readonly RelationRequest[]): Float32Array {
    const texts = requests.map(({ task }) => maskedQuestion(task));
    this.#know(texts);
    return this.#actions(requests, (i) => this.#known.get(texts[i]!)!);
  }

  /** The same with the backward pass. @param dropout instead of the masks of `drop` */
  recorded(requests: readonly RelationRequest[], dropout?: Rng): HostOutputs {
    const { distinct, rows } = distinctTexts(requests.map(({ task }) => maskedQuestion(task)));
    const { values, back } = this.#compute(distinct, dropout);
    const said = this.#cut(values, distinct.length);
    return {
      values: this.#actions(requests, (i) => said[rows[i]!]!),
      back: (grad) => {
        const grads = said.map(({ length }) => new Float32Array(length));
        const size = this.shape.numRelations + 1;
        requests.forEach(({ relations }, i) => {
          const of = grad.subarray(i * size, (i + 1) * size);
          actionGrads(said[rows[i]!]!, relations.length, this.shape, of, grads[rows[i]!]!);
        });
        back(this.#joined(grads));
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
    this.#cut(this.#compute(distinct).values, distinct.length).forEach((said, i) => {
      this.#known.set(distinct[i]!, said);
    });
  }

  #compute(texts: readonly string[], dropout?: Rng): HostOutputs {
    this.#tape.begin();
    // By text, so that it does not matter which texts are computed together.
    const seed = this.#dropped;
    const own = seed === undefined ? undefined : texts.map((text) => Rng.named(seed, text));
    const { steps, hops } = this.#network.compute(this.#tape, texts, dropout ?? own);
    return this.#tape.outputs([...steps, hops!]);
  }

  /** Widths of the parts that stand one behind the other, each of all texts. */
  get #widths(): number[] {
    const { numRelations, horizon } = this.shape;
    return [...Array.from({ length: horizon }, () => numRelations), horizon];
  }

  #cut(values: Float32Array, texts: number): TextScores[] {
    const widths = this.#widths;
    return Array.from({ length: texts }, (_, i) => {
      const said = new Float32Array(widths.reduce((sum, width) => sum + width));
      let begin = 0;
      for (const width of widths) {
        const from = begin * texts + i * width;
        said.set(values.subarray(from, from + width), begin);
        begin += width;
      }
      return said;
    });
  }

  #joined(grads: readonly TextScores[]): Float32Array {
    const widths = this.#widths;
    const all = new Float32Array(grads.length * grads[0]!.length);
    grads.forEach((grad, i) => {
      let begin = 0;
      for (const width of widths) {
        all.set(grad.subarray(begin, begin + width), begin * grads.length + i * width);
        begin += width;
      }
    });
    return all;
  }
}

/** Score of STOP before the first relation: chains have at least one. */
const never = -1e4;

/** Logits of a step and of lengths in the scores of a text. */
function partsOf(said: TextScores, step: number, { numRelations, horizon }: WordShape) {
  return {
    relations: said.subarray(step * numRelations, (step + 1) * numRelations),
    lengths: said.subarray(horizon * numRelations),
  };
}

/** Log-probabilities of all actions behind `step` relations, where nothing is masked; STOP comes last. */
function actionScores(said: TextScores, step: number, shape: WordShape, into: Float32Array): void {
  const { relations, lengths } = partsOf(said, step, shape);
  const goesOn = logSum(lengths, step);
  const ofAll = logSum(relations, 0);
  const reached = step === 0 ? goesOn : logSum(lengths, step - 1);
  for (let r = 0; r < relations.length; r++) into[r] = goesOn - reached + relations[r]! - ofAll;
  into[relations.length] = step === 0 ? never : lengths[step - 1]! - reached;
}

/** Adds the gradients of a text's scores to `into`. @param grad of the scores of all actions after `step` relations */
function actionGrads(said: TextScores, step: number, shape: WordShape, grad: Float32Array, into: Float32Array): void {
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

/** Wraps a network; disposing one disposes the other. */
export function wordActor(network: WordNetwork): Actor<RelationWalkObservation, RelationRequest> {
  const { parameters, shape } = network;
  return {
    ...relationSteps(shape.numRelations),
    parameters,
    prepare: (requests) => network.prepare(requests.map(({ task }) => task)),
    score(requests) {
      const { offsets, legal, scoredOffsets } = legalActions(requests, shape.numRelations);
      return {
        offsets,
        masked: { scoredOffsets, legal },
        logits: (dropout) => network.recorded(requests, dropout),
        infer: () => Promise.resolve(network.scores(requests)),
      };
    },
    drop: (rng) => network.drop(rng?.uint32()),
    weightsChanged: () => {},
    dispose: () => parameters.dispose(),
  };
}

/** Reader with the same scores, question by question. */
export const wordReader = (network: WordNetwork): RelationReader => ({
  prepare: (tasks, signal) => network.prepare(tasks, signal),
  async of(task, signal) {
    await network.prepare([task], signal);
    return (relations) => network.scores([{ task, relations: Int32Array.from(relations), mask: new Uint8Array(0) }]);
  },
});
