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
}

/** Name and shape of one weight. */
export interface LlamaTensor {
  /** GGUF name, such as `blk.0.attn_q.weight`. */
  name: string;
  /** `[out, in]` of a matrix stored row by row (the output of `x` is `W·x`), `[length]` of a norm's weights. */
  shape: readonly [number] | readonly [outputs: number, inputs: number];
}

/**
 * Every tensor in the order of the file. The output matrix is the token embedding, and stands once.
 * Rows of q and k are in interleaved order: rows 2i and 2i+1 of a head turn together, by `position · theta^(-2i/headDim)`.
 * That is what llama.cpp expects of `llama` files; weights in the order of Hugging Face must be permuted first.
 */
export function llamaTensors({ vocabSize, dim, layers, heads, kvHeads, hiddenDim }: LlamaConfig): LlamaTensor[] {
  const kvDim = (dim / heads) * kvHeads;
  const layer = (index: number): LlamaTensor[] => {
    const parts: Record<string, LlamaTensor['shape']> = {
      attn_norm: [dim],
      attn_q: [dim, dim],
      attn_k: [kvDim, dim],
      attn_v: [kvDim, dim],
      attn_output: [dim, dim],
      ffn_norm: [dim],
      ffn_gate: [hiddenDim, dim],
      ffn_up: [hiddenDim, dim],
      ffn_down: [dim, hiddenDim],
    };
    return Object.entries(parts).map(([part, shape]) => ({ name: `blk.${index}.${part}.weight`, shape }));
  };
  return [
    { name: 'token_embd.weight', shape: [vocabSize, dim] },
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
    { name: 'output_norm.weight', shape: [dim] },
  ];
}
