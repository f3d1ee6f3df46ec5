/** The low-rank matrices of a trained language model as a file that llama.cpp loads with the model. */
import { readRunCheckpoint } from '../../../checkpoints/chain.js';
import { weightsOnly } from '../../../checkpoints/checkpoint.js';
import { writeAdapter } from '../../../src/llama/lora.js';
import { readLlama } from '../../../src/llama/read-llama.js';
import { modelFile } from '../../../src/llm/model-files.js';
import type { HostTensor } from '../../../src/nn/parameters.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { openRun } from '../../../src/run/run-folder.js';
import { languageSettingsOf, type RelationWalkerSettings, trainsModel } from '../settings.js';

/**
 * @param to path of the file, ending in `.gguf`
 * @throws WorkbenchError `usage` for a run of another method; `data` for a checkpoint or a model that is missing or damaged; `failure` where
 *   the place cannot be written
 */
export function exportAdapter(run: string, checkpoint: string, to: string): void {
  const { id, folder, config } = openRun(run);
  const { relationWalker, encoder } = config as {
    relationWalker?: Partial<RelationWalkerSettings>;
    encoder?: { model?: string };
  };
  if (!trainsModel(config) || encoder?.model === undefined) {
    throw new WorkbenchError('usage', `expected a run of a language model, got ${id}, which trains none`, {
      hint: 'Runs of `kgwalk train llm-policy` have an adapter; of others export a .safetensors file.',
    });
  }
  const { tensors } = weightsOnly(readRunCheckpoint(folder, checkpoint, { finite: true }));
  const { alpha } = languageSettingsOf({ model: relationWalker?.model });
  const { architecture } = readLlama(modelFile(encoder.model));
  writeAdapter(to, architecture, alpha, tensors as unknown as Record<string, HostTensor>);
}
