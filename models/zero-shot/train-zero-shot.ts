/** Trains the weights of the agent `zero-shot` that come with the package, on generated graphs alone. */
import { join } from 'node:path';
import { exactWalkerKind } from '../../agents/exact-walker/agent.js';
import { generatedGraph } from '../../agents/exact-walker/messages/generated-graphs.js';
import { exactWalkerSettings } from '../../agents/exact-walker/settings.js';
import { type CheckpointHeader, schemaVersion, weightsOnly, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { loadPreset } from '../../presets/index.js';
import { configHash } from '../../src/run/config-values.js';
import type { Progress } from '../../src/run/progress.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { checkpointConfig } from '../../trainers/session.js';

/** Name of the file, in the package too. */
export const zeroShotFile = 'kgwalk-zero-shot.safetensors';

/** What differs from the preset `link-messages`. */
const chosen = [
  ...['data.dataset=generated', 'linkWalk.horizon=4', 'exactWalker.reach=0'],
  ...['relations=graph', 'views=0', 'generated=512', 'batchSize=64', 'steps=4000'].map(
    (one) => `exactWalker.messages.${one}`,
  ),
];

export interface ZeroShotTraining {
  /** Folder of the file; made where it is missing. */
  out: string;
  /** Changes of the settings, as `--set` takes them. */
  overrides: readonly string[];
  threads: number;
  signal?: AbortSignal | undefined;
  /** @param total steps */
  progress: (total: number) => Progress;
}

/** Equal settings give equal files, on any number of threads. @returns the path of the file */
export async function trainZeroShot({ out, overrides, threads, signal, progress }: ZeroShotTraining): Promise<string> {
  const settings = loadPreset('link-messages', [...chosen, ...overrides]);
  const exactWalker = exactWalkerSettings.parse(settings.exactWalker);
  const { seed, linkWalk } = settings;
  const { graph, queries, pairs } = generatedGraph(seed, 0);
  const walker = exactWalkerKind('messages').create({ graph, settings: exactWalker, hops: linkWalk.horizon, seed });
  const trainer = walker.trainer({ queries, pairs, threads, signal });
  const line = progress(trainer.steps);
  try {
    for (let step = 0, mean = 0; step < trainer.steps; step++) {
      throwIfStopped(signal);
      const { loss } = await trainer.step(step);
      mean = step === 0 ? loss : 0.99 * mean + 0.01 * loss;
      line.update(step + 1, `loss ${mean.toFixed(2)}`);
    }
  } finally {
    await trainer.close();
  }
  line.finish();
  const config = checkpointConfig(settings);
  const { steps, tensors } = await walker.state();
  const file = join(out, zeroShotFile);
  const header: CheckpointHeader = {
    ...{ schemaVersion, kind: 'walker', config, configHash: configHash(config), hashes: {} },
    ...{ phase: 'fit', step: steps, epoch: 0, trainer: {}, metrics: {} },
  };
  writeCheckpoint(file, weightsOnly({ header, tensors }));
  return file;
}
