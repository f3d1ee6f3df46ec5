/**
 * The relation walker that is a language model. An action's score is the log-probability of its words behind the state's text, of which
 * only what may still become a legal action counts: at each token the softmax runs over those that lead to one. This is what sampling
 * under a grammar of the legal actions draws from, and scores of a state are log-probabilities that sum to 1.
 *
 * Trained are low-rank matrices of the upper layers; what is below them is computed once for each text.
 *
 * @source low-rank adaptation: Hu et al. 2021, arXiv:2106.09685
 */
import { loraStart } from '../../../src/llama/lora.js';
import { lastNorm, type LayerOptions, layers, type LlamaWeights, trainedWeights } from '../../../src/llama/forward.js';
import { behindKnown, type KnownKeys } from '../../../src/llama/frozen.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { type Outputs, Tape, type Taped } from '../../../src/nn/tape.js';
import type { RelationNetwork, RelationRequest, RelationShape } from '../network.js';
import type { Choices } from './choices.js';
import type { WalkForest, WalkModel } from './walk-model.js';

/** A language model's upper layers under training. */
export class LanguageNetwork implements RelationNetwork {
  readonly parameters: Parameters;
  /** Bounds memory: of 576 numbers a token some 28. */
  readonly mostStates: number;
  readonly #recording: Tape;
  readonly #reading: Tape;
  #head: { version: number; keys: KnownKeys } | undefined;

  /** @param seed of the initial matrices, which change nothing in the model */
  constructor(
    readonly model: WalkModel,
    readonly shape: RelationShape,
    seed: number,
  ) {
    const { executor, file, lower, settings } = model;
    this.mostStates = Math.max(8, Math.floor(2 ** 14 / file.config.dim));
    this.parameters = new Parameters(executor, loraStart(file.config, { ...settings, from: lower }, seed));
    this.#recording = new Tape(this.parameters);
    this.#reading = new Tape(this.parameters, false);
  }

  prepare(requests: readonly RelationRequest[]): Promise<void> {
    return this.model.prepare(requests);
  }

  async scores(requests: readonly RelationRequest[]): Promise<Float32Array> {
    const size = this.shape.numRelations + 1;
    const all = new Float32Array(requests.length * size);
    for (let begin = 0; begin < requests.length; begin += this.mostStates) {
      const some = requests.slice(begin, begin + this.mostStates);
      all.set(await this.#scored(this.#reading, some, await this.#headKeys()).read(), begin * size);
    }
    return all;
  }

  recorded(requests: readonly RelationRequest[]): Outputs {
    return this.#scored(this.#recording, requests);
  }

  /** Keys and values of the head in the trained layers, by the present weights. */
  async #headKeys(): Promise<KnownKeys> {
    const { version } = this.parameters;
    if (this.#head?.version === version) return this.#head.keys;
    const { head } = this.model;
    const made: [Taped, Taped][] = [];
    this.#reading.begin();
    this.#upper(this.#reading, head, { seen: (_, ...both) => (made.push(both), both) });
    const read = (of: Taped) => this.#reading.outputs([of]).read();
    const keys = await Promise.all(made.map(async ([k, v]) => [await read(k), await read(v)] as const));
    this.#head = { version, keys };
    return keys;
  }

  #weightsOf(tape: Tape): LlamaWeights {
    const { frozen, settings } = this.model;
    return trainedWeights(tape, frozen.weights, settings.alpha / settings.rank);
  }

  /** States after the trained layers. */
  #upper(tape: Tape, walk: WalkForest, options: LayerOptions): Taped {
    const { file, lower } = this.model;
    const states = this.model.statesOf(tape, walk);
    return layers(tape, file.config, this.#weightsOf(tape), walk.forest, states, lower, file.config.layers, options);
  }

  #scored(tape: Tape, requests: readonly RelationRequest[], known?: KnownKeys): Outputs {
    tape.begin();
    const { model } = this;
    const { file } = model;
    const size = this.shape.numRelations + 1;
    const walk = model.forestOf(requests, known !== undefined);
    const { forest, choices, places } = walk;
    const edges = edgesOf(choices, places, size);
    const alike = new Float32Array(requests.length * size);
    choices.forEach((own, i) => own.alike.forEach((count, action) => (alike[i * size + action] = -Math.log(count))));
    const constant = tape.constant(alike, 1);
    if (edges.tokens.length === 0) return tape.outputs([constant]);
    const rows = edges.segments.map((segment) => forest.offsets[segment + 1]! - 1 - forest.known);
    const seen = known && behindKnown(tape, known, model.lower);
    const states = this.#upper(tape, walk, { rows, ...(seen && { seen }) });
    const normed = lastNorm(tape, file.config, this.#weightsOf(tape), states);
    const distinct = [...new Set(edges.tokens)];
    const rowOf = new Map(distinct.map((token, row) => [token, row]));
    const table = model.outputRows(tape, distinct);
    const tokens = Int32Array.from(edges.tokens, (token) => rowOf.get(token)!);
    const logits = tape.dots(normed, Int32Array.from(edges.branching), table, tokens);
    const logProbs = tape.segmentLogSoftmax(logits, Int32Array.from(edges.offsets));
    const ones = tape.constant(new Float32Array(edges.into.length).fill(1), 1);
    const into = [Int32Array.from(edges.into), Int32Array.from(edges.from)] as const;
    const sums = tape.weightedSums(ones, logProbs, ...into, requests.length * size);
    return tape.outputs([tape.add(constant, sums)]);
  }
}

/** Edges of the branchings of states. */
function edgesOf(choices: readonly Choices[], places: readonly (readonly number[])[], size: number) {
  const segments = new Map<number, number>();
  const offsets = [0];
  const [branching, tokens, into, from]: [number[], number[], number[], number[]] = [[], [], [], []];
  choices.forEach(({ branchings }, state) => {
    branchings.forEach(({ edges }, i) => {
      const segment = places[state]![i]!;
      const own = segments.get(segment) ?? segments.size;
      segments.set(segment, own);
      for (const { token, actions } of edges) {
        const edge = tokens.push(token) - 1;
        branching.push(own);
        for (const action of actions) {
          into.push(state * size + action);
          from.push(edge);
        }
      }
      offsets.push(tokens.length);
    });
  });
  return { segments: Int32Array.from(segments.keys()), offsets, branching, tokens, into, from };
}
