/** One training run from data to a finished folder: TransE, text vectors, cloning, PPO, and the best on valid. */
import { createPolicy, walkerInputs } from '../agents/walker/inputs.js';
import { writeTables } from '../agents/walker/tables-file.js';
import { encodeTasks } from '../agents/walker/text-vectors.js';
import { walkerAgent } from '../agents/walker/walker-agent.js';
import { readCheckpoint, type Checkpoint } from '../checkpoints/checkpoint.js';
import { readIndex, resolveCheckpoint } from '../checkpoints/store.js';
import { loadDataset } from '../datasets/registry.js';
import { walkSamples } from '../datasets/walk-samples.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import { evaluateAgent } from '../evaluation/evaluate.js';
import { seenEntities } from '../evaluation/outcome.js';
import { saveEvaluation } from '../evaluation/save-evaluation.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { configHash } from '../src/run/config.js';
import { collectEnvironment } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { cacheFolder } from '../src/run/locations.js';
import { writeMetricsArrow } from '../src/run/metric-log.js';
import { silentProgress, type ProgressReporter } from '../src/run/progress.js';
import { createRun, type Run } from '../src/run/run-folder.js';
import { AdamW } from '../src/tensor/adamw.js';
import { openBackend } from '../src/tensor/backend.js';
import { clonePhase } from './cloning/clone-phase.js';
import { ppoPhase } from './ppo/ppo-phase.js';
import { openRunLogs, type RunLogs } from './run-logs.js';
import type { Session } from './session.js';
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
 * Trains a walker. Everything that can be refused is refused before the folder is made.
 * @throws WorkbenchError `config` or `data` for inputs that do not fit, `stopped` after saving on request
 */
export async function train({
  settings,
  folder,
  resume,
  progress = silentProgress,
  signal,
}: TrainOptions): Promise<void> {
  const dataset = loadDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const trainSamples = samplesOf(dataset.loadDialogues('train'), graph, settings, 'train');
  const valid = samplesOf(dataset.loadDialogues('valid'), graph, settings, 'valid');
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  try {
    const { tf, name: backend } = await openBackend(settings.backend);
    const config = JSON.parse(JSON.stringify(settings)) as Record<string, unknown>;
    const hashes = { graph: graph.hash, encoder: encoder.id, dataset: configHash(dataset.manifest.sources) };
    const environment = collectEnvironment({ configHash: configHash(config), backend, threads: 1, hashes });
    const run = createRun({ folder, config, environment, resume: resume !== undefined });
    const logs = openRunLogs(run, settings.log.tensorboard);
    try {
      const from = resume === undefined ? undefined : checkpointToResume(folder, resume);
      if (!from) logs.truncateAfter(0);
      const transe = settings.transe.enabled
        ? await embed(run, logs, graph, dialogueTriples(dataset, graph), { settings, progress, signal, log: !from })
        : undefined;
      run.update({ phase: 'encode' });
      const rules = { horizon: settings.env.horizon, equalAtStep1: settings.env.equalAtStep1 };
      const shared = { tf, encoder, graph, rules, train: trainSamples, progress, signal };
      const inputs = await walkerInputs({
        ...shared,
        settings: settings.walker,
        encoderSettings: settings.encoder,
        transe: transe?.table,
      });
      const tasks = [...trainSamples, ...valid].map(({ task }) => task);
      inputs.featurizer.texts = await encodeTasks(encoder, tasks, { settings: settings.encoder, progress, signal });
      writeTables(run.folder, inputs.tables);
      const { encodes, cacheHits, tokens, seconds } = encoder.counters;
      logs.timing('encode', 1, {
        'time/encodes': encodes,
        'time/cache_hits': cacheHits,
        'time/tokens': tokens,
        'time/encode_seconds': seconds,
      });
      run.update({ done: { ...run.state.done, encode: true } });

      const seenTargets = seenEntities(trainSamples);
      const session: Session = {
        tf,
        run,
        settings,
        logs,
        inputs,
        train: trainSamples,
        valid,
        seenTargets,
        hashes,
        progress,
        signal,
      };
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
    } catch (error) {
      logs.flush();
      const stopped = error instanceof WorkbenchError && error.code === 'stopped';
      run.update(
        stopped
          ? { status: 'stopped' }
          : { status: 'failed', reason: String((error as Error).message).split('\n')[0]! },
      );
      throw error;
    } finally {
      logs.close();
      run.close();
    }
  } finally {
    await encoder.dispose();
  }
}

function samplesOf(
  dialogues: Parameters<typeof walkSamples>[0],
  graph: Graph,
  { data }: TrainSettings,
  split: string,
): WalkSample[] {
  const samples = walkSamples(dialogues, graph, data);
  if (samples.some(({ gold }) => gold.inGraph)) return samples;
  throw new WorkbenchError(
    'data',
    `expected samples whose path is in graph ${graph.name}, got none, at split ${split} of ${data.dataset}`,
    {
      hint: '`kgwalk datasets stats` shows what each split holds.',
    },
  );
}

function checkpointToResume(folder: string, which: string): Checkpoint | undefined {
  if (!readIndex(folder).last) return undefined;
  return readCheckpoint(resolveCheckpoint(folder, which).file);
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

/** The full evaluation of the best checkpoint on valid, kept with the run. */
async function evaluateBest({
  tf,
  run,
  settings,
  inputs,
  valid,
  seenTargets,
  hashes,
  progress,
  signal,
}: Session): Promise<void> {
  const best = resolveCheckpoint(run.folder, 'best');
  const policy = createPolicy(tf, inputs, settings.seed);
  try {
    policy.head.parameters.import(readCheckpoint(best.file).tensors);
    const { beamWidth, twoHopBonus } = settings.evaluation;
    const line = progress('evaluate the best on valid', valid.length, 'samples');
    const evaluation = await evaluateAgent(
      walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus }),
      valid,
      {
        graph: inputs.graph,
        settings: settings.evaluation,
        seenTargets,
        about: {
          dataset: settings.data.dataset,
          split: 'valid',
          turns: settings.data.turns,
          checkpoint: 'best',
          seed: settings.seed,
          hashes: { ...(hashes.encoder !== undefined && { encoder: hashes.encoder }) },
        },
        onProgress: (done) => line.update(done),
        ...(signal && { signal }),
      },
    );
    line.finish();
    await saveEvaluation(run.folder, 'valid-best', evaluation);
  } finally {
    policy.head.dispose();
  }
}
