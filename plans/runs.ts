/** Settings and folders of the runs of `kgwalk train`, all checked before the first starts. */
import { join, resolve } from 'node:path';
import { loadPluginsOfPreset, openPreset } from '../presets/index.js';
import { lastingModelName } from '../src/llm/model-files.js';
import { WorkbenchError } from '../src/run/errors.js';
import { runsFolder } from '../src/run/locations.js';
import { collectProvenance, ProvenanceNotes } from '../src/run/provenance.js';
import { pluginLabels, requirePluginsOf } from '../src/run/plugins.js';
import { openRun, refuseRunIn, runId, runIn } from '../src/run/run-folder.js';
import { taskOfSettings } from '../tasks/index.js';
import { forkSettings } from '../tasks/train.js';
import type { ForkSource } from '../trainers/fork.js';
import { refuseOtherSettings } from '../trainers/resume.js';
import { settingsOfRun, type TrainSettings } from '../agents/train-settings.js';
import { withUsualModel } from '../trainers/run-settings.js';
import { encoderOf, hashesOf } from '../trainers/train.js';
import { overridesOf } from './space.js';

/** The options of `kgwalk train`. */
export interface TrainFlags {
  /** A graph without questions: see `prepareOwnGraph`. */
  graph?: string;
  model?: string;
  set: string[];
  seed?: string;
  seeds?: string;
  runDir?: string;
  resume?: string | true;
  fork?: string | true;
  backend?: string;
  dryRun?: boolean;
  threads?: string;
  follow?: boolean;
  maxMinutes?: number;
  json?: boolean;
  inputs?: string;
}

/** One run, ready to start or resume. */
export type PlannedRun = { settings: TrainSettings; folder: string; resume?: string; fork?: ForkSource };

/**
 * @param preset undefined if none was given
 * @throws WorkbenchError `usage` for options that contradict each other or the folder, `config` for invalid settings
 */
export async function plannedRuns(preset: string | undefined, flags: TrainFlags): Promise<PlannedRun[]> {
  refuseContradictions(flags);
  if (flags.fork !== undefined) return [await plannedFork(flags)];
  const runs: PlannedRun[] = [];
  for (const seed of seedsOf(flags)) runs.push(await plannedRun(preset, seed, flags));
  return runs;
}

async function plannedRun(
  preset: string | undefined,
  seed: number | undefined,
  flags: TrainFlags,
): Promise<PlannedRun> {
  const { runDir, seeds } = flags;
  const folder = runDir === undefined ? undefined : resolve(seeds === undefined ? runDir : `${runDir}-s${seed}`);
  const overrides = overridesByFlags(flags, seed);
  const resume = checkpointOf(flags);
  if (folder !== undefined && resume !== undefined) {
    const run = runIn(folder);
    if (run) {
      // A preset given with a run also adds its plugins.
      if (preset !== undefined && pluginLabels(run.config).length > 0) await loadPluginsOfPreset(preset);
      requirePluginsOf(run);
      const settings = settingsOfRun(run, overrides);
      refuseOtherSettings({ settingsOf: settingsOfRun }, run, settings);
      return { settings, folder, resume };
    }
    if (preset === undefined) {
      throw new WorkbenchError('usage', `expected a run to resume, got none, at ${folder}`, {
        hint: 'Runs: `kgwalk runs list`. To start one where there is none, name its preset too.',
      });
    }
  } else if (folder !== undefined) refuseRunIn(folder);
  const settings = withUsualModel(await openPreset(preset ?? 'opendialkg', overrides));
  const place = folder ?? join(runsFolder(), runId(settings.name, settings.seed));
  return { settings, folder: place, resume };
}

async function plannedFork(flags: TrainFlags): Promise<PlannedRun> {
  const source = openRun(resolve(flags.runDir!));
  const settings = await forkSettings(source, overridesByFlags(flags, seedsOf(flags)[0]));
  const folder =
    typeof flags.fork === 'string' ? resolve(flags.fork) : join(runsFolder(), runId(settings.name, settings.seed));
  refuseRunIn(folder);
  return { settings, folder, fork: { run: source.folder, checkpoint: checkpointOf(flags)! } };
}

function refuseContradictions({ resume, fork, seed, seeds, runDir }: TrainFlags): void {
  if (fork !== undefined && resume === undefined) {
    throw new WorkbenchError('usage', 'expected --resume with --fork, to name a checkpoint, got none', {
      hint: 'Such as `kgwalk train --resume best --run-dir RUN --fork`.',
    });
  }
  if (fork !== undefined && seeds !== undefined) {
    throw new WorkbenchError('usage', 'expected one fork, got --fork with --seeds', {
      hint: 'Fork once for each seed, with --seed.',
    });
  }
  if (resume !== undefined && runDir === undefined) {
    throw new WorkbenchError('usage', 'expected --run-dir with --resume, got none', {
      hint: 'Runs: `kgwalk runs list`.',
    });
  }
  if (seed !== undefined && seeds !== undefined) {
    throw new WorkbenchError('usage', 'expected --seed or --seeds, got both');
  }
}

const checkpointOf = ({ resume }: TrainFlags): string | undefined => (resume === true ? 'last' : resume);

/** Overrides of a preset by options. */
export const overridesByFlags = (
  { set, model, backend }: Pick<TrainFlags, 'set' | 'model' | 'backend'>,
  seed?: number,
): string[] => [
  ...set,
  ...(model === undefined ? [] : overridesOf({ 'encoder.model': lastingModelName(model) })),
  ...(seed === undefined ? [] : [`seed=${seed}`]),
  ...(backend === undefined ? [] : [`backend=${backend}`]),
];

function seedsOf({ seed, seeds }: TrainFlags): (number | undefined)[] {
  if (seeds === undefined) return [seed === undefined ? undefined : whole(seed, '--seed')];
  const list = seeds.split(',').map((text) => whole(text, '--seeds'));
  if (new Set(list).size === list.length) return list;
  throw new WorkbenchError('usage', `expected different seeds, got ${seeds}, at --seeds`);
}

function whole(text: string, flag: string): number {
  if (/^\d+$/.test(text.trim())) return Number(text);
  throw new WorkbenchError('usage', `expected whole numbers from 0, got ${JSON.stringify(text)}, at ${flag}`);
}

/** Hashes of what a run works on: data, and what encodes its texts. @throws WorkbenchError `data` for data that is not there or does not fit */
export async function inputsOf(settings: TrainSettings): Promise<Record<string, string>> {
  const training = await openedTraining(settings);
  const encoder = await encoderOf(training, withUsualModel(settings));
  try {
    return Object.fromEntries(Object.entries(hashesOf(training, encoder)).filter(([, hash]) => hash !== undefined));
  } finally {
    await encoder.dispose();
  }
}

/** The training of settings, with its data read. */
export async function openedTraining(settings: TrainSettings) {
  const { learning } = await taskOfSettings(settings);
  return collectProvenance(new ProvenanceNotes(), () => learning.open(settings));
}
