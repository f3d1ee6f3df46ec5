/** What a report reads of a run folder, and which runs differ in nothing but the seed. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { diffConfig } from '../src/run/config.js';
import { evaluationRecord } from '../src/run/evaluation-schemas.js';
import { readMetrics } from '../src/run/metric-log.js';
import type { LinkEvaluationRecord } from '../src/run/link-records.js';
import { readJsonFile } from '../src/run/read-json.js';
import type { EvaluationRecord, MetricRecord, RunInfo, TimingRecord } from '../src/run/records.js';
import { runFiles } from '../src/run/run-folder.js';
import { readTimings } from '../src/run/timing-log.js';
import { again, evaluationsOfRun } from './evaluation-data.js';
import type { EvaluationData } from './evaluation-data.js';
import { isOfLinks, readLinkEvaluation } from './link-data.js';
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
  /** On link queries. */
  linked: LinkEvaluationRecord[];
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
  const all = names.filter((name) => name.endsWith('.json')).map((name) => join(files.evaluations, name));
  const ofLinks = new Set(all.filter(isOfLinks));
  return {
    info,
    metrics: existsSync(files.metrics) ? readMetrics(files.metrics) : [],
    timings: existsSync(files.timing) ? readTimings(files.timing) : [],
    evaluations: all
      .filter((file) => !ofLinks.has(file))
      .map((file) => readJsonFile(file, evaluationRecord, 'an evaluation', again)),
    answered: evaluationsOfRun(info, files.evaluations),
    linked: [...ofLinks].map(readLinkEvaluation),
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
  const keys = differingKeys(configs);
  // Whoever gave settings names of their own (`--set name=`) is taken at their word.
  const named = new Set(configs.map(({ name }) => name)).size === configs.length;
  const label = (i: number) => (named ? String(configs[i]!.name) : labelOf(configs[i]!, keys));
  return members.map((group, i) => ({ runs: group, label: members.length > 1 ? label(i) : nameOf(group) }));
}

/** What runs are trained on. */
export type RunKind = 'dialogues' | 'questions' | 'links';

/** What a run was trained on, by its environment or by what it was evaluated on. */
export function kindOf({ info: { config }, answered, linked }: RunData): RunKind {
  const { id = '' } = (config.env ?? {}) as { id?: string };
  if (linked.length > 0 || id.startsWith('kgwalk/LinkQuery')) return 'links';
  return answered.length > 0 || /^kgwalk\/(Relation|QuestionEdge)Walk/.test(id) ? 'questions' : 'dialogues';
}

/** The frozen model that a run reads its texts by; undefined where walks have no texts. */
export function encoderOf(run: RunData): string | undefined {
  const { model } = (run.info.config.encoder ?? {}) as { model?: unknown };
  return typeof model === 'string' && kindOf(run) !== 'links' ? model : undefined;
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

/** Dotted keys of the settings in which some configurations differ, ascending. */
export function differingKeys(configs: readonly Record<string, unknown>[]): string[] {
  return [...new Set(configs.slice(1).flatMap((config) => diffConfig(configs[0], config)))].sort();
}

/** A setting as labels and tables write it. */
export function settingText(config: Record<string, unknown>, key: string): string {
  const value = key
    .split('.')
    .reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], config);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.slice(0, 24);
}

function labelOf(config: Record<string, unknown>, keys: readonly string[]): string {
  const parts = keys.slice(0, 3).map((key) => `${key.slice(key.lastIndexOf('.') + 1)}=${settingText(config, key)}`);
  return parts.join(', ') + (keys.length > parts.length ? ', …' : '');
}
