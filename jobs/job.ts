/**
 * Jobs that any machine may run: a run of a sweep, or a part of an evaluation. A plan is a file with one job per line,
 * after the sweep it belongs to, if any; the line determines the result, so its hash is the result's name.
 */
import { basename } from 'node:path';
import { z } from 'zod';
import { readConfigFile } from '../src/run/config-source.js';
import { canonicalJson, configHash } from '../src/run/config-values.js';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile, writeFileAtomic } from '../src/run/files.js';
import { presetNames, resolvePreset } from '../src/run/locations.js';
import { pluginsRefused } from '../src/run/plugins.js';
import { ofShape, parseJson } from '../src/run/read-json.js';
import { type SweepRecord, sweepRecord } from '../src/run/sweep.js';

const text = z.string().max(100_000);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** A relative path of plain names that stays inside its folder. */
const path = z
  .string()
  .max(1000)
  .regex(/^[\w.@+=,-]+(\/[\w.@+=,-]+)*$/)
  .refine((one) => !one.split('/').some((name) => name === '..' || name === '.'), 'expected a path without dots alone');

/** Options allowed in a job, by command: no output path, no plugin, nothing machine-specific. */
const optionsOf = {
  train: 'set seed',
  evaluate:
    'agent count dataset split limit checkpoint encoder backend graph turns beam-width two-hop-bonus direction config ' +
    'model model-set budget budget-mode choices hold-out set seed withhold-hops',
} as const;

const content = z.strictObject({
  kind: z.literal('kgwalk job'),
  /** Version of the program: another may compute something else. */
  version: text,
  command: z.enum(['train', 'evaluate']),
  /** Arguments and options of the command. */
  args: z.array(path).max(20),
  options: z.record(text, z.union([z.literal(true), z.array(text).max(2000)])),
  /** Part of an evaluation, e.g. `2/8`, or name of a run of a sweep. */
  part: z.string().regex(/^(\d{1,6}\/\d{1,6}|trial-\d{3,9}-s\d{1,10})$/),
  /** Contents of the settings files named in the arguments: users' presets with all that they extend. */
  presets: z.record(
    path,
    z.record(text, z.unknown()).refine(({ plugins }) => plugins === undefined, 'no plugins'),
  ),
  /** Folders named in the arguments (runs), each by its manifest in the store. */
  folders: z.record(path, digest),
  /** Hashes of data and models: a machine with others refuses the job. */
  inputs: z.record(text, text),
});
const schema = content.extend({ key: digest });

/** One unit of work. */
export type Job = z.output<typeof schema>;

/** A job for this version of the program, under its key. */
export function jobOf(planned: Omit<Job, 'key' | 'kind' | 'version'>): Job {
  const job = { kind: 'kgwalk job' as const, version: kgwalkVersion(), ...planned };
  return { key: configHash(job), ...job };
}

/** A preset as jobs name it: a bundled one, or a file that they carry, with all that it extends. */
export function carriedPreset(preset: string): { name: string; presets: Job['presets'] } {
  if (presetNames().includes(preset)) return { name: preset, presets: {} };
  const stem = basename(preset).replace(/\.(ya?ml|json)$/, '');
  const name = `${stem.replace(/[^\w.-]/g, '-')}.yaml`;
  const settings = readConfigFile(resolvePreset(preset)).value as Record<string, unknown>;
  if (settings.plugins !== undefined) throw pluginsRefused(preset);
  return { name, presets: { [name]: settings } };
}

/**
 * Checks that the inputs of a plan equal those here.
 * @param planned `--inputs`
 * @throws WorkbenchError `data` with the differences
 */
export function refuseOtherInputs(planned: string, here: Readonly<Record<string, string>>): void {
  const place = { what: 'hashes of a plan', place: '--inputs' };
  const hashes = ofShape(parseJson(planned, place), z.record(z.string(), z.string()), place);
  const names = [...new Set([...Object.keys(hashes), ...Object.keys(here)])].filter(
    (name) => hashes[name] !== here[name],
  );
  if (names.length === 0) return;
  const shown = (hash: string | undefined) => (hash === undefined ? 'none' : hash.slice(0, 12));
  const differing = names
    .map((name) => `${name}: ${shown(hashes[name])} planned, ${shown(here[name])} here`)
    .join('; ');
  throw new WorkbenchError('data', `expected what the plan was written with, got other inputs: ${differing}`, {
    hint: 'Import the same data with the same version, and take the same model; or write the plan again.',
  });
}

/** Jobs of a command, and the sweep whose runs they are. */
export type Plan = { jobs: Job[]; sweep?: SweepRecord | undefined };

/** Writes a plan, one job per line. */
export function writePlan(file: string, { jobs, sweep }: Plan): void {
  // Not in canonical order: `sweep.json` is written from it.
  const first = sweep ? `${JSON.stringify({ sweep })}\n` : '';
  writeFileAtomic(file, first + jobs.map((job) => `${canonicalJson(job)}\n`).join(''));
}

/** Reads a plan. @throws WorkbenchError `data` for an invalid or altered line; `usage` for a plan of another version */
export function readPlan(file: string): Plan {
  const jobs: Job[] = [];
  let sweep: SweepRecord | undefined;
  for (const [i, line] of readTextFile(file, 'a plan').split('\n').entries()) {
    if (line === '') continue;
    const place = `${file}:${i + 1}`;
    const value = parseJson(line, { what: 'a job', place });
    if (i === 0 && value !== null && typeof value === 'object' && 'sweep' in value) {
      sweep = ofShape(value.sweep, sweepRecord, { what: 'a sweep', place });
    } else jobs.push(jobFrom(value, place));
  }
  if (jobs.length > 0) return { jobs, sweep };
  throw new WorkbenchError('data', `expected a plan, a job a line, got no line, at ${file}`, {
    hint: 'Write one by --write of `kgwalk sweep` or `kgwalk evaluate`.',
  });
}

/** Validates a job from elsewhere: shape, version and key. @param place origin, for errors */
export function jobFrom(value: unknown, place: string): Job {
  const version = (value as Partial<Job> | null)?.version;
  if (typeof version === 'string' && version !== kgwalkVersion()) throw otherVersion(version, place);
  const { key, ...job } = ofShape(value, schema, { what: 'a job', place });
  const unknown = Object.keys(job.options).find((name) => !mayHold(job.command, name));
  if (unknown !== undefined) {
    throw new WorkbenchError('data', `expected options that a job may have, got --${unknown}, at ${place}`, {
      hint: `Of ${job.command} it may have --${optionsOf[job.command].replaceAll(' ', ', --')}.`,
    });
  }
  const code = Object.values(job.options).find((given) => given !== true && given.some(namesPlugins));
  if (code !== undefined) throw pluginsRefused(place);
  if (configHash(job) === key) return { key, ...job };
  throw new WorkbenchError('data', `expected a job under its own hash, got ${key.slice(0, 12)}…, at ${place}`, {
    hint: 'It was altered: write the plan again.',
  });
}

/** Plugins are code: jobs never carry them. */
const namesPlugins = (setting: string) => /^\s*plugins\b/.test(setting);

/** The error for work of another version of the program. */
export function otherVersion(version: string, place: string): WorkbenchError {
  return new WorkbenchError('usage', `expected work for kgwalk ${kgwalkVersion()}, got ${version}, at ${place}`, {
    hint: 'Plan and do it with one version: what comes out may differ between two.',
  });
}

/** True if a plan may contain an option. */
export const mayHold = (command: Job['command'], option: string): boolean =>
  optionsOf[command].split(' ').includes(option);

/** Arguments of a job after the program's name, without its part. @param more options added by this machine */
export function wordsOf(
  { command, args, options }: Pick<Job, 'command' | 'args' | 'options'>,
  ...more: string[]
): string[] {
  return [
    command,
    ...Object.entries(options).flatMap(([name, value]) =>
      // As one word: a value may begin with a dash.
      value === true ? [`--${name}`] : value.map((one) => `--${name}=${one}`),
    ),
    ...more,
    ...(args.length > 0 ? ['--', ...args] : []),
  ];
}
