/** The sizes of a Llama, and its weights under the names of a GGUF file. */

/** Sizes of a Llama, as its file states them. */
export interface LlamaConfig {
  /** Tokens of the vocabulary. */
  vocabSize: number;
  /** Longest sequence, tokens. */
  contextLength: number;
  /** Length of a token's state; a multiple of `heads`. */
  dim: number;
  layers: number;
  /** Query heads, each of `dim / heads` numbers, an even number. */
  heads: number;
  /** Key and value heads; divides `heads`. */
  kvHeads: number;
  /** Width of the SwiGLU layer. */
  hiddenDim: number;
  /** Base of the rotary position angles. */
  ropeTheta: number;
  /** Added to the mean square in RMSNorm. */
  normEps: number;
  /** Rotary angles are divided by these, one a pair. */
  ropeFactors?: Float32Array | undefined;
  /** Numbers i and i + headDim / 2 of a head turn together, in place of 2i and 2i + 1. */
  halves?: boolean;
  /** Queries, keys and values have biases. */
  biased?: boolean;
  /** The output matrix stands for itself, in place of the token embedding. */
  untied?: boolean;
}

/** Name and shape of one weight. */
export interface LlamaTensor {
  /** GGUF name, such as `blk.0.attn_q.weight`. */
  name: string;
  /** `[out, in]` of a matrix stored row by row (the output of `x` is `W·x`), `[length]` of a norm's weights. */
  shape: readonly [number] | readonly [outputs: number, inputs: number];
}

/**
 * Every tensor in the order of the file. The output matrix is the token embedding, and stands once, unless `untied`.
 * Rows of q and k are in interleaved order unless `halves`: rows 2i and 2i+1 of a head turn together, by `position · theta^(-2i/headDim)`.
 * That is what llama.cpp expects of `llama` files; weights in the order of Hugging Face must be permuted first.
 */
export function llamaTensors(config: LlamaConfig): LlamaTensor[] {
  const { vocabSize, dim, layers } = config;
  return [
    { name: 'token_embd.weight', shape: [vocabSize, dim] },
    ...Array.from({ length: layers }, (_, layer) => layerTensors(config, layer)).flat(),
    { name: 'output_norm.weight', shape: [dim] },
    ...(config.untied ? [{ name: 'output.weight', shape: [vocabSize, dim] as const }] : []),
  ];
}

/** Those of one layer. */
export function layerTensors({ dim, heads, kvHeads, hiddenDim, biased }: LlamaConfig, layer: number): LlamaTensor[] {
  const kvDim = (dim / heads) * kvHeads;
  const parts: Record<string, LlamaTensor['shape']> = {
    'attn_norm.weight': [dim],
    'attn_q.weight': [dim, dim],
    'attn_k.weight': [kvDim, dim],
    'attn_v.weight': [kvDim, dim],
    ...(biased && { 'attn_q.bias': [dim], 'attn_k.bias': [kvDim], 'attn_v.bias': [kvDim] }),
    'attn_output.weight': [dim, dim],
    'ffn_norm.weight': [dim],
    'ffn_gate.weight': [hiddenDim, dim],
    'ffn_up.weight': [hiddenDim, dim],
    'ffn_down.weight': [dim, hiddenDim],
  };
  return Object.entries(parts).map(([part, shape]) => ({ name: `blk.${layer}.${part}`, shape }));
}
