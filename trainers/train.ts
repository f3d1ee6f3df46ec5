/** One training run from data to a finished folder: TransE, text vectors, cloning, PPO, and the best on valid. */
import { existsSync } from 'node:fs';
import { createPolicy, walkerInputs } from '../agents/walker/inputs.js';
import { writeTables } from '../agents/walker/tables-file.js';
import { encodeTasks } from '../agents/walker/text-vectors.js';
import { checkFits, readCheckpoint, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { sourcesHash } from '../datasets/manifest.js';
import { loadDataset, type Dataset } from '../datasets/registry.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { seenEntities } from '../evaluation/outcome.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { configHash } from '../src/run/config.js';
import { collectEnvironment } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { writeMetricsArrow } from '../src/run/metric-log.js';
import { silentProgress, type ProgressReporter } from '../src/run/progress.js';
import { createRun, openRun, runFiles, type Run } from '../src/run/run-folder.js';
import { AdamW } from '../src/tensor/adamw.js';
import { openBackend, type Tf } from '../src/tensor/backend.js';
import { checkTrainSettings } from './check-settings.js';
import { clonePhase } from './cloning/clone-phase.js';
import { evaluateBest } from './evaluate-valid.js';
import { ppoPhase } from './ppo/ppo-phase.js';
import { openRunLogs, type RunLogs } from './run-logs.js';
import type { Session } from './session.js';
import { samplesOfSplit } from './samples-of-split.js';
import type { TrainSettings } from './train-settings.js';
import { dialogueTriples } from './transe/dialogue-triples.js';
import { keepInRun, pretrainEmbeddings, type Pretrained } from './transe/pretrain.js';

export interface TrainOptions {
  settings: TrainSettings;
  /** The run's folder; made anew, or the one to resume. */
  folder: string;
  /** `last`, `best` or a step: go on from there; afresh where nothing was saved. */
  resume?: string | undefined;
  progress?: ProgressReporter;
  /** Aborted: the step is finished and saved, then `stopped` is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Trains a walker. What can be refused is refused before the folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export async function train(options: TrainOptions): Promise<void> {
  const { settings, folder, resume } = options;
  checkTrainSettings(settings, readIndex(folder).clone !== undefined);
  const dataset = loadDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const samples = {
    train: samplesOfSplit(dataset, graph, settings, 'train'),
    valid: samplesOfSplit(dataset, graph, settings, 'valid'),
  };
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  try {
    const { tf, name: backend } = await openBackend(settings.backend);
    const hashes = { graph: graph.hash, encoder: encoder.id, dataset: sourcesHash(dataset.manifest) };
    const from = resume === undefined ? undefined : checkpointToResume(folder, resume, hashes);
    const config = configOf(settings, resume === undefined ? undefined : folder, encoder.id);
    // Native TensorFlow takes as many threads as it likes.
    const threads = backend === 'tensorflow' ? {} : { threads: 1 };
    const environment = collectEnvironment({ configHash: configHash(config), backend, ...threads, hashes });
    const run = createRun({ folder, config, environment, resume: resume !== undefined });
    try {
      await trainIn(run, from, options, { tf, encoder, dataset, graph, ...samples, hashes });
    } catch (error) {
      recordEnd(run, error);
      throw error;
    } finally {
      run.close();
    }
  } finally {
    await encoder.dispose();
  }
}

/** What a run trains on, opened and checked. */
interface Material {
  tf: Tf;
  encoder: StateEncoder;
  dataset: Dataset;
  graph: Graph;
  train: WalkSample[];
  valid: WalkSample[];
  hashes: CheckpointHashes;
}

/** All phases, in a folder that is this process's. */
async function trainIn(
  run: Run,
  from: Checkpoint | undefined,
  { settings, progress = silentProgress, signal }: TrainOptions,
  { tf, encoder, dataset, graph, train, valid, hashes }: Material,
): Promise<void> {
  const logs = openRunLogs(run, settings.log.tensorboard);
  try {
    if (!from) logs.truncateAfter(0);
    const transe = settings.transe.enabled
      ? await embed(run, logs, graph, dialogueTriples(dataset, graph), { settings, progress, signal, log: !from })
      : undefined;
    run.update({ phase: 'encode' });
    const { horizon, equalAtStep1 } = settings.env;
    const inputs = await walkerInputs({
      tf,
      settings: settings.walker,
      encoderSettings: settings.encoder,
      graph,
      rules: { horizon, equalAtStep1 },
      encoder,
      train,
      transe: transe?.table,
      progress,
      signal,
    });
    const tasks = [...train, ...valid].map(({ task }) => task);
    inputs.featurizer.texts = await encodeTasks(encoder, tasks, { settings: settings.encoder, progress, signal });
    writeTables(run.folder, inputs.tables);
    const { encodes, cacheHits, tokens, seconds } = encoder.counters;
    logs.timing('encode', 1, {
      'time/encodes': encodes,
      'time/cache_hits': cacheHits,
      'time/tokens': tokens,
      'time/encode_seconds': Math.round(seconds * 1000) / 1000,
    });
    run.update({ done: { ...run.state.done, encode: true } });

    const seenTargets = seenEntities(train);
    const session: Session = { tf, run, settings, logs, inputs, train, valid, seenTargets, hashes, progress, signal };
    if (settings.clone.enabled && from?.header.phase !== 'ppo') await cloneInto(session, from);
    if (settings.ppo.enabled) {
      run.update({ phase: 'ppo' });
      await ppoPhase(session, transe?.table, from?.header.phase === 'ppo' ? from : undefined);
      run.update({ done: { ...run.state.done, ppo: true } });
    }
    await evaluateBest(session);
    logs.flush();
    await writeMetricsArrow(run.files.metrics, run.files.metricsArrow);
    run.update({ status: 'finished' });
  } finally {
    logs.close();
  }
}

/** Says in the run's state how it ended. */
function recordEnd(run: Run, error: unknown): void {
  const stopped = error instanceof WorkbenchError && error.code === 'stopped';
  const reason = String((error as Error).message).split('\n')[0]!;
  try {
    run.update(stopped ? { status: 'stopped' } : { status: 'failed', reason });
  } catch {
    // A full disk takes no state either; the error itself says more.
  }
}

/**
 * The settings as the run's folder keeps them. A run that goes on keeps the place it knows its model by, wherever the
 * file is now: the encoder's id says that it is the same.
 * @param folder of the run to resume
 */
function configOf(settings: TrainSettings, folder: string | undefined, encoder: string): Record<string, unknown> {
  const config = JSON.parse(JSON.stringify(settings)) as Record<string, unknown> & Pick<TrainSettings, 'encoder'>;
  if (folder !== undefined && existsSync(runFiles(folder).config)) {
    const before = openRun(folder);
    const known = (before.config.encoder as Partial<TrainSettings['encoder']> | undefined)?.model;
    if (known !== undefined && before.environment.hashes.encoder === encoder) config.encoder.model = known;
  }
  return config;
}

/** @throws WorkbenchError `data` for a checkpoint that is not there or was trained on something else */
function checkpointToResume(folder: string, which: string, hashes: CheckpointHashes): Checkpoint | undefined {
  if (!readIndex(folder).last) return undefined;
  const { file } = resolveCheckpoint(folder, which);
  const checkpoint = readCheckpoint(file);
  checkFits(checkpoint.header, hashes, file);
  return checkpoint;
}

/** Trains or reuses embeddings and keeps a copy with the run. */
async function embed(
  run: Run,
  logs: RunLogs,
  graph: Graph,
  exclude: ReturnType<typeof dialogueTriples>,
  { settings, progress, signal, log }: Pick<TrainOptions, 'settings' | 'progress' | 'signal'> & { log: boolean },
): Promise<Pretrained> {
  run.update({ phase: 'transe' });
  const pretrained = await pretrainEmbeddings(graph, {
    settings: settings.transe,
    seed: settings.seed,
    exclude,
    ...(progress && { progress }),
    ...(signal && { signal }),
  });
  keepInRun(pretrained, run.files.embeddings);
  if (log) for (const { step, metrics } of pretrained.history) logs.metrics('transe', step, metrics);
  logs.timing('transe', pretrained.history.length, { 'time/reused': Number(pretrained.reused) });
  run.update({ done: { ...run.state.done, transe: true } });
  return pretrained;
}

async function cloneInto(session: Session, from: Checkpoint | undefined): Promise<void> {
  const { tf, run, settings, inputs } = session;
  run.update({ phase: 'clone' });
  const policy = createPolicy(tf, inputs, settings.seed);
  const optimizer = new AdamW(policy.head.parameters, {
    weightDecay: settings.clone.weightDecay,
    maxGradNorm: settings.clone.maxGradNorm,
  });
  try {
    await clonePhase(session, { policy, optimizer }, from);
  } finally {
    optimizer.dispose();
    policy.head.dispose();
  }
  run.update({ done: { ...run.state.done, clone: true } });
}
