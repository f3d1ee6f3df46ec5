/** Which model a quickstart runs over, and which folder is its own. */
import { basename, join } from 'node:path';
import { embeddedModelName, lastingModelName, modelFile } from '../../src/llm/model-files.js';
import { runsFolder } from '../../src/run/locations.js';

/**
 * The model as runs remember it, once its file is known to serve both as language model and as text encoder.
 * @throws WorkbenchError `usage` or `data` for a model that is not there or lacks one of the two
 */
export async function usableModel(spec: string = embeddedModelName): Promise<string> {
  const { readChatModelFile } = await import('../../src/llm/gguf/text-model.js');
  const { readEmbeddingModel } = await import('../../src/encoder/embedding-model.js');
  const file = modelFile(spec);
  readChatModelFile(file);
  readEmbeddingModel(file);
  return lastingModelName(spec);
}

/** `runs/quickstart`; another model or seed has a folder of its own, so that none meets the runs of another. */
export function quickstartFolder(model: string, seed: number | undefined): string {
  const words = [
    'quickstart',
    ...(model === embeddedModelName ? [] : [basename(model, '.gguf').replace(/[^\w.-]+/g, '-')]),
    ...(seed === undefined ? [] : [`s${seed}`]),
  ];
  return join(runsFolder(), words.join('-'));
}
