/** Writes a Llama as a GGUF file that llama.cpp loads like any other: as chat model and as text encoder. */
import { blockValues } from '../../src/llama/write-types.js';
import { type GgufEntryValue, writeGguf } from '../../src/llama/write-gguf.js';
import { type BytePairVocabulary, specialNames } from './byte-pair/vocabulary.js';
import { chatTemplate } from './chat-segments.js';
import { type LlamaConfig, llamaTensors } from '../../src/llama/config.js';
import type { CorpusSpecial } from './corpus-document.js';

/** Everything that goes into the file of a model. */
export interface LlamaFile {
  config: LlamaConfig;
  vocabulary: BytePairVocabulary;
  /** By GGUF name; see `llamaTensors` for names, shapes and the order of rows. */
  weights: ReadonlyMap<string, Float32Array>;
  /** For people who look into the file. */
  about: { name: string; description: string; license: string };
}

/**
 * Matrices are stored as Q8_0, those whose rows do not fit its blocks as F16, norm weights as F32, which llama.cpp insists
 * on. No pooling type is given: the vector of
 * a text is the state at its last token, and that is `</s>`, which llama.cpp's rule for texts (not prompts) appends.
 * @throws WorkbenchError `data` for weights that do not fit `config` or are not finite; `failure` where the place
 *   cannot be written
 * @throws RangeError when the vocabulary has not `config.vocabSize` tokens or a tensor is missing
 */
export function exportGguf(path: string, { config, vocabulary, weights, about }: LlamaFile): void {
  if (vocabulary.tokens.length !== config.vocabSize) {
    throw new RangeError(`expected ${config.vocabSize} tokens, got ${vocabulary.tokens.length}`);
  }
  const tensors = llamaTensors(config).map(({ name, shape }) => {
    const values = weights.get(name);
    if (values === undefined) throw new RangeError(`expected the weights of ${name}, got none`);
    const matrix = shape.at(-1)! % blockValues === 0 ? ('Q8_0' as const) : ('F16' as const);
    return { name, shape: shape.toReversed(), type: shape.length > 1 ? matrix : ('F32' as const), values };
  });
  writeGguf(path, { ...architecture(config, about), ...tokenizer(vocabulary) }, tensors);
}

function architecture(config: LlamaConfig, about: LlamaFile['about']): Record<string, GgufEntryValue> {
  return {
    'general.architecture': 'llama',
    'general.type': 'model',
    'general.name': about.name,
    'general.description': about.description,
    'general.license': about.license,
    'general.file_type': { uint32: 7 },
    'llama.vocab_size': { uint32: config.vocabSize },
    'llama.context_length': { uint32: config.contextLength },
    'llama.embedding_length': { uint32: config.dim },
    'llama.block_count': { uint32: config.layers },
    'llama.feed_forward_length': { uint32: config.hiddenDim },
    'llama.attention.head_count': { uint32: config.heads },
    'llama.attention.head_count_kv': { uint32: config.kvHeads },
    'llama.attention.layer_norm_rms_epsilon': { float32: config.normEps },
    'llama.rope.dimension_count': { uint32: config.dim / config.heads },
    'llama.rope.freq_base': { float32: config.ropeTheta },
  };
}

function tokenizer({ tokens, merges }: BytePairVocabulary): Record<string, GgufEntryValue> {
  const [normal, control] = [1, 3];
  const id = (name: CorpusSpecial) => ({ uint32: specialNames.indexOf(name) });
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': Int32Array.from(tokens, (_, index) =>
      index < specialNames.length ? control : normal,
    ),
    'tokenizer.ggml.merges': merges.map(([left, right]) => `${left} ${right}`),
    'tokenizer.ggml.bos_token_id': id('bos'),
    'tokenizer.ggml.eos_token_id': id('eos'),
    'tokenizer.ggml.eot_token_id': id('im_end'),
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.ggml.add_eos_token': true,
    'tokenizer.chat_template': chatTemplate,
  };
}
