/** The facts of a GGUF file that decide whether and how it writes replies. */
import { readTextModel } from '../gguf/text-model.js';

/** What is to be known before a model is loaded. */
export interface ChatModelFile {
  /** Tokens of prompt and reply that the model was trained with. */
  trainedContext: number;
}

/**
 * Reads and checks a model file in milliseconds, before anything heavy starts.
 * @throws WorkbenchError `data` when the file is damaged or cannot write text, such as a sentence encoder
 */
export function readChatModelFile(path: string): ChatModelFile {
  const { architecture, metadata, size, refuse } = readTextModel(path, 'writes text');
  const causal = metadata.get(`${architecture}.attention.causal`);
  const pooling = Number(metadata.get(`${architecture}.pooling_type`) ?? 0);
  if (architecture.includes('bert') || architecture === 't5encoder' || causal === false || pooling > 0) {
    throw refuse(
      `a sentence encoder (${architecture})`,
      'Give it as the encoder, and choose an instruction-tuned model such as a Llama or Qwen here.',
    );
  }
  return { trainedContext: size('context_length', 64) };
}
