/** What a report reads: runs with what they logged, evaluations with how long they took, and which runs differ in nothing but the seed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { diffConfig, valueAt } from '../src/run/config.js';
import { checkEvaluationSeal } from '../src/run/evaluation-seal.js';
import { evaluationRecord, type EvaluationRecord } from '../src/run/evaluation.js';
import { readJsonLines } from '../src/run/json-lines.js';
import { runsFolder } from '../src/run/locations.js';
import { readMetrics, readTimings } from '../src/run/metric-log.js';
import { openObject, readJsonFile } from '../src/run/read-json.js';
import type { MetricRecord, RunInfo, TimingRecord } from '../src/run/records.js';
import { evaluationFiles, openRun, runFiles } from '../src/run/run-folder.js';
import { agentColors, palette } from './plots/colors.js';
import { algorithmOf, methodOf, plainName, settingsKey, trainedMethodOf, withoutSeed } from './words.js';

/** How a trained agent came to be. */
interface TrainedBy {
  /** Equal for runs that differ in nothing but the seed. */
  settings: string;
  /** The run's name without time and seed. */
  label: string;
  checkpoint: string;
  /** What trained it, such as `PPO`; absent where its run is not there to tell. */
  method?: string;
}

/** By the clock of the machine that ran it. */
export interface Speed {
  /** Wall time a sample, preparing included, in milliseconds. */
  msPerSample: number;
  /** Processor time a sample, all threads together, in seconds; absent of versions that did not log it. */
  cpuPerSample?: number;
  /** Prompt tokens that were evaluated, and written ones, a second; absent without a model. */
  tokensPerSecond?: number;
}

/** An evaluation as reports read it. */
export interface EvaluationData {
  /** The folder's name. */
  name: string;
  folder: string;
  /** A short word for it, where nothing else tells it from another. */
  tag: string;
  record: EvaluationRecord;
  trained?: TrainedBy;
  /** Equal for evaluations of the same samples. */
  samples: string;
  /** Absent where nothing was timed, or most replies were remembered. */
  speed?: Speed;
}

/** Everything of a run folder that a page shows. */
export interface RunData {
  info: RunInfo;
  metrics: MetricRecord[];
  timings: TimingRecord[];
  evaluations: EvaluationData[];
}

/** Runs of one configuration, one or more seeds. */
export interface RunGroup {
  /** What sets it apart from the other groups on its data; a single group has its preset's or run's name. */
  label: string;
  /** Of the palette, in every chart. */
  color: string;
  /** Set where colours were used up. */
  dashed?: boolean;
  runs: RunData[];
}

/** The runs on one data set: curves of two are never drawn into one chart. */
export interface Subject {
  dataset: string;
  groups: RunGroup[];
}

/** Reads a run; what it has not written yet is empty. @throws {WorkbenchError} `data` for a file that is broken */
export function loadRunData(info: RunInfo): RunData {
  const { metrics, timing, evaluations } = runFiles(info.folder);
  const names = existsSync(evaluations) ? readdirSync(evaluations).sort() : [];
  return {
    info,
    metrics: existsSync(metrics) ? readMetrics(metrics) : [],
    timings: existsSync(timing) ? readTimings(timing) : [],
    evaluations: names
      .map((name) => join(evaluations, name))
      .filter((folder) => existsSync(evaluationFiles(folder).evaluation))
      .map((folder) => loadEvaluation(folder, info)),
  };
}

/**
 * Reads a finished evaluation.
 * @param run whose folder holds it, and which it is of unless its record names several
 * @throws {WorkbenchError} `data` for a file that is broken
 */
export function loadEvaluation(folder: string, run?: RunInfo): EvaluationData {
  const files = evaluationFiles(folder);
  checkEvaluationSeal(folder, ['evaluation', 'answers']);
  const record = readJsonFile(
    files.evaluation,
    evaluationRecord,
    'an evaluation',
    'Evaluate again, or delete the folder.',
  );
  const { task, dataset, graph, split, hashes, checkpoint } = record;
  const ids = existsSync(files.answers)
    ? readJsonLines(files.answers, openObject({ id: z.string() })).map(({ id }) => id)
    : [record.n, record.limit, record.seed];
  const speed = existsSync(files.timing) ? speedOf(readTimings(files.timing)) : undefined;
  // Several runs as one, `RUN+RUN`, are none of them, wherever what they answered lies.
  const by = record.run?.includes('+') ? record.run : (run ?? record.run);
  const of = [task, dataset, graph, split, hashes.graph, hashes.dataset, ids];
  return {
    name: basename(folder),
    folder,
    tag: run?.id ?? folder.slice(-8),
    record,
    ...(checkpoint !== undefined && { trained: trainedBy(by, checkpoint, record.phase) }),
    samples: createHash('sha256').update(JSON.stringify(of)).digest('hex'),
    ...(speed && { speed }),
  };
}

/** Of a run that is no longer there, its name is all that is known. */
function trainedBy(run: RunInfo | string = 'unnamed', checkpoint: string, phase: string | undefined): TrainedBy {
  try {
    const { id, config } = typeof run === 'string' ? openRun(run, runsFolder()) : run;
    const method = methodOf(config, checkpoint, phase);
    return { settings: settingsKey(config), label: plainName(id), checkpoint, ...(method !== undefined && { method }) };
  } catch {
    return { settings: String(run), label: plainName(basename(String(run))), checkpoint };
  }
}

/**
 * Time of the laps in which the model was really asked: those that a resumed evaluation took from its store would flatter it.
 */
function speedOf(laps: readonly TimingRecord[]): Speed | undefined {
  const of = (lap: TimingRecord, key: string) => Number(lap[`time/${key}`] ?? 0);
  const timed = laps.filter((lap) => of(lap, 'remembered') <= of(lap, 'asked'));
  const sum = (key: string) => timed.reduce((total, lap) => total + of(lap, key), 0);
  const seconds = timed.reduce((total, lap) => total + lap.seconds, 0);
  const samples = sum('questions');
  if (samples === 0) return undefined;
  const tokens = sum('promptTokens') - sum('cachedTokens') + sum('completionTokens');
  return {
    msPerSample: (1000 * seconds) / samples,
    ...(sum('cpu_ms') > 0 && { cpuPerSample: sum('cpu_ms') / 1000 / samples }),
    ...(sum('asked') > 0 && seconds > 0 && { tokensPerSecond: tokens / seconds }),
  };
}

/** Runs by data set, each in groups whose settings are equal but for `seed`, in the order given. */
export function subjectsOf(runs: readonly RunData[]): Subject[] {
  return [...groupBy(runs, ({ info }) => datasetOf(info))].map(([dataset, some]) => ({
    dataset,
    groups: groupRuns(some),
  }));
}

/** The data set that a run was trained on, as its settings name it; of a policy, its environment. */
export function datasetOf({ config }: Pick<RunInfo, 'config'>): string {
  if (config.policy !== undefined) return String((config.env as { id?: unknown }).id);
  const { dataset } = (config.data ?? {}) as { dataset?: unknown };
  return typeof dataset === 'string' ? dataset : 'unnamed data';
}

type Config = Record<string, unknown>;

/** Groups runs whose settings are equal but for `seed`, in the order given, and names them by what tells them apart. */
export function groupRuns(runs: readonly RunData[]): RunGroup[] {
  const members = [...groupBy(runs, ({ info }) => settingsKey(info.config)).values()];
  if (members.length === 1) {
    const method = trainedMethodOf(members[0]![0]!.info.config) ?? 'walker';
    return [
      {
        label: nameOf(members[0]!),
        color: agentColors([{ name: method, vivid: true }]).get(method)!,
        runs: members[0]!,
      },
    ];
  }
  const configs = members.map(([run]) => withoutSeed(run!.info.config));
  // Whoever gave settings names of their own (`--set name=`) is taken at their word.
  const names = members.map((group) => [...new Set(group.map(({ info }) => String(info.config.name)))]);
  const isNamed = names.every(({ length }) => length === 1) && new Set(names.flat()).size === names.length;
  const labels = isNamed ? names.flat() : labelsOf(configs);
  const colors = agentColors(labels.map((name) => ({ name, vivid: true })));
  return members.map((group, i) => ({
    label: labels[i]!,
    color: colors.get(labels[i]!)!,
    ...(i >= palette.length && { dashed: true }),
    runs: group,
  }));
}

/** The run's name; of several, without what tells them apart. */
function nameOf([first, ...others]: readonly RunData[]): string {
  const { id } = first!.info;
  return others.length === 0 ? id : plainName(id);
}

/** Settings that have words of their own, in the order in which they are said; an empty one is the plain case, which needs none. */
const settingWords: Readonly<Record<string, (value: string, config: Config) => string>> = {
  'ppo.algorithm': (value, config) => (value === 'undefined' ? '' : algorithmOf(config)),
  'clone.enabled': (value) => (value === 'true' ? 'cloned first' : ''),
  'linkWalk.shaping': (value) => (value === 'none' ? '' : `${value} shaping`),
  'linkWalk.shapingScorer': (value, config) =>
    settingText(config, 'linkWalk.shaping') === 'none' ? '' : `by ${value}`,
  'ppo.actionDropout': (value) => (value === '0' ? '' : `dropout ${value}`),
};

/** `PPO, terminal shaping, dropout 0.5`: the words of what differs, and as many other settings as tell the groups apart. */
function labelsOf(configs: readonly Config[]): string[] {
  const differing = [...new Set(configs.slice(1).flatMap((config) => diffConfig(configs[0], config)))].sort();
  const said = Object.keys(settingWords).filter((key) => key === 'ppo.algorithm' || differing.includes(key));
  const others = differing.filter((key) => !(key in settingWords) && key !== 'name');
  let labels = labelsBy(configs, said);
  for (const key of others) {
    const count = new Set(labels).size;
    if (count === labels.length) break;
    const longer = labelsBy(configs, [...said, key]);
    // What parts no groups that were not apart yet goes with what is said already, as a baseline with its algorithm.
    if (new Set(longer).size === count) continue;
    said.push(key);
    labels = longer;
  }
  return labels;
}

function labelsBy(configs: readonly Config[], keys: readonly string[]): string[] {
  return configs.map((config) =>
    keys
      .map((key) => {
        const value = settingText(config, key);
        return settingWords[key]?.(value, config) ?? `${key.slice(key.lastIndexOf('.') + 1)}=${value}`;
      })
      .filter((word) => word !== '')
      .join(', '),
  );
}

/** A setting by its dotted key, cut to 24 characters. */
export function settingText(config: Config, key: string): string {
  const value = valueAt(config, key);
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, 24);
}

/** The frozen model that a run read its texts by; undefined where walks have no texts. */
export function encoderOf({ info: { config, environment } }: RunData): string | undefined {
  const { model } = (config.encoder ?? {}) as { model?: unknown };
  return typeof model === 'string' && environment.hashes.encoder !== undefined ? model : undefined;
}

/** The seed of a run. */
export function seedOf({ info }: RunData): string {
  return String(info.config.seed ?? '?');
}

/** Groups in the order in which their first members come. */
export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
}
