/** A run folder: settings, environment and state of one training run, locked by one process while it is written. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { shownPath } from './command-line.js';
import { longestConfig, parseConfigText } from './config-source.js';
import { configHash } from './config-values.js';
import { WorkbenchError } from './errors.js';
import { isFolder, makeFolder, readTextFile, removeLeftovers, writeFileAtomic } from './files.js';
import { confined, presetNames, runsFolder } from './locations.js';
import { findPlaces, type Listed, listPlaces } from './places.js';
import { describeValue, nearestName } from './printable.js';
import { ofShape, readJsonFile } from './read-json.js';
import { environmentRecord, type EnvironmentRecord, type RunInfo, runState, type RunState } from './records.js';
import { runFiles } from './run-files.js';
import { isLocked, lockFolder } from './run-lock.js';

/** Options of a run written by this process. */
export type Run = ReturnType<typeof createRun>;

interface CreateRunOptions {
  folder: string;
  /** Resolved settings, without time and run name, so that equal runs have equal files. */
  config: Record<string, unknown>;
  environment: EnvironmentRecord;
  /** Resume the run in the folder, with its settings or others that the caller checked; without a run, start one. */
  resume?: boolean;
  /** Writes the initial files of a new run, before the folder counts as one. */
  prepare?: () => void;
}

/** `<preset>-<yyyymmdd-hhmmss>-s<seed>`, in local time. */
export function runId(preset: string, seed: number, now: Date = new Date()): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = two(now.getHours()) + two(now.getMinutes()) + two(now.getSeconds());
  return `${preset.replace(/[^\w.-]+/g, '-')}-${day}-${time}-s${seed}`;
}

/**
 * Starts or resumes the run in a folder and locks it. Its status becomes `running`, also that of a finished run.
 * @throws WorkbenchError `usage` if the folder holds a run and `resume` is false, or another process writes it
 */
export function createRun({ folder, config, environment, resume = false, prepare }: CreateRunOptions) {
  const place = resolve(folder);
  const files = runFiles(place);
  makeFolder(place);
  const release = lockFolder(place);
  try {
    const resumed = existsSync(files.config);
    if (!resume) refuseRunIn(place);
    removeLeftovers(place);
    let state: RunState = { schemaVersion: 1, status: 'running', done: {} };
    if (resumed) {
      const before = readRun(place);
      state = { ...before.state, status: 'running' };
      delete state.reason;
      delete state.provenanceSha256;
      const { formerConfigHash: _former, ...known } = before.environment;
      const sessions = { ...known, configHash: configHash(config), resumed: [...(known.resumed ?? []), environment] };
      if (sessions.configHash !== before.configHash) {
        // A crash between two of these files leaves a run with the previous or the new settings.
        writeJson(files.environment, { ...sessions, formerConfigHash: before.configHash });
        writeFileAtomic(files.config, stringify(config));
      }
      writeJson(files.environment, sessions);
    } else {
      prepare?.();
      // The config is written last: a folder is a run if and only if it has a config.
      writeJson(files.environment, environment);
      writeFileAtomic(files.config, stringify(config));
    }
    writeJson(files.state, state);
    return {
      id: basename(place),
      folder: place,
      files,
      /** True if the folder already held this run. */
      resumed,
      get state(): Readonly<RunState> {
        return state;
      },
      update(change: Partial<Omit<RunState, 'schemaVersion'>>): void {
        state = { ...state, ...change };
        writeJson(files.state, state);
      },
      /** Unlocks the folder; call it however the run ends. */
      close: release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** @throws WorkbenchError `usage` for a folder that holds a run */
export function refuseRunIn(folder: string): void {
  if (!existsSync(runFiles(folder).config)) return;
  throw new WorkbenchError('usage', `expected a folder without a run, got one that holds a run, at ${folder}`, {
    hint: 'Resume it (--resume; in a program, resume: true), or choose another folder.',
  });
}

/**
 * Reads a run without locking it. A run with status `running` but no live process was killed: it reads as `stopped`.
 * @param nameOrFolder a folder, or a run's name inside `runs` (default: in the working folder)
 * @throws WorkbenchError `data` if there is no run or one of its files is broken
 */
export function openRun(nameOrFolder: string, runs: string = runsFolder()): RunInfo {
  if (typeof nameOrFolder !== 'string' || nameOrFolder === '') {
    throw new WorkbenchError('usage', `expected the name or folder of a run, got ${describeValue(nameOrFolder)}`);
  }
  const isName = !existsSync(runFiles(nameOrFolder).config) && /^[^/\\]+$/.test(nameOrFolder);
  const info = readRun(resolve(isName ? confined(runs, nameOrFolder) : nameOrFolder));
  if (info.state.status !== 'running' || isLocked(info.folder)) return info;
  return { ...info, state: { ...info.state, status: 'stopped' }, isStale: true };
}

/** The run in a folder as read by `openRun`, or undefined if there is none. */
export function runIn(folder: string): RunInfo | undefined {
  return existsSync(runFiles(folder).config) ? openRun(folder) : undefined;
}

/** A run by name or folder, with the checkpoint behind an `@`; undefined where there is none. */
export function findRun(name: string): { run: RunInfo; checkpoint?: string } | undefined {
  const found = namedRun(name);
  return found && { ...found, run: openRun(found.run) };
}

/** Name or folder of a run that is there, unopened. */
export function namedRun(name: string): { run: string; checkpoint?: string } | undefined {
  const isRun = (text: string) =>
    [text, join(runsFolder(), text)].some((folder) => existsSync(runFiles(folder).config));
  if (isRun(name)) return { run: name };
  const [, plain, checkpoint] = /^(.+)@([^@/\\]+)$/.exec(name) ?? [];
  if (plain !== undefined && isRun(plain)) return { run: plain, checkpoint: checkpoint! };
  return undefined;
}

/** Runs below a folder. */
export const listRuns = (runs: string): Listed<RunInfo>[] => listPlaces(runs, 'run', openRun);

/** Closest run name among the siblings and all below the folder of runs. */
export function nearestRun(folder: string): string | undefined {
  const parent = dirname(resolve(folder));
  const siblings = (isFolder(parent) ? readdirSync(parent) : []).map((name) => join(parent, name));
  const below = [...findPlaces([runsFolder()]).values()].filter(({ kind }) => kind === 'run');
  const runs = [...siblings.filter((run) => existsSync(runFiles(run).config)), ...below.map((run) => run.folder)];
  const byName = new Map(runs.toReversed().map((run) => [basename(run), run]));
  const found = byName.get(nearestName(basename(folder), byName.keys()) ?? '');
  return found && shownPath(found);
}

function readRun(folder: string): RunInfo {
  const files = runFiles(folder);
  if (!existsSync(files.config)) {
    const got = existsSync(folder) ? `a folder without ${basename(files.config)}` : 'nothing';
    const isPreset = presetNames().includes(basename(folder));
    const near = isPreset ? undefined : nearestRun(folder);
    const start = isPreset ? `A preset is trained first: \`kgwalk train ${basename(folder)}\`. ` : '';
    throw new WorkbenchError('data', `expected a run, got ${got}, at ${folder}`, {
      hint: `${near === undefined ? start : `Did you mean ${near}? `}The runs there are: \`kgwalk runs list\`.`,
    });
  }
  const config = readConfig(files.config);
  const hash = configHash(config);
  const environment = readJsonFile(files.environment, environmentRecord, 'the environment of a run');
  // Truncated YAML is still valid YAML.
  if (environment.configHash !== hash && environment.formerConfigHash !== hash) {
    const message = `expected the settings that the run was started with, got others, at ${files.config}`;
    throw new WorkbenchError('data', message, { hint: 'The file was altered or cut short: put it back as it was.' });
  }
  return {
    id: basename(folder),
    folder,
    config,
    configHash: hash,
    environment,
    // A crash between the first files leaves none; that run has done nothing yet.
    state: existsSync(files.state)
      ? readJsonFile(files.state, runState, 'the state of a run')
      : { schemaVersion: 1, status: 'running', done: {} },
  };
}

/** Settings by the text that they were parsed from: a command opens a run several times. */
const parsed = new Map<string, Record<string, unknown>>();

function readConfig(file: string): Record<string, unknown> {
  const about = { what: 'the settings of a run', place: file };
  const text = readTextFile(file, about.what, longestConfig);
  const known = parsed.get(text);
  if (known) return structuredClone(known);
  const { value, problems } = parseConfigText(text, file);
  if (problems.length === 0) {
    const config = ofShape(value, z.record(z.string(), z.unknown()), about);
    if (parsed.size >= 64) parsed.clear();
    parsed.set(text, structuredClone(config));
    return config;
  }
  throw new WorkbenchError('data', `expected ${about.what}, got a broken file: ${problems[0]!}`);
}

function writeJson(file: string, value: unknown): void {
  writeFileAtomic(file, `${JSON.stringify(value, null, 2)}\n`);
}
