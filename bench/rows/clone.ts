/**
 * Behaviour cloning with the recommended setting on OpenDialKG: walks of train per second, and a whole clone with its loss
 * on valid after every epoch.
 *
 *     node dist/bench/rows/clone.js FOLDER [--backend auto|host|wasm|tensorflow] [--threads 1] [--seconds 8 | --whole]
 *
 * FOLDER holds the release's files; they are imported into a temporary place. Texts are encoded by hashing: what an
 * update costs does not depend on the values of vectors, and their width (384) is that of the recommended model. Reading,
 * encoding and tables are not counted; the features of edges are, since they are made batch by batch. `--whole` trains all
 * epochs, CPU and wall seconds in all; without it, updates for so many seconds after the first ten. `--threads` is for
 * native TensorFlow.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createPolicy, inputsOf } from '../../agents/dialogue-walker/inputs.js';
import { walkerActor } from '../../agents/dialogue-walker/policy.js';
import { encodeNames, encodeTasks } from '../../agents/dialogue-walker/vectors.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { loadPreset } from '../../presets/index.js';
import { hashedEncoder } from '../../src/encoder/hashed-encoder.js';
import { AdamW } from '../../src/nn/adamw.js';
import { executorOf, openExecutor } from '../../src/nn/open-executor.js';
import { CloneTrainer } from '../../trainers/clone.js';
import { shownGolds } from '../../agents/dialogue-walker/demonstrations.js';
import { samplesOfSplit } from '../../agents/dialogue-walker/training-data.js';
import { emitRate, startClock, type Clock } from '../measure.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'auto' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
    whole: { type: 'boolean', default: false },
  },
});
const from = positionals[0];
if (from === undefined) throw new Error('expected the folder of the release');
process.env.TF_NUM_INTRAOP_THREADS = values.threads;
process.env.TF_NUM_INTEROP_THREADS = '1';

const warmUp = 10;
const settings = loadPreset('opendialkg');
const home = mkdtempSync(join(tmpdir(), 'kgwalk-clone-'));
try {
  await importOpenDialKg({ from, home });
  await measure();
} finally {
  rmSync(home, { recursive: true });
}

async function measure(): Promise<void> {
  const size = { rows: 256, inputs: 768, units: settings.walker.width };
  const { executor, name } = await openExecutor(executorOf(values.backend), size);
  const dataset = loadDialogueDataset('opendialkg', { home });
  const graph = await dataset.loadGraph(settings.data.graph);
  const [train, valid] = (['train', 'valid'] as const).map((split) =>
    samplesOfSplit(dataset, { graph, walks: { graph } }, settings, split),
  );
  const encoder = hashedEncoder(384);
  const { horizon, equalAtStep1 } = settings.env;
  const inputs = await inputsOf(await encodeNames(encoder, graph, settings.walker, { settings: settings.encoder }), {
    settings: settings.walker,
    graph,
    rules: { horizon, equalAtStep1 },
    train: train!,
  });
  const tasks = [...train!, ...valid!].map(({ task }) => task);
  inputs.featurizer.texts = await encodeTasks(encoder, tasks, { settings: settings.encoder });
  const policy = createPolicy(executor, inputs, settings.seed);
  const { weightDecay, maxGradNorm, batchSize, epochs } = settings.clone;
  const optimizer = new AdamW(policy.head.parameters, { weightDecay, maxGradNorm });
  const trainer = new CloneTrainer({
    actor: walkerActor(policy),
    optimizer,
    ...shownGolds(inputs.featurizer.parts, { train: train!, valid: valid! }, settings.clone, settings.seed),
    settings: settings.clone,
    seed: settings.seed,
  });
  await trainer.prepare();
  let clock: Clock = startClock();
  let counted = 0;
  const losses: number[] = [];
  for (let step = 1; step <= trainer.steps; step++) {
    await trainer.step(step - 1);
    if (step % trainer.stepsPerEpoch === 0) losses.push(Number((await trainer.validLoss()).toFixed(4)));
    if (values.whole) continue;
    if (step === warmUp) clock = startClock();
    counted = step - warmUp;
    if (counted > 0 && clock.wall() >= Number(values.seconds)) break;
  }
  const spent = { wall: clock.wall(), cpu: clock.cpu() };
  emitRate({
    variant: name,
    task: values.whole ? 'clone' : 'clone-update',
    settings: { data: 'opendialkg', batch: batchSize, ...(values.whole && { epochs }) },
    count: values.whole ? epochs * train!.length : counted * batchSize,
    unit: 'walks/s',
    spent,
    threads: Number(values.threads),
    ...(values.whole && { quality: { validLoss: losses } }),
  });
}
