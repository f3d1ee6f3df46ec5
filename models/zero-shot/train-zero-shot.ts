/** Trains the weights of the agent `zero-shot` that come with the package, on generated graphs alone. */
import { join } from 'node:path';
import { exactWalkerKind, zeroShotFiles } from '../../agents/exact-walker/agent.js';
import { generatedGraph } from '../../agents/exact-walker/messages/generated-graphs.js';
import { exactWalkerSettings } from '../../agents/exact-walker/settings.js';
import {
  type Checkpoint,
  type CheckpointHeader,
  schemaVersion,
  weightsOnly,
  writeCheckpoint,
} from '../../checkpoints/checkpoint.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { loadPreset } from '../../presets/index.js';
import { configHash } from '../../src/run/config-values.js';
import type { Progress } from '../../src/run/progress.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { checkpointConfig } from '../../trainers/session.js';

/** Differences from the preset `link-messages`. */
const chosen = [
  ...['data.dataset=generated', 'linkWalk.horizon=5', 'exactWalker.reach=0'],
  ...['relations=graph', 'views=0', 'generated=512', 'batchSize=64', 'steps=4000'].map(
    (one) => `exactWalker.messages.${one}`,
  ),
];

export interface ZeroShotTraining {
  /** Folder of the files; made where it is missing. */
  out: string;
  /** Changes of the settings, as `--set` takes them. */
  overrides: readonly string[];
  threads: number;
  signal?: AbortSignal | undefined;
  /** @param total steps */
  progress: (total: number) => Progress;
}

/** Trains each network from its own seed; equal settings give equal files, on any number of threads. @returns their paths */
export async function trainZeroShot({ out, overrides, ...training }: ZeroShotTraining): Promise<string[]> {
  const files: string[] = [];
  for (const [network, name] of zeroShotFiles.entries()) {
    const settings = loadPreset('link-messages', [...chosen, ...overrides]);
    const file = join(out, name);
    writeCheckpoint(file, await trained({ ...settings, seed: settings.seed + network }, training));
    files.push(file);
  }
  return files;
}

async function trained(
  settings: TrainSettings,
  { threads, signal, progress }: Omit<ZeroShotTraining, 'out' | 'overrides'>,
): Promise<Checkpoint> {
  const exactWalker = exactWalkerSettings.parse(settings.exactWalker);
  const { seed, linkWalk } = settings;
  const { graph } = generatedGraph(seed, 0);
  // None: all come from the generated graphs of the settings.
  const queries = { heads: new Int32Array(), relations: new Int32Array(), tails: new Int32Array() };
  const walker = exactWalkerKind('messages').create({ graph, settings: exactWalker, hops: linkWalk.horizon, seed });
  const trainer = walker.trainer({ queries, pairs: false, threads, signal });
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
  const header: CheckpointHeader = {
    ...{ schemaVersion, kind: 'walker', config, configHash: configHash(config), hashes: {} },
    ...{ phase: 'fit', step: steps, epoch: 0, trainer: {}, metrics: {} },
  };
  return weightsOnly({ header, tensors });
}
