/** The update at which the training of the demo's model diverged, once more. */
import { WorkbenchError } from '../../src/run/errors.js';
import type { Tf } from '../../src/tensor/backend.js';
import { type Replay, replayOf } from '../../trainers/replay-batch.js';
import { checkedStep } from '../../trainers/saved-step.js';
import { optimizerFor, repeatUpdate } from '../llama/train-language-model.js';
import { loadTraining } from '../llama/training-checkpoint.js';
import { llamaParameters, startingWeights } from '../llama/weights.js';
import { demoCorpora } from './demo-corpora.js';
import type { DemoModelSettings } from './settings.js';

/** Which update of which training. */
export interface ReplayUpdateOptions {
  tf: Tf;
  /** Of the training. */
  settings: DemoModelSettings;
  /** The `diverged.safetensors` that it left. */
  file: string;
  onStage: (stage: string) => void;
}

/** @throws WorkbenchError `data` for a file of other settings, or one that is no update that diverged */
export async function replayUpdate({ tf, settings, file, onStage }: ReplayUpdateOptions): Promise<Replay> {
  const { seed, model: config } = settings;
  const parameters = llamaParameters(tf, config, startingWeights(config, seed));
  const optimizer = optimizerFor(parameters, settings.training);
  try {
    const { place, diverged } = loadTraining(file, { parameters, optimizer }, JSON.stringify(settings));
    if (!diverged) {
      throw new WorkbenchError('data', `expected an update that diverged, got a training to go on with, at ${file}`);
    }
    const recorded = checkedStep(diverged, file);
    const { fit } = await demoCorpora(settings, onStage);
    const training = { parameters, optimizer, config, corpus: fit, settings: settings.training, seed, place };
    return await replayOf({ phase: 'training', backend: tf.getBackend(), recorded }, async () => {
      const { loss, gradNorm } = await repeatUpdate(training, recorded.place.update ?? 0);
      return { 'train/loss': loss, 'train/grad_norm': gradNorm };
    });
  } finally {
    optimizer.dispose();
    parameters.dispose();
  }
}
