/** The low-rank matrices of a trained language model as a file that llama.cpp loads with the model. */
import { readRunCheckpoint } from '../../../checkpoints/chain.js';
import { writeAdapter } from '../../../src/llama/lora.js';
import { readLlama } from '../../../src/llama/read-llama.js';
import { modelFile } from '../../../src/llm/model-files.js';
import type { HostTensor } from '../../../src/nn/parameters.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { openRun } from '../../../src/run/run-folder.js';
import { languageSettings, type RelationWalkerSettings } from '../settings.js';

/**
 * @param to path of the file, ending in `.gguf`
 * @throws WorkbenchError `usage` for a run of another method; `data` for a checkpoint or a model that is missing or damaged; `failure` where
 *   the place cannot be written
 */
export async function exportAdapter(run: string, checkpoint: string, to: string): Promise<void> {
  const { id, folder, config } = openRun(run);
  const { relationWalker, encoder } = config as {
    relationWalker?: Partial<RelationWalkerSettings>;
    encoder?: { model?: string };
  };
  if (relationWalker?.reads !== 'model' || encoder?.model === undefined) {
    throw new WorkbenchError('usage', `expected a run of a language model, got ${id}, which trains none`, {
      hint: 'Runs of `kgwalk train llm-policy` have an adapter; of others export a .safetensors file.',
    });
  }
  const { tensors } = await readRunCheckpoint(folder, checkpoint, { finite: true });
  const { alpha } = relationWalker.model ?? languageSettings.parse({});
  const matrices = Object.entries(tensors).filter(([name]) => /^blk\..*\.lora_[ab]$/.test(name));
  const { architecture } = readLlama(modelFile(encoder.model));
  writeAdapter(to, architecture, alpha, Object.fromEntries(matrices) as unknown as Record<string, HostTensor>);
}
