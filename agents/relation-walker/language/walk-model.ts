/** The frozen part of a language model that walks relations: its tokens, its lower layers and their states, which are computed once. */
import type { Executor } from '../../../src/nn/executor.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import { type Forest, forestOf, type Segment } from '../../../src/llama/forest.js';
import { type FrozenLlama, frozenLlama, type KnownKeys } from '../../../src/llama/frozen.js';
import { layerTensors, type LlamaConfig } from '../../../src/llama/config.js';
import { type LlamaFile, readLlama } from '../../../src/llama/read-llama.js';
import { openVocabulary } from '../../../src/llm/llama/vocabulary.js';
import { modelFile } from '../../../src/llm/model-files.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import type { RelationRequest } from '../network.js';
import type { Choices } from './choices.js';
import { type LanguageSettings, languageSettingsOf, type RelationWalkerSettings } from '../settings.js';
import { WalkPrompts } from './prompts.js';

/**
 * Opens the model of a walker.
 * @param place file, or name of a model
 * @throws WorkbenchError `data` for a model that cannot be trained, `config` for more layers than it has, `native` without node-llama-cpp
 */
export async function openWalkModel(
  executor: Executor,
  place: string | undefined,
  relations: readonly string[],
  { model }: Pick<RelationWalkerSettings, 'model'>,
): Promise<WalkModel> {
  const settings = languageSettingsOf({ model });
  if (place === undefined || place.startsWith('hashed:')) {
    const message = `expected encoder.model=MODEL.gguf with relationWalker.reads=model, got ${place ?? 'none'}`;
    throw new WorkbenchError('config', message, { hint: 'Name a Llama: demo, a downloaded model or a file.' });
  }
  const file = readLlama(modelFile(place));
  const { layers: all } = file.config;
  if (settings.layers > all) {
    throw new WorkbenchError(
      'config',
      `expected at most ${all} layers, as ${file.path} has, got relationWalker.model.layers=${settings.layers}`,
    );
  }
  const bytes = 4 * layersSize(file.config);
  if (executor.name === 'simd' && bytes > mostWeights) {
    const got = `${(bytes / 2 ** 30).toFixed(1)} GiB`;
    const message = `expected layers of at most 3 GiB as float32 on simd, got ${got}, at ${file.path}`;
    throw new WorkbenchError('config', message, {
      hint: 'Choose a smaller model; --set backend=tensorflow has no such bound.',
    });
  }
  const vocabulary = await openVocabulary(file.path);
  return new WalkModel(executor, file, new WalkPrompts(vocabulary, relations, settings.examples), settings);
}

/** Bytes of frozen layers that leave room for training in the memory of SIMD kernels. */
const mostWeights = 3 * 2 ** 30;

/** Weights of all layers. */
const layersSize = (config: LlamaConfig) =>
  config.layers * layerTensors(config, 0).reduce((sum, { shape: [rows, columns = 1] }) => sum + rows * columns, 0);

/** Tokens left for the words of a relation. */
const longestChoice = 32;
/** States that go through the lower layers at once. */
const statesAtOnce = 64;
/** Numbers of lower states that are kept: 1 GiB. */
const mostKept = 2 ** 28;

/** Texts of some states as one forest: the head, behind it a body for each text, and a token for each place where choices part. */
export interface WalkForest {
  forest: Forest;
  /** By segment: its text, as the key of its states; the head's is empty. */
  keys: readonly string[];
  /** Choices of each request. */
  choices: readonly Choices[];
  /** By request and branching: segment whose last token is followed by the choice. */
  places: readonly (readonly number[])[];
}

/** Shared part of a trained network and its reference policy. Its weights stay on the executor. */
export class WalkModel {
  readonly frozen: FrozenLlama;
  /** Layers below those that are trained. */
  readonly lower: number;
  /** Lower states by text, float32 [tokens, dim]; longest unused first. */
  readonly #states = new Map<string, Float32Array>();
  #kept = 0;
  /** Rows of the output matrix, by token. */
  readonly #outputs = new Map<number, Float32Array>();
  #headKeys: Promise<KnownKeys> | undefined;
  #headStates: Promise<void> | undefined;

  constructor(
    readonly executor: Executor,
    readonly file: LlamaFile,
    readonly prompts: WalkPrompts,
    readonly settings: LanguageSettings,
  ) {
    this.lower = file.config.layers - settings.layers;
    this.frozen = frozenLlama(executor, file);
  }

  /** @param known whether keys and values of the head are */
  forestOf(requests: readonly RelationRequest[], known: boolean): WalkForest {
    const { segments, ...parts } = this.#textsOf(requests);
    return { forest: forestOf(segments, Number(known)), ...parts };
  }

  #textsOf(requests: readonly RelationRequest[]) {
    const { prompts } = this;
    const segments: Segment[] = [{ ids: prompts.head, parent: -1 }];
    const keys = [''];
    const places = new Map<string, number>();
    const placeOf = (key: string, ids: Int32Array, parent: number): number => {
      let place = places.get(key);
      if (place === undefined) {
        places.set(key, (place = segments.push({ ids, parent }) - 1));
        keys.push(key);
      }
      return place;
    };
    const choices = requests.map((request) => prompts.choicesOf(request));
    const ends = requests.map((request, i) => {
      const body = prompts.bodyOf(request);
      const begin = placeOf(body, this.#tokensOf(body), 0);
      return choices[i]!.branchings.map(({ before }) => {
        let [key, place] = [body, begin];
        for (const token of before) place = placeOf((key += `\0${token}`), Int32Array.of(token), place);
        return place;
      });
    });
    return { segments, keys, choices, places: ends };
  }

  /** @throws WorkbenchError `data` for a text that leaves no room for what may follow */
  #tokensOf(body: string): Int32Array {
    const { prompts, file } = this;
    const tokens = prompts.tokensOf(body);
    const [length, most] = [prompts.head.length + tokens.length, file.config.contextLength - longestChoice];
    if (length <= most) return tokens;
    const got = `got ${length}, at ${JSON.stringify(body.trim().slice(0, 80))}`;
    throw new WorkbenchError('data', `expected at most ${most} tokens of solved questions, question and walk, ${got}`, {
      hint: 'Leave the solved questions out (relationWalker.model.examples=false), or train a model with a longer context.',
    });
  }

  /** Computes the lower states of requests that are not kept. */
  async prepare(requests: readonly RelationRequest[]): Promise<void> {
    const { frozen, lower, head } = this;
    this.#headKeys ??= frozen.keys(head.forest, lower);
    this.#headStates ??= frozen.states(head.forest, lower, [0]).then(([states]) => this.#keep('', states!));
    const known = await this.#headKeys;
    await this.#headStates;
    const missing = requests.filter((request) => {
      const { keys } = this.#textsOf([request]);
      for (const key of keys) this.#use(key);
      return keys.some((key) => !this.#states.has(key));
    });
    for (let begin = 0; begin < missing.length; begin += statesAtOnce) {
      const { forest, keys } = this.forestOf(missing.slice(begin, begin + statesAtOnce), true);
      const own = Array.from(keys.keys()).slice(1);
      const states = await frozen.states(forest, lower, own, known);
      own.forEach((segment, i) => this.#keep(keys[segment]!, states[i]!));
    }
  }

  /** The head alone. */
  get head(): WalkForest {
    return this.forestOf([], false);
  }

  /** States below the trained layers, [tokens, dim], without those that are known. @throws RangeError for requests that were not prepared */
  statesOf(tape: Tape, { forest, keys }: WalkForest): Taped {
    const { dim } = this.file.config;
    const all = new Float32Array((forest.ids.length - forest.known) * dim);
    keys.forEach((key, segment) => {
      const at = forest.offsets[segment]! - forest.known;
      if (at < 0) return;
      const states = this.#states.get(key);
      if (!states) throw new RangeError('expected states that were prepared, got others');
      all.set(states, at * dim);
    });
    return tape.constant(all, dim);
  }

  /** Rows of the output matrix, [tokens, dim]. */
  outputRows(tape: Tape, tokens: readonly number[]): Taped {
    const { file } = this;
    const { dim, untied } = file.config;
    const rows = new Float32Array(tokens.length * dim);
    tokens.forEach((token, i) => {
      let row = this.#outputs.get(token);
      if (!row) {
        row = file.rows(untied ? 'output.weight' : 'token_embd.weight', Int32Array.of(token));
        this.#outputs.set(token, row);
      }
      rows.set(row, i * dim);
    });
    return tape.constant(rows, dim);
  }

  dispose(): Promise<void> {
    return this.prompts.vocabulary.dispose();
  }

  #use(key: string): void {
    const states = this.#states.get(key);
    if (!states) return;
    this.#states.delete(key);
    this.#states.set(key, states);
  }

  #keep(key: string, states: Float32Array): void {
    this.#kept += states.length - (this.#states.get(key)?.length ?? 0);
    this.#states.delete(key);
    this.#states.set(key, states);
    for (const [oldest, own] of this.#states) {
      if (this.#kept <= mostKept) break;
      if (oldest === '') continue;
      this.#states.delete(oldest);
      this.#kept -= own.length;
    }
  }
}
