/** `kgwalk/encoder`: frozen text vectors from a GGUF model or by hashing, and their cache on disk. @module kgwalk/encoder */
export { poolingsOf, readEmbeddingModel, type EmbeddingModel, type Pooling } from './embedding-model.js';
export { openEncoderCache, type CacheInfo, type EncoderCache } from './encoder-cache.js';
export { hashedEncoder } from './hashed-encoder.js';
export { openLlamaEncoder, type LlamaEncoderOptions } from './llama-encoder.js';
export { openEncoder, type OpenEncoderOptions } from './open-encoder.js';
export { encoderSettings, type EncoderSettings } from './settings.js';
export type { EncodedTexts, EncodeOptions, EncoderCounters, StateEncoder } from './state-encoder.js';
