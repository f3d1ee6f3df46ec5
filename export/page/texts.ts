/** The text encoder of a page: vectors that Node computed, and where a browser can, its own. */
import { hiddenStates } from '../../models/llama/token-loss.js';
import { type LlamaConfig, llamaTensors } from '../../src/llama/config.js';
import { bytePairTokenizer } from '../../models/llama/byte-pair/byte-pair-tokenizer.js';
import { type Merge, vocabularyOf } from '../../models/llama/byte-pair/vocabulary.js';
import { tensorValues } from '../../src/llama/read-types.js';
import { llamaParameters } from '../../models/llama/weights.js';
import { hashedEncoder } from '../../src/encoder/hashed-encoder.js';
import { distinctTexts, isBlank, noEncoder, normalizeL2, type StateEncoder } from '../../src/encoder/state-encoder.js';
import { SimdExecutor } from '../../src/nn/simd/executor.js';
import { Tape } from '../../src/nn/tape.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** A small Llama whose last state is the vector of a text. */
export interface LlamaPart {
  config: LlamaConfig;
  merges: readonly Merge[];
  /** Weights as the file holds them, by name. */
  tensors: ReadonlyMap<string, { type: string; data: Uint8Array }>;
}

/** Text encoder of a run as its page holds it. */
export interface TextsPart {
  name: string;
  dim: number;
  normalize: boolean;
  /** By `textKey`. */
  known: ReadonlyMap<string, Float32Array>;
}

/** A text under a budget of tokens. */
export const textKey = (text: string, maxTokens?: number): string => `${maxTokens ?? ''} ${text}`;

/** The encoder, and a sentence where its own forward pass computed one of some texts. */
export type PageEncoder = StateEncoder & { noteOn(texts: readonly string[]): string[] };

const ownForward =
  'The vector of this text was computed by this page: it differs from that of llama.cpp by rounding, and so may the last digits.';

/** @throws WorkbenchError `usage`, by `encode`, for a text whose vector is not there and cannot be computed */
export function pageEncoder({ name, dim, normalize, known }: TextsPart, llama?: LlamaPart): PageEncoder {
  if (name.startsWith('hashed:')) return { ...hashedEncoder(dim, normalize), noteOn: () => [] };
  const own = new Map<string, Float32Array>();
  const forward = llama && llamaVectors(llama, normalize);
  const computed = new Set<string>();
  return {
    ...noEncoder(),
    ...{ name, dim },
    noteOn: (texts) => (texts.some((text) => computed.has(text)) ? [ownForward] : []),
    async encode(texts, { maxTokens } = {}) {
      const { distinct, rows } = distinctTexts(texts);
      const matrix = new Float32Array(distinct.length * dim);
      for (const [row, text] of distinct.entries()) {
        const key = textKey(text, maxTokens);
        if (isBlank(text)) continue;
        let vector = known.get(key) ?? own.get(key);
        if (!vector) {
          if (!forward) throw unknownText(name);
          own.set(key, (vector = await forward(text, maxTokens)));
          computed.add(text);
        }
        matrix.set(vector, row * dim);
      }
      return { matrix, rows, dim };
    },
  };
}

const unknownText = (name: string) =>
  new WorkbenchError(
    'usage',
    `expected a text of the examples, got another: ${name}, which makes vectors of texts, is not in this page`,
    {
      hint: 'Choose an example; its entity may be replaced by another one.',
    },
  );

/** Vectors by the Llama's forward pass: the state of `</s>` behind the newest tokens of a text. */
function llamaVectors({ config, merges, tensors }: LlamaPart, normalize: boolean) {
  const tokenizer = bytePairTokenizer(vocabularyOf(merges));
  const { bos, eos } = tokenizer.special;
  const weights = new Map(
    llamaTensors(config).map(({ name, shape }) => {
      const { type, data } = tensors.get(name)!;
      return [name, tensorValues(type, data, shape[0] * (shape[1] ?? 1))];
    }),
  );
  const tape = new Tape(llamaParameters(new SimdExecutor(), config, weights), false);
  return async (text: string, maxTokens = Infinity): Promise<Float32Array> => {
    // As in llama.cpp: two special tokens, and one place that stays free.
    const most = Math.min(maxTokens, config.contextLength - 3);
    const ids = Int32Array.of(bos, ...tokenizer.encode(text).slice(-most), eos);
    tape.begin();
    const states = hiddenStates(tape, config, { ids, batch: 1, length: ids.length });
    const vector = (await tape.outputs([states]).read()).slice(-config.dim);
    if (normalize) normalizeL2(vector);
    return vector;
  };
}
