/** What a report reads of a run folder, and which runs differ in nothing but the seed. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { diffConfig } from '../src/run/config.js';
import { evaluationRecord } from '../src/run/evaluation-schemas.js';
import { readMetrics } from '../src/run/metric-log.js';
import { readJsonFile } from '../src/run/read-json.js';
import type { EvaluationRecord, MetricRecord, RunInfo, TimingRecord } from '../src/run/records.js';
import { runFiles } from '../src/run/run-folder.js';
import { readTimings } from '../src/run/timing-log.js';
import { again, evaluationsOfRun } from './evaluation-data.js';
import type { EvaluationData } from './evaluation-data.js';
import { plainName, settingsKey, withoutSeed } from './run-names.js';

/** Everything of a run folder that a page shows. */
export interface RunData {
  info: RunInfo;
  metrics: MetricRecord[];
  timings: TimingRecord[];
  /** On dialogues. */
  evaluations: EvaluationRecord[];
  /** On questions. */
  answered: EvaluationData[];
}

/** Runs of one configuration, one or more seeds. */
export interface RunGroup {
  /** What sets it apart from the other groups of the report; a single group has its preset's or run's name. */
  label: string;
  runs: RunData[];
}

/** Reads a run; what it has not written yet is empty. @throws {WorkbenchError} `data` for a file that is broken */
export function loadRunData(info: RunInfo): RunData {
  const files = runFiles(info.folder);
  const names = existsSync(files.evaluations) ? readdirSync(files.evaluations).sort() : [];
  const evaluations = names.filter((name) => name.endsWith('.json')).map((name) => join(files.evaluations, name));
  return {
    info,
    metrics: existsSync(files.metrics) ? readMetrics(files.metrics) : [],
    timings: existsSync(files.timing) ? readTimings(files.timing) : [],
    evaluations: evaluations.map((file) => readJsonFile(file, evaluationRecord, 'an evaluation', again)),
    answered: evaluationsOfRun(info, files.evaluations),
  };
}

/** Groups runs whose settings are equal but for `seed`, in the order given. */
export function groupRuns(runs: readonly RunData[]): RunGroup[] {
  const groups = new Map<string, RunData[]>();
  for (const run of runs) {
    const key = settingsKey(run.info.config);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const members = [...groups.values()];
  const configs = members.map(([run]) => withoutSeed(run!.info.config));
  const keys = [...new Set(configs.slice(1).flatMap((config) => diffConfig(configs[0], config)))].sort();
  // Whoever gave settings names of their own (`--set name=`) is taken at their word.
  const named = new Set(configs.map(({ name }) => name)).size === configs.length;
  const label = (i: number) => (named ? String(configs[i]!.name) : labelOf(configs[i]!, keys));
  return members.map((group, i) => ({ runs: group, label: members.length > 1 ? label(i) : nameOf(group) }));
}

/** Whether a run was trained on questions rather than on dialogues. */
export function isOnQuestions({ info: { config }, answered }: RunData): boolean {
  const { id } = (config.env ?? {}) as { id?: string };
  return answered.length > 0 || /^kgwalk\/(Relation|QuestionEdge)Walk/.test(id ?? '');
}

/** The seed of a run. */
export function seedOf({ info }: RunData): string {
  return String(info.config.seed ?? '?');
}

/** The run's name; of several, without what tells them apart. */
function nameOf([first, ...others]: readonly RunData[]): string {
  const { id } = first!.info;
  return others.length === 0 ? id : plainName(id);
}

function labelOf(config: Record<string, unknown>, keys: readonly string[]): string {
  const parts = keys.slice(0, 3).map((key) => {
    const value = key
      .split('.')
      .reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], config);
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `${key.slice(key.lastIndexOf('.') + 1)}=${text.slice(0, 24)}`;
  });
  return parts.join(', ') + (keys.length > parts.length ? ', …' : '');
}
