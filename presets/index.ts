/** `kgwalk/presets`: the settings of a run, as `train` of `kgwalk/trainers` takes them. @module kgwalk/presets */
import { isPlain } from '../src/run/config-values.js';
import { parseOverride, readConfigFile } from '../src/run/config-source.js';
import { applyOverrides, loadConfig } from '../src/run/config.js';
import { resolvePreset } from '../src/run/locations.js';
import { loadPluginsOf } from '../tasks/plugins.js';
import {
  settingsSchema,
  trainSettings as runSettings,
  type TrainSettings as RunSettings,
} from '../agents/train-settings.js';

export { runSettings, type RunSettings };

/**
 * Every setting of a preset with its value.
 * @param nameOrPath as `kgwalk train` takes it, such as `opendialkg`
 * @param overrides such as `ppo.clipRange=0.1`, as `--set` takes them; later ones win
 * @throws WorkbenchError `usage` for a preset that is not there, `config` that lists every wrong key and value
 */
export function loadPreset(nameOrPath: string, overrides: readonly string[] = []): RunSettings {
  return loadConfig(settingsSchema(), { file: resolvePreset(nameOrPath), overrides });
}

/**
 * The same, after the plugins that the preset names are loaded: what they register may stand in its settings.
 * @throws as `loadPreset` and `loadPlugin`
 */
export async function openPreset(nameOrPath: string, overrides: readonly string[] = []): Promise<RunSettings> {
  await loadPluginsOfPreset(nameOrPath, overrides);
  return loadPreset(nameOrPath, overrides);
}

/** Loads them; other problems of the preset are reported by its reader. */
export async function loadPluginsOfPreset(nameOrPath: string, overrides: readonly string[] = []): Promise<void> {
  const { value, problems } = readConfigFile(resolvePreset(nameOrPath));
  if (problems.length > 0 || !isPlain(value)) return;
  const given = overrides.map(parseOverride).flatMap((one) => ('problem' in one ? [] : [one]));
  const { success, data } = runSettings.shape.plugins.safeParse(applyOverrides(value, given)['plugins']);
  if (success) await loadPluginsOf({ plugins: data });
}
