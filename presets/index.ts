/** `kgwalk/presets`: the settings of a run, as `train` of `kgwalk/trainers` takes them. */
import { loadConfig } from '../src/run/config.js';
import { resolvePreset } from '../src/run/locations.js';
import { runSettings, type RunSettings } from './schema.js';

export { runSettings, type RunSettings };

/**
 * Every setting of a preset with its value.
 * @param nameOrPath as `kgwalk train` takes it, such as `opendialkg`
 * @param overrides such as `ppo.clipRange=0.1`, as `--set` takes them; later ones win
 * @throws WorkbenchError `usage` for a preset that is not there, `config` that lists every wrong key and value
 */
export function loadPreset(nameOrPath: string, overrides: readonly string[] = []): RunSettings {
  return loadConfig(runSettings, { file: resolvePreset(nameOrPath), overrides });
}
