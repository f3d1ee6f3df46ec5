/** A training run of the quickstart: trained, gone on with, or reused where it is finished. */
import type { RunSettings } from '../../presets/schema.js';
import { configDifferences, refuseDifferences } from '../../src/run/config-differences.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder } from '../../src/run/locations.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun, runIn } from '../../src/run/run-folder.js';
import { plainSettings, settingsOfRun } from '../../trainers/train-settings.js';
import type { Watch } from '../watch.js';

/**
 * @throws WorkbenchError `config` for a folder that holds a run of other settings, `data` for one of another model; what
 *   training throws
 */
export async function trainedRun(
  settings: RunSettings,
  folder: string,
  watch: Watch,
): Promise<{ run: RunInfo; reused: boolean }> {
  const before = runIn(folder);
  if (before) refuseOtherSettings(before, settings);
  if (before?.state.status === 'finished') {
    await refuseOtherModel(before, settings);
    return { run: before, reused: true };
  }
  const { train } = await import('../../trainers/train.js');
  await train({ settings, folder, resume: 'last', ...watch });
  return { run: openRun(folder), reused: false };
}

function refuseOtherSettings(run: RunInfo, settings: RunSettings): void {
  refuseDifferences(
    configDifferences(plainSettings(settingsOfRun(run)), plainSettings(settings)),
    'a run of these settings',
    run.folder,
    'Give another --run-dir, or remove that folder.',
  );
}

/** The name of a model stays when another file takes its place. */
async function refuseOtherModel({ folder, environment }: RunInfo, settings: RunSettings): Promise<void> {
  const { openEncoder } = await import('../../src/encoder/open-encoder.js');
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  await encoder.dispose();
  if (encoder.id === environment.hashes.encoder) return;
  throw new WorkbenchError('data', `expected a run over ${encoder.id}, got one over another model, at ${folder}`, {
    hint: 'Give another --run-dir, or remove that folder.',
  });
}
