/** What a report reads of a run folder, and which runs differ in nothing but the seed. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { diffConfig } from '../src/run/config.js';
import { evaluationFiles } from '../src/run/run-folder.js';
import { evaluationRecord, questionEvaluationRecord, questionExample } from '../src/run/evaluation-schemas.js';
import { readJsonLines } from '../src/run/json-lines.js';
import type { LinkEvaluationRecord } from '../src/run/link-records.js';
import { linkEvaluationRecord } from '../src/run/link-schemas.js';
import { runsFolder } from '../src/run/locations.js';
import { readMetrics } from '../src/run/metric-log.js';
import type { QuestionExample } from '../src/run/question-records.js';
import { openObject, readJsonFile } from '../src/run/read-json.js';
import type {
  EvaluationRecord,
  MetricRecord,
  QuestionEvaluationRecord,
  RunInfo,
  TimingRecord,
} from '../src/run/records.js';
import { openRun, runFiles } from '../src/run/run-folder.js';
import { readTimings } from '../src/run/metric-log.js';
import { methodOf, plainName, settingsKey, withoutSeed } from './words.js';

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
  /** Wall time a question, preparing included. */
  msPerQuestion: number;
  /** Prompt tokens that were evaluated, and written ones, a second; absent without a model. */
  tokensPerSecond?: number;
}

/** An evaluation as reports read it. */
export interface EvaluationData {
  /** The folder's name. */
  name: string;
  /** A short word for it, where nothing else tells it from another. */
  tag: string;
  record: QuestionEvaluationRecord;
  trained?: TrainedBy;
  /** Equal for evaluations of the same questions. */
  questions: string;
  /** Absent where nothing was timed, or most replies were remembered. */
  speed?: Speed;
  examples: QuestionExample[];
}

/** Reads a finished evaluation. @param trained what the folder itself does not say: a run's own evaluations have no `about.json` */
export function loadEvaluation(folder: string, trained?: TrainedBy, tag = folder.slice(-8)): EvaluationData {
  const files = evaluationFiles(folder);
  const record = readJsonFile(files.evaluation, questionEvaluationRecord, 'an evaluation of questions', again);
  const about = existsSync(files.asked) ? readJsonFile(files.asked, aboutSchema, 'what an evaluation asked') : {};
  const source = trained ?? trainedBy(about);
  const ids = readJsonLines(files.answers, openObject({ id: z.string() })).map(({ id }) => id);
  const speed = existsSync(files.timing) ? speedOf(readTimings(files.timing)) : undefined;
  return {
    name: basename(folder),
    tag,
    record,
    ...(source && { trained: source }),
    questions: createHash('sha256')
      .update(JSON.stringify([record.dataset, record.hashes.graph, ids]))
      .digest('hex'),
    ...(speed && { speed }),
    examples: [],
  };
}

/** The evaluations of questions that lie in a run. */
function evaluationsOfRun({ id, config }: RunInfo, folder: string): EvaluationData[] {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names
    .filter((name) => existsSync(evaluationFiles(join(folder, name)).evaluation))
    .map((name) => {
      const checkpoint = name.slice(name.lastIndexOf('-') + 1);
      return loadEvaluation(join(folder, name), trainedAs(id, config, checkpoint), id);
    });
}

/** What can be done about a record that cannot be read. */
const again = 'Evaluate again, or delete the file.';

/** What is read of `about.json`. */
const aboutSchema = openObject({ run: z.string().optional(), checkpoint: z.string().optional() });
type About = z.output<typeof aboutSchema>;

function trainedAs(id: string, config: RunInfo['config'], checkpoint: string): TrainedBy {
  const method = methodOf(config, checkpoint);
  return { settings: settingsKey(config), label: plainName(id), checkpoint, ...(method !== undefined && { method }) };
}

/** Of a run that is no longer there, its name is all that is known. */
function trainedBy({ run, checkpoint }: About): TrainedBy | undefined {
  if (run === undefined || checkpoint === undefined) return undefined;
  try {
    const { id, config } = openRun(run, runsFolder());
    return trainedAs(id, config, checkpoint);
  } catch {
    return { settings: run, label: plainName(basename(run)), checkpoint };
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
  const questions = sum('questions');
  if (questions === 0) return undefined;
  const tokens = sum('promptTokens') - sum('cachedTokens') + sum('completionTokens');
  return {
    msPerQuestion: (1000 * seconds) / questions,
    ...(sum('asked') > 0 && seconds > 0 && { tokensPerSecond: tokens / seconds }),
  };
}

const kindSchema = openObject({ kind: z.string().optional() });

/** Whether a record on disk is of link queries. */
function isOfLinks(file: string): boolean {
  return readJsonFile(file, kindSchema, 'an evaluation', again).kind === 'links';
}

/** @throws {WorkbenchError} `data` for a file that is broken */
function readLinkEvaluation(file: string): LinkEvaluationRecord {
  return readJsonFile(file, linkEvaluationRecord, 'an evaluation on link queries', again);
}

/** Whether a folder holds an evaluation on link queries, rather than one on questions. */
export function isLinkFolder(folder: string): boolean {
  const { evaluation } = evaluationFiles(folder);
  return existsSync(evaluation) && isOfLinks(evaluation);
}

/** The record of such a folder. @throws {WorkbenchError} `data` for a file that is broken */
export function loadLinkEvaluation(folder: string): LinkEvaluationRecord {
  return readLinkEvaluation(evaluationFiles(folder).evaluation);
}

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
  const members = [...groupBy(runs, ({ info }) => settingsKey(info.config)).values()];
  const configs = members.map(([run]) => withoutSeed(run!.info.config));
  const keys = differingKeys(configs);
  // Whoever gave settings names of their own (`--set name=`) is taken at their word.
  const named = new Set(configs.map(({ name }) => name)).size === configs.length;
  const label = (i: number) => (named ? String(configs[i]!.name) : labelOf(configs[i]!, keys));
  return members.map((group, i) => ({ runs: group, label: members.length > 1 ? label(i) : nameOf(group) }));
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
