/** Reads runs with their logs and evaluations with their timings, and groups runs that differ only in the seed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { deviation as deviationOf } from '../src/metrics/intervals.js';
import { isPlain, settingDifferences, valueAt } from '../src/run/config-values.js';
import { checkEvaluationSeal, evaluationRecord, type EvaluationRecord } from '../src/run/evaluation.js';
import { readJsonLines } from '../src/run/json-lines.js';
import { runsFolder } from '../src/run/locations.js';
import { readMetrics, readTimings } from '../src/run/metric-log.js';
import { openObject, readJsonFile } from '../src/run/read-json.js';
import type { MetricRecord, RunInfo, TimingRecord } from '../src/run/records.js';
import { evaluationFiles, runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import type { Estimate, EvaluationMetrics } from '../src/run/figures.js';
import { agentColors, palette } from './plots/colors.js';
import { meanOf } from './plots/series.js';
import { algorithmOf, kindOf, methodOf, plainName, settingsKey, trainedMethodOf, withoutSeed } from './format.js';

interface TrainedBy {
  /** Equal for runs that differ only in the seed. */
  settings: string;
  /** The run's name without time and seed. */
  label: string;
  checkpoint: string;
  /** Absent for several runs as one, and if the run is missing. */
  seed?: unknown;
  /** Training method, such as `PPO`, and the kind of what was trained; absent if the run is missing. */
  method?: string | undefined;
  kind?: string;
  /** Settings of the run; absent if it is missing. */
  config?: RunInfo['config'];
}

/** Timings from the machine that ran it. */
export interface Speed {
  /** Wall time per sample, preparation included, in milliseconds. */
  msPerSample: number;
  /** Processor time per sample, all threads together, in seconds. */
  cpuPerSample?: number | undefined;
  /** Prompt and completion tokens per second; absent without a model. */
  tokensPerSecond?: number | undefined;
}

/** An evaluation with its timings. */
export interface EvaluationData {
  /** The folder's name. */
  name: string;
  folder: string;
  /** Short word that distinguishes it from another evaluation, if nothing else does. */
  tag: string;
  record: EvaluationRecord;
  trained?: TrainedBy | undefined;
  /** Equal for evaluations of the same samples. */
  samples: string;
  /** Absent if nothing was timed, or most replies came from the cache. */
  speed?: Speed | undefined;
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
  /** Distinguishing settings among the groups on its data; a single group has its preset's or run's name. */
  label: string;
  /** Palette colour in every chart. */
  color: string;
  /** Set once colours run out. */
  dashed?: boolean | undefined;
  runs: RunData[];
}

/** Runs on one data set: curves of two data sets never share a chart. */
export type Subject = { dataset: string; groups: RunGroup[] };

/** Reads a run; files not written yet are empty. @throws {WorkbenchError} `data` for a broken file */
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
 * @param run run whose folder holds it, also the evaluated run unless the record names several; default: read from that folder
 * @throws {WorkbenchError} `data` for a broken file
 */
export function loadEvaluation(folder: string, run?: RunInfo): EvaluationData {
  const files = evaluationFiles(folder);
  checkEvaluationSeal(folder, ['evaluation', 'answers']);
  const hint = 'Evaluate again, or delete the folder.';
  const record = readJsonFile(files.evaluation, evaluationRecord, 'an evaluation', hint);
  const { task, dataset, graph, split, hashes, checkpoint } = record;
  const ids = existsSync(files.answers)
    ? readJsonLines(files.answers, openObject({ id: z.string() })).map(({ id }) => id)
    : [record.n, record.limit, record.seed];
  const speed = existsSync(files.timing) ? speedOf(readTimings(files.timing)) : undefined;
  // An ensemble `RUN+RUN` or `RUN,RUN` belongs to none of its runs; its evaluation may be stored in any of them.
  const by =
    record.run !== undefined && /[+,]/.test(record.run)
      ? record.run
      : (run ?? record.run ?? dirname(dirname(resolve(folder))));
  const of = [task, dataset, graph, split, hashes.graph, hashes.dataset, ids];
  return {
    name: basename(folder),
    folder,
    tag: run?.id ?? folder.slice(-8),
    record,
    trained: checkpoint === undefined ? undefined : trainedBy(by, checkpoint, record.phase),
    samples: createHash('sha256').update(JSON.stringify(of)).digest('hex'),
    speed,
  };
}

/** Only the name of a missing run is known. */
function trainedBy(run: RunInfo | string, checkpoint: string, phase: string | undefined): TrainedBy {
  try {
    const { id, config } = typeof run === 'string' ? openRun(run, runsFolder()) : run;
    const method = methodOf(config, checkpoint, phase);
    const label = plainName(id);
    return {
      settings: settingsKey(config),
      label,
      checkpoint,
      seed: config.seed,
      method,
      kind: kindOf(config),
      config,
    };
  } catch {
    return { settings: String(run), label: plainName(basename(String(run))), checkpoint };
  }
}

/** Time of laps with real model calls: laps that a resumed evaluation took from its store would distort it. */
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
    cpuPerSample: sum('cpu_ms') > 0 ? sum('cpu_ms') / 1000 / samples : undefined,
    tokensPerSecond: sum('asked') > 0 && seconds > 0 ? tokens / seconds : undefined,
  };
}

/** Runs by data set, each in groups whose settings differ only in `seed`, in the given order. */
export function subjectsOf(runs: readonly RunData[]): Subject[] {
  const byDataset = Map.groupBy(runs, ({ info }) => datasetOf(info));
  return [...byDataset].map(([dataset, some]) => ({ dataset, groups: groupRuns(some) }));
}

/** Training data set of a run from its settings; for a policy, its environment. */
export function datasetOf({ config }: Pick<RunInfo, 'config'>): string {
  if (config.policy !== undefined) return String((config.env as { id?: unknown }).id);
  const { dataset } = (config.data ?? {}) as { dataset?: unknown };
  return typeof dataset === 'string' ? dataset : 'unnamed data';
}

type Config = Record<string, unknown>;

/** Groups runs whose settings differ only in `seed`, in the given order, named by their differences. */
export function groupRuns(runs: readonly RunData[]): RunGroup[] {
  const members = [...Map.groupBy(runs, ({ info }) => settingsKey(info.config)).values()];
  if (members.length === 1) {
    const method = trainedMethodOf(members[0]![0]!.info.config) ?? 'walker';
    const color = agentColors([{ name: method, vivid: true }]).get(method)!;
    const { id } = members[0]![0]!.info;
    return [{ label: members[0]!.length === 1 ? id : plainName(id), color, runs: members[0]! }];
  }
  const configs = members.map(([run]) => withoutSeed(run!.info.config));
  // Names given by the user (`--set name=`) are kept.
  const names = members.map((group) => [...new Set(group.map(({ info }) => String(info.config.name)))]);
  const isNamed = names.every(({ length }) => length === 1) && new Set(names.flat()).size === names.length;
  const labels = isNamed ? names.flat() : labelsOf(configs);
  const colors = agentColors(labels.map((name) => ({ name, vivid: true })));
  return members.map((group, i) => ({
    label: labels[i]!,
    color: colors.get(labels[i]!)!,
    dashed: i >= palette.length || undefined,
    runs: group,
  }));
}

/** Settings with words, in display order; the empty word is the default case. */
const settingWords: Readonly<Record<string, (value: string, config: Config) => string>> = {
  'ppo.algorithm': (value, config) => (value === 'none' ? '' : (trainedMethodOf(config) ?? algorithmOf(config))),
  'clone.enabled': (value) => (value === 'true' ? 'cloned first' : ''),
  'linkWalk.shaping': (value) => (value === 'none' ? '' : `${value} shaping`),
  'linkWalk.shapingScorer': (value, config) =>
    settingText(config, 'linkWalk.shaping') === 'none' ? '' : `by ${value}`,
  'ppo.actionDropout': (value) => (value === '0' ? '' : `dropout ${value}`),
};

/**
 * Name of a group such as `PPO, terminal shaping, dropout 0.5`: words of the differing settings, and as many other
 * settings as needed to distinguish groups.
 */
function labelsOf(configs: readonly Config[]): string[] {
  const differing = settingDifferences(configs).map(({ key }) => key);
  const said = Object.keys(settingWords).filter((key) => key === 'ppo.algorithm' || differing.includes(key));
  const others = differing.filter((key) => !(key in settingWords) && key !== 'name');
  let labels = labelsBy(configs, said);
  for (const key of others) {
    const count = new Set(labels).size;
    if (count === labels.length) break;
    const longer = labelsBy(configs, [...said, key]);
    // Settings that separate no further groups, such as a baseline that follows from the algorithm, are left out.
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

/** A setting by its dotted key, cut to 24 characters; of a section its kind. */
export function settingText(config: Config, key: string): string {
  const value = valueAt(config, key) ?? 'none';
  const text = isPlain(value) ? (value.kind ?? 'set') : value;
  return (typeof text === 'object' ? JSON.stringify(text) : String(text)).slice(0, 24);
}

/** Frozen text encoder of a run; undefined if walks have no texts. */
export function encoderOf({ info: { config, environment } }: RunData): string | undefined {
  const { model } = (config.encoder ?? {}) as { model?: unknown };
  return typeof model === 'string' && environment.hashes.encoder !== undefined ? model : undefined;
}

export const seedOf = ({ info }: RunData): string => String(info.config.seed ?? '?');

/** A figure averaged over seeds; its interval is over samples, averaged likewise. Fractions in [0, 1]. */
export interface Mean extends Estimate {
  /** Standard deviation over seeds; absent for one. */
  deviation?: number;
}

/** Figures by the name of their metric. */
export type Figures = Readonly<Record<string, Mean>>;

/** Creates a record without prototype: keys come from data and may equal names of object members. */
export function namedBy<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = Object.create(null) as Record<string, T>;
  for (const [name, value] of entries) record[name] = value;
  return record;
}

/** Means over evaluations, for figures that all of them have. */
export function average(all: readonly EvaluationMetrics[]): Figures {
  const keys = Object.keys(all[0] ?? {}).filter((key) => all.every((metrics) => Object.hasOwn(metrics, key)));
  return namedBy(
    keys.map((key): [string, Mean] => {
      const figures = all.map((metrics) => metrics[key]!);
      const mean = (part: 'value' | 'low' | 'high') => meanOf(figures.map((figure) => figure[part]));
      const deviation = deviationOf(figures.map(({ value }) => value));
      const figure = { value: mean('value'), low: mean('low'), high: mean('high'), n: figures[0]!.n };
      return [key, figures.length > 1 ? { ...figure, deviation } : figure];
    }),
  );
}

/** Means per slice over the evaluations that have it. */
export function averageSlices(
  all: readonly { slices: Readonly<Record<string, EvaluationMetrics>> }[],
): Record<string, Figures> {
  const names = [...new Set(all.flatMap(({ slices }) => Object.keys(slices)))];
  const of = (name: string) => all.flatMap(({ slices }) => (Object.hasOwn(slices, name) ? [slices[name]!] : []));
  return namedBy(names.map((name): [string, Figures] => [name, average(of(name))]));
}
