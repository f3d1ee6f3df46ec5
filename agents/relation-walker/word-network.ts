/**
 * The relation walker that reads words: the instructions of NSM chains (`agents/readers/chains/attention.ts`), one for each step, each of
 * which knows the one before. Relations walked are not looked at. A walk of h relations is drawn as a reader draws its chains,
 *
 *   p(r_1 … r_h) = softmax(g)_h · Π_t softmax(l_t)_{r_t},
 *
 * so that after t relations STOP has the share of length t among those of t or more, and the rest is divided by softmax(l_{t+1}).
 *
 * @source the network: as `attention.ts`. Dropout that is the same in walking and in learning: Hausknecht and Wagener 2022, arXiv:2202.11818
 */
import { maskedQuestion } from '../../datasets/question.js';
import { distinctTexts, type StateEncoder } from '../../src/encoder/state-encoder.js';
import { Rng } from '../../src/run/seeds.js';
import type { Executor } from '../../src/nn/executor.js';
import { Parameters } from '../../src/nn/parameters.js';
import { type Outputs, Tape, type Taped } from '../../src/nn/tape.js';
import { type AttentionFacts, attentionScores } from '../readers/chains/attention.js';
import type { ReaderBasis } from '../readers/facts.js';
import type { RelationNetwork, RelationRequest, RelationShape } from './network.js';
import type { RelationWalkerSettings } from './settings.js';

/** Scores of a text: float32 [horizon, numRelations + 1], of all actions behind none, one … relations. */
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
  readonly parameters: Parameters;
  readonly #recording: Tape;
  readonly #reading: Tape;
  readonly #network: ReturnType<typeof attentionScores>;
  /** Replaced, not cleared: calls that wait still read the one that they began with. */
  #known = new Map<string, TextScores>();
  #version = 0;
  #dropped: number | undefined;

  constructor(
    executor: Executor,
    facts: AttentionFacts,
    readonly shape: RelationShape,
    basis: ReaderBasis,
    seed: number,
  ) {
    this.#network = attentionScores('nsm', facts, shape, basis);
    const starts = this.#network.initialWeights((name) => Rng.named(seed, `relation-walker/words/${name}`));
    this.parameters = new Parameters(executor, starts);
    this.#recording = new Tape(this.parameters);
    this.#reading = new Tape(this.parameters, false);
  }

  prepare(requests: readonly RelationRequest[], signal?: AbortSignal): Promise<void> {
    return this.#network.prepare([...new Set(requests.map(({ task }) => maskedQuestion(task)))], signal);
  }

  drop(seed: number | undefined): void {
    this.#dropped = seed;
    this.#known = new Map();
  }

  /** Kept by text until weights change. */
  async scores(requests: readonly RelationRequest[]): Promise<Float32Array> {
    const texts = requests.map(({ task }) => maskedQuestion(task));
    const known = await this.#know(texts);
    const size = this.shape.numRelations + 1;
    const scores = new Float32Array(requests.length * size);
    requests.forEach(({ relations: { length } }, i) =>
      scores.set(known.get(texts[i]!)!.subarray(length * size, (length + 1) * size), i * size),
    );
    return scores;
  }

  recorded(requests: readonly RelationRequest[], dropout?: Rng): Outputs {
    const { distinct, rows } = distinctTexts(requests.map(({ task }) => maskedQuestion(task)));
    const { horizon } = this.shape;
    const places = rows.map((text, i) => text * horizon + requests[i]!.relations.length);
    return this.#recording.outputs([this.#recording.rows(this.#compute(this.#recording, distinct, dropout), places)]);
  }

  /** @returns scores of these texts, and of others */
  async #know(texts: readonly string[]): Promise<ReadonlyMap<string, TextScores>> {
    if (this.#version !== this.parameters.version || this.#known.size > mostKept) this.#known = new Map();
    this.#version = this.parameters.version;
    const known = this.#known;
    const { distinct } = distinctTexts(texts.filter((text) => !known.has(text)));
    if (distinct.length === 0) return known;
    const values = await this.#reading.outputs([this.#compute(this.#reading, distinct)]).read();
    const each = values.length / distinct.length;
    distinct.forEach((text, i) => known.set(text, values.slice(i * each, (i + 1) * each)));
    return known;
  }

  /** Log-probabilities of all actions where nothing is masked, STOP last: [texts · horizon, numRelations + 1]. */
  #compute(tape: Tape, texts: readonly string[], dropout?: Rng): Taped {
    tape.begin();
    // By text, so that it does not matter which texts are computed together.
    const seed = this.#dropped;
    const own = seed === undefined ? undefined : texts.map((text) => Rng.named(seed, text));
    const { steps, hops } = this.#network.compute(tape, texts, dropout ?? own);
    const { numRelations, horizon } = this.shape;
    const each = tape.constant(new Float32Array(numRelations).fill(1), numRelations);
    /** ln Σ exp g_h of lengths h above `step`. */
    const above = steps.map((_, step) => tape.logSumExp(tape.columns(hops!, step, horizon - step)));
    const actions = steps.map((relations, step) => {
      const reached = above[Math.max(step - 1, 0)]!;
      const goesOn = tape.product(tape.add(above[step]!, reached, -1), each);
      const stop =
        step === 0
          ? tape.constant(new Float32Array(texts.length).fill(never), 1)
          : tape.add(tape.columns(hops!, step - 1, 1), reached, -1);
      return tape.concat([tape.add(tape.logSoftmax(relations), goesOn), stop]);
    });
    return tape.reshape(tape.concat(actions), numRelations + 1);
  }
}

/** Score of STOP before the first relation: chains have at least one. */
const never = -1e4;
