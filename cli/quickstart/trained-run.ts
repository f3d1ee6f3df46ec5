/** A training run of the quickstart: trained, gone on with, or reused where it is finished. */
import { existsSync } from 'node:fs';
import type { RunSettings } from '../../presets/schema.js';
import { diffConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder } from '../../src/run/locations.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun, runFiles } from '../../src/run/run-folder.js';
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
  const before = existsSync(runFiles(folder).config) ? openRun(folder) : undefined;
  if (before) refuseOtherSettings(before, settings);
  if (before?.state.status === 'finished') {
    await refuseOtherModel(before, settings);
    return { run: before, reused: true };
  }
  const { train } = await import('../../trainers/train.js');
  await train({ settings, folder, resume: 'last', ...watch });
  return { run: openRun(folder), reused: false };
}

function refuseOtherSettings({ folder, config }: RunInfo, settings: RunSettings): void {
  const keys = diffConfig(config, JSON.parse(JSON.stringify(settings)));
  if (keys.length === 0) return;
  throw new WorkbenchError(
    'config',
    `expected a run of these settings, got others for ${keys.join(', ')}, at ${folder}`,
    {
      hint: 'Give another --run-dir, or remove that folder.',
    },
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
