/** Loaded plugins by content hash: runs and evaluations record them and require them again. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { commandWith, shellWord, shownPath } from './command-line.js';
import { WorkbenchError } from './errors.js';
import type { RunInfo } from './records.js';

/** A user's file that registered parts. */
interface LoadedPlugin {
  file: string;
  /** Hash of the file as loaded; its imports are not covered. */
  sha256: string;
  /** Registered parts: `agent questions/step`, `environment mine/Grid-v1` … */
  registered: string[];
}

const loaded: LoadedPlugin[] = [];

/** In loading order. */
export const loadedPlugins = (): readonly LoadedPlugin[] => loaded;

/** Called by the loader after a plugin has registered its parts. */
export function addLoadedPlugin(plugin: LoadedPlugin): void {
  loaded.push(plugin);
}

/** Label of a plugin in the settings of a run: `my-env.mjs@sha256:3f2a…`. */
export const pluginLabel = ({ file, sha256 }: Pick<LoadedPlugin, 'file' | 'sha256'>): string =>
  `${basename(file)}@sha256:${sha256}`;

const label = /^(.+)@sha256:([0-9a-f]{64})$/;
/** True if an entry of `plugins` is a run's label, which loads nothing, and not a file. */
export const isPluginLabel = (entry: string): boolean => label.test(entry);

/** The error for a plan that would load code. */
export function pluginsRefused(place: string): WorkbenchError {
  return new WorkbenchError('usage', `expected work without plugins, got some, at ${place}`, {
    hint: 'A job brings no code: do it on one machine, without a plan.',
  });
}

/** Labels in settings. */
export function pluginLabels({ plugins }: { plugins?: unknown }): string[] {
  const entries = Array.isArray(plugins) ? (plugins as unknown[]) : [];
  return entries.filter((one): one is string => typeof one === 'string' && isPluginLabel(one));
}

/** Key of a plugin among the hashes of an evaluation. */
const hashKey = 'plugin:';

/** Hashes of the plugins of the run, of the agent, and of figures. @param agent as `task/name` */
export function pluginHashes({ agent, run }: { agent: string; run: RunInfo | undefined }): Record<string, string> {
  const ofRun = run ? pluginLabels(run.config) : [];
  const matters = ({ file, sha256, registered }: LoadedPlugin) =>
    ofRun.some((one) => one.endsWith(sha256) || one.startsWith(`${basename(file)}@`)) ||
    registered.some((what) => what === `agent ${agent}` || what.startsWith('figure '));
  return Object.fromEntries(loaded.filter(matters).map(({ file, sha256 }) => [`${hashKey}${basename(file)}`, sha256]));
}

/** Plugin labels among the hashes of an evaluation. */
export function labelsOfHashes(hashes: Readonly<Record<string, string>>): string[] {
  return Object.entries(hashes).flatMap(([key, sha256]) =>
    key.startsWith(hashKey) ? [`${key.slice(hashKey.length)}@sha256:${sha256}`] : [],
  );
}

interface Asking {
  /** Name of the owner in messages: `the run`, `the evaluation`. */
  what: string;
  place: string;
  /** Files it was made with, if known. */
  known?: readonly { file: string; sha256: string }[] | undefined;
}

/**
 * Checks that the required plugins are loaded, by content.
 * @returns a sentence for each plugin that has changed
 * @throws WorkbenchError `usage` for plugins that are not loaded, with the command that loads them
 */
function changedPlugins(labels: readonly string[], { what, place, known = [] }: Asking): string[] {
  const changed: string[] = [];
  const missing: { said: string; file: string }[] = [];
  for (const [, name = '', sha256 = ''] of labels.map((one) => label.exec(one)!)) {
    if (loaded.some((one) => one.sha256 === sha256)) continue;
    const other = loaded.find(({ file }) => basename(file) === name);
    if (other) {
      const now = `${shownPath(other.file)} has ${short(other.sha256)} now`;
      changed.push(`${what} was made with ${name} of sha256 ${short(sha256)}, ${now}`);
      continue;
    }
    const file = known.find((one) => one.sha256 === sha256)?.file;
    missing.push({
      said: `${name} (sha256 ${short(sha256)}${whereabouts(file, sha256)})`,
      file: file === undefined || !existsSync(file) ? `PATH/${name}` : shownPath(file),
    });
  }
  if (missing.length === 0) return changed;
  const expected = `expected the plugin${missing.length > 1 ? 's' : ''} of ${what}`;
  const command = commandWith(...missing.flatMap(({ file }) => ['--plugin', file]));
  const quoted = (file: string) => (shellWord(file).startsWith("'") ? JSON.stringify(file) : `'${file}'`);
  const got = missing.map(({ said }) => said).join(', ');
  throw new WorkbenchError('usage', `${expected}, got none of ${got}, at ${place}`, {
    hint: command
      ? `It runs with your rights, so it is loaded only when you name it: ${command}`
      : `Load it first: ${missing.map(({ file }) => `await loadPlugin(${quoted(file)})`).join('; ')} of kgwalk/tasks.`,
  });
}

/** The same, but changed plugins are refused. @throws WorkbenchError `config` for plugins that changed */
export function requirePlugins(labels: readonly string[], asking: Asking): void {
  const changed = changedPlugins(labels, asking);
  if (changed.length === 0) return;
  const got = `got others, at ${asking.place}: ${changed.join('; ')}`;
  throw new WorkbenchError('config', `expected the plugins of ${asking.what}, ${got}`, {
    hint: 'Put the file back as it was. To use it as it is now, train a new run: with these weights by --fork, or from scratch.',
  });
}

const askingOf = ({ environment, folder }: RunInfo): Asking => {
  return { what: 'the run', place: folder, known: environment.plugins };
};

/** `changedPlugins` of a run. */
export const changedPluginsOf = (run: RunInfo): string[] => changedPlugins(pluginLabels(run.config), askingOf(run));

/** `requirePlugins` of a run. */
export const requirePluginsOf = (run: RunInfo): void => requirePlugins(pluginLabels(run.config), askingOf(run));

const short = (sha256: string) => `${sha256.slice(0, 12)}…`;

function whereabouts(file: string | undefined, sha256: string): string {
  if (file === undefined) return '';
  const at = shownPath(file);
  if (!existsSync(file)) return `; no longer at ${at}`;
  const now = createHash('sha256').update(readFileSync(file)).digest('hex');
  return now === sha256 ? `; at ${at}` : `; ${at} has changed since: ${short(now)}`;
}
