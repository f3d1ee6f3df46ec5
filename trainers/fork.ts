/** Forks: new runs that begin with the weights of another run's checkpoint, kept as their own checkpoint of step 0. */
import { checkFits, weightsOnly, type Checkpoint, type CheckpointHashes } from '../checkpoints/checkpoint.js';
import { readRunCheckpoint } from '../checkpoints/chain.js';
import { readIndex, saveCheckpoint } from '../checkpoints/store.js';
import { configDifferences, refuseDifferences } from '../src/run/config.js';
import { WorkbenchError } from '../src/run/errors.js';
import { sha256File } from '../src/run/files.js';
import { readRunProvenance, unknownWeights, writeProvenance } from '../src/run/provenance.js';
import type { ForkOrigin, RunInfo } from '../src/run/records.js';
import { openRun, runFiles } from '../src/run/run-folder.js';
import type { Learning } from './session.js';
import { plainSettings, settingsOfRun, type TrainSettings } from './train-settings.js';

/** Which weights a fork begins with. */
export interface ForkSource {
  /** Folder of the run, which is only read. */
  run: string;
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
}

/** What a fork begins with. */
export interface Forked {
  weights: Checkpoint;
  origin: ForkOrigin;
}

/**
 * The settings of a fork: those of the run, but that PPO goes on from the weights at once. `clone.enabled=true` clones
 * first, as a fork without PPO does.
 * @param overrides such as `ppo.learningRate=1e-5`
 * @throws WorkbenchError `config`
 */
export function forkSettings(
  learning: Pick<Learning, 'forkPhase'>,
  run: RunInfo,
  overrides: readonly string[],
): TrainSettings {
  const { reader, exactWalker } = settingsOfRun(run);
  if (reader ?? exactWalker) {
    const what = reader ? 'a reader' : 'an exact walker';
    throw new WorkbenchError(
      'config',
      `expected a run of a sampling walker to fork, got one of ${what}, at ${run.folder}`,
      {
        hint: 'Train it by other settings from the beginning: it takes minutes.',
      },
    );
  }
  const begin = forkPhaseOf(learning, settingsOfRun(run)) === 'clone' ? ['clone.enabled=false', 'ppo.init=clone'] : [];
  const settings = settingsOfRun(run, [...begin, ...overrides]);
  return settings.ppo.enabled ? settings : { ...settings, clone: { ...settings.clone, enabled: true } };
}

/**
 * Reads the weights as a checkpoint of step 0: a clone, from which PPO starts and near which it stays; where the task clones nothing,
 * one of PPO. No optimizer, no schedule, no scores: those are of the run they come from.
 * @throws WorkbenchError `data` for a checkpoint that is not there or of another graph, encoder or data set, `config` for
 *   settings under which the weights would have another shape or meaning
 */
export async function forkedWeights(
  learning: Pick<Learning, 'forkPhase'>,
  { run, checkpoint: which }: ForkSource,
  settings: TrainSettings,
  hashes: CheckpointHashes,
): Promise<Forked> {
  const source = openRun(run);
  const forkPhase = forkPhaseOf(learning, settings);
  const { entry, ...checkpoint } = readRunCheckpoint(source.folder, which, { finite: true });
  const { name, file } = entry;
  const { header, tensors } = weightsOnly(checkpoint);
  // The fork makes tables of its own.
  const { files: _files, ...kept } = header;
  checkFits(header, hashes, file);
  refuseDifferences(
    configDifferences(meaningOf(settingsOfRun(source)), meaningOf(settings)),
    'a fork to keep what gives weights their shape and meaning',
    source.folder,
    'Train a run of these settings from the beginning.',
  );
  if (forkPhase === 'clone' && settings.ppo.enabled && settings.ppo.init !== 'clone') {
    throw new WorkbenchError('config', 'expected ppo.init=clone in a fork, whose weights it is, got scratch');
  }
  return {
    weights: { header: { ...kept, phase: forkPhase, step: 0, epoch: 0, metrics: {} }, tensors },
    origin: { run: source.folder, checkpoint: name, sha256: await sha256File(file) },
  };
}

/** A run that was cloned from another agent goes on from its clone, whatever else the task does. */
const forkPhaseOf = ({ forkPhase }: Pick<Learning, 'forkPhase'>, { ppo, teacher }: TrainSettings) =>
  teacher && ppo.init === 'clone' ? 'clone' : forkPhase;

/** Writes what a fork begins with into its folder: the weights, and what they were made from as far as the run knows. */
export function writeStart(folder: string, { weights, origin }: Forked): void {
  saveCheckpoint(folder, weights, { keepLast: 1, keepEvery: 0 });
  writeProvenance(runFiles(folder).provenance, readRunProvenance(openRun(origin.run)) ?? unknownWeights);
}

/** The weights that a run began with, as long as it keeps them; undefined for one that is no fork. */
export function weightsAtStart(folder: string, hashes: CheckpointHashes): Checkpoint | undefined {
  const first = readIndex(folder).checkpoints.find(({ step }) => step === 0);
  if (!first) return undefined;
  const checkpoint = readRunCheckpoint(folder, first);
  checkFits(checkpoint.header, hashes, first.file);
  return checkpoint;
}

/** The settings that say what a weight means; where the model lies is told by the encoder's id instead. */
function meaningOf(settings: TrainSettings) {
  const { env, relationWalk, linkWalk, walker, relationWalker, linkWalker, policy, transe, bilinear, seed, clone } =
    settings;
  const { model: _model, workers: _workers, gpu: _gpu, ...encoder } = settings.encoder;
  // What is drawn or kept while cloning changes no weight's meaning.
  const { dropout: _dropout, featureMemory: _featureMemory, inEdges: _inEdges, ...network } = walker;
  const readsTransE = walker.entityVectors.includes('transe') || walker.relationVectors === 'transe';
  return plainSettings({
    env: { id: env.id, options: env.options, horizon: env.horizon, equalAtStep1: env.equalAtStep1 },
    relationWalk: { horizon: relationWalk.horizon },
    encoder,
    walker: network,
    ...(clone.linkedTurns && { clone: { linkedTurns: { inCounts: clone.linkedTurns.inCounts } } }),
    relationWalker,
    linkWalk: { horizon: linkWalk.horizon },
    linkWalker,
    policy: policy && { hidden: policy.hidden, normalizeObservation: policy.normalizeObservation },
    ...((readsTransE || linkWalker.vectors === 'transe') && { transe, seed }),
    ...(linkWalker.vectors === 'bilinear' && { bilinear, seed }),
  });
}
