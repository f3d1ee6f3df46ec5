/** A small Llama out of its GGUF file, for pages that compute vectors by themselves. */
import { statSync } from 'node:fs';
import type { Merge } from '../models/llama/byte-pair/vocabulary.js';
import { llamaTensors } from '../src/llama/config.js';
import { type LlamaFile, readLlama } from '../src/llama/read-llama.js';
import { readGgufHeader } from '../src/llm/gguf/read-header.js';
import { llamaLibrary } from '../src/llm/llama-library.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { LlamaPart } from './page/texts.js';

/** Bytes of a file that a page may hold. */
const mostBytes = 4 * 2 ** 20;

/** The model of a file; undefined for another kind, for one that pools otherwise, and for a larger one. */
export async function llamaPart(path: string): Promise<LlamaPart | undefined> {
  const { metadata, tensors } = readGgufHeader(path);
  const is = (key: string, value: string) => metadata.get(key) === value;
  const isOurs =
    is('general.architecture', 'llama') && is('tokenizer.ggml.model', 'gpt2') && is('tokenizer.ggml.pre', 'gpt-2');
  if (!isOurs || statSync(path).size > mostBytes || Number(metadata.get('llama.pooling_type') ?? 3) !== 3) {
    return undefined;
  }
  const file = readable(path);
  const wanted = file && llamaTensors(file.config);
  if (tensors.length !== wanted?.length) return undefined;
  const { readGgufFileInfo } = await llamaLibrary();
  const { metadata: whole } = await readGgufFileInfo(path, { sourceType: 'filesystem', logWarnings: false });
  const { merges = [] } = whole.tokenizer.ggml as { merges?: readonly string[] };
  return {
    config: file!.config,
    merges: merges.map((merge) => merge.split(' ') as unknown as Merge),
    tensors: new Map(wanted.map(({ name }) => [name, file!.stored(name)])),
  };
}

function readable(path: string): LlamaFile | undefined {
  try {
    return readLlama(path);
  } catch (error) {
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}
