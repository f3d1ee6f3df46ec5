/** The sizes of a Llama. */

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
