/** A training that was stopped, as one file: weights, moments and place. */
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { LogMark } from '../../src/run/json-lines.js';
import { writeFileAtomic } from '../../src/run/files.js';
import type { AdamW } from '../../src/nn/adamw.js';
import type { Parameters } from '../../src/nn/parameters.js';
import type { TrainingPlace } from './train-language-model.js';

/** Settings, as text, that a resumed training must share. */
export interface SavedTraining {
  place: TrainingPlace;
  /** The part of the log that belongs to it. */
  log: LogMark;
}

/** @param settings text that names all that the numbers depend on; `loadTraining` insists on it */
export async function saveTraining(
  file: string,
  { parameters, optimizer }: { parameters: Parameters; optimizer: AdamW },
  saved: SavedTraining,
  settings: string,
): Promise<void> {
  const state = await optimizer.exportState('adamw/');
  const tensors = new Map<string, Tensor>(Object.entries({ ...(await parameters.export()), ...state.tensors }));
  const metadata = new Map([
    ['settings', settings],
    ['training', JSON.stringify({ ...saved, updates: state.steps })],
  ]);
  writeFileAtomic(file, encodeSafetensors({ tensors, metadata }));
}

/** Puts weights and moments back. @throws WorkbenchError `data` for another training's file or a damaged one */
export function loadTraining(
  file: string,
  { parameters, optimizer }: { parameters: Parameters; optimizer: AdamW },
  settings: string,
): SavedTraining {
  const { tensors, metadata } = readSafetensors(file, { finite: true, own: true });
  if (metadata.get('settings') !== settings) {
    throw new WorkbenchError(
      'data',
      `expected a checkpoint of a training with these settings, got another's, at ${file}`,
      {
        hint: 'Resume with the settings that it was started with, or start in another folder.',
      },
    );
  }
  const { updates, ...saved } = JSON.parse(metadata.get('training') ?? '{}') as SavedTraining & { updates: number };
  const stored = Object.fromEntries(tensors);
  parameters.import(stored);
  optimizer.importState('adamw/', updates, stored);
  return saved;
}
