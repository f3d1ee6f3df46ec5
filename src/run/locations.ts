/** Locations of data, caches, runs and presets. Nothing is written elsewhere. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { env } from 'node:process';
import { WorkbenchError } from './errors.js';
import { shellWord } from './command-line.js';
import { nearestName } from './printable.js';
import { runFiles } from './run-files.js';

/** `KGWALK_HOME`, default `~/.kgwalk`: imported data, models, embeddings and caches; not created here. */
export const kgwalkHome = (): string => (env.KGWALK_HOME ? resolve(env.KGWALK_HOME) : join(homedir(), '.kgwalk'));

/** Caches; may be deleted at any time. */
export const cacheFolder = (): string => join(kgwalkHome(), 'cache');

/** Downloaded language models. */
export const modelsFolder = (): string => join(kgwalkHome(), 'models');

/** Run folders, and evaluations of agents without a run: `KGWALK_RUNS`, default `runs` in the working folder. */
export const runsFolder = (): string => resolve(env.KGWALK_RUNS || 'runs');

/** `KGWALK_JOB`, set by workers: folder of the job that this process runs, which reads no settings elsewhere and loads no code. */
export const jobFolder = (): string | undefined => env.KGWALK_JOB;

/** Folder of this package's `package.json`, for sources and for `dist`. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!isPackageRoot(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function isPackageRoot(folder: string): boolean {
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }).name === 'kgwalk';
}

/**
 * The file of a preset: a path from the working folder, then `presets/` there, then the package’s own; `.yaml` may be left out.
 * @returns an absolute path
 * @throws WorkbenchError `usage` that lists the presets there are
 */
export function resolvePreset(nameOrPath: string): string {
  const file = /\.ya?ml$/.test(nameOrPath) ? nameOrPath : `${nameOrPath}.yaml`;
  // The package's own presets are found by plain name only, so that `../..` cannot leave their folder.
  const plain = file.replace(/^presets[/\\]/, '');
  const packaged = /^[\w.-]+$/.test(plain) ? [join(packageRoot(), 'presets', plain)] : [];
  const candidates = [resolve(file), resolve('presets', file), ...packaged];
  const found = candidates.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (found !== undefined) return found;
  const near = nearestName(nameOrPath, presetNames());
  if (existsSync(runFiles(nameOrPath).config)) {
    throw new WorkbenchError('usage', `expected a preset or a YAML file, got a run, at ${nameOrPath}`, {
      hint: `Continue the run: \`kgwalk train --resume --run-dir ${shellWord(nameOrPath)}\`.`,
    });
  }
  throw new WorkbenchError('usage', `expected a preset or a YAML file, got ${JSON.stringify(nameOrPath)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Give the path of a YAML file or one of: ${presetNames().join(', ')}.`,
  });
}

/** Names of the bundled presets, in alphabetical order. */
export function presetNames(): string[] {
  const files = readdirSync(join(packageRoot(), 'presets')).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/**
 * The path of `name` inside `folder`, for names from users, files and configs. Links inside are followed when it is opened.
 * @throws WorkbenchError `usage` for a name that is empty, absolute or leads out of the folder
 */
export function confined(folder: string, name: string): string {
  const path = resolve(folder, name);
  const inside = relative(resolve(folder), path);
  const escapes = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  if (escapes || isAbsolute(name) || name.includes('\0')) {
    throw new WorkbenchError('usage', `expected a name inside ${folder}, got ${JSON.stringify(name)}`, {
      hint: 'Use a plain name without ".." or a leading slash.',
    });
  }
  return path;
}
