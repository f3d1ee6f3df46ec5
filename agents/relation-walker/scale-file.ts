/** The scale of a run's question vectors on disk, so that a loaded walker reads questions as in training. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-folder.js';
import type { VectorScale } from './question-vectors.js';

function scaleFile(runFolder: string): string {
  return join(runFiles(runFolder).embeddings, 'question-scale.safetensors');
}

/** Writes the scale into the run, atomically. */
export function writeScale(runFolder: string, { mean, deviation }: VectorScale): void {
  const tensors = new Map<string, Tensor>([
    ['mean', { shape: [mean.length], data: mean }],
    ['deviation', { shape: [deviation.length], data: deviation }],
  ]);
  writeFileAtomic(scaleFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/** The scale of a run, or undefined where it has none yet. @throws WorkbenchError `data` for a damaged file */
export function readScale(runFolder: string): VectorScale | undefined {
  const file = scaleFile(runFolder);
  if (!existsSync(file)) return undefined;
  const { tensors } = readSafetensors(file);
  const mean = tensors.get('mean')?.data;
  const deviation = tensors.get('deviation')?.data;
  if (mean instanceof Float32Array && deviation instanceof Float32Array && mean.length === deviation.length) {
    return { mean, deviation };
  }
  throw new WorkbenchError('data', `expected float32 mean and deviation of one length, got others, at ${file}`);
}
