/** What a report reads of an evaluation of questions: its record, its worked examples, and how long it took. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { evaluationFiles } from '../src/run/evaluation-files.js';
import { questionEvaluationRecord, questionExample } from '../src/run/evaluation-schemas.js';
import { readJsonLines } from '../src/run/json-lines.js';
import { runsFolder } from '../src/run/locations.js';
import type { QuestionExample } from '../src/run/question-records.js';
import { openObject, readJsonFile } from '../src/run/read-json.js';
import type { QuestionEvaluationRecord, RunInfo, TimingRecord } from '../src/run/records.js';
import { openRun } from '../src/run/run-folder.js';
import { readTimings } from '../src/run/timing-log.js';
import { methodOf } from './agent-names.js';
import { plainName, settingsKey } from './run-names.js';

/** How a trained agent came to be. */
export interface TrainedBy {
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
  const about = existsSync(files.about) ? readJsonFile(files.about, aboutSchema, 'what an evaluation asked') : {};
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
    examples: existsSync(files.examples) ? readJsonLines(files.examples, questionExample) : [],
  };
}

/** The evaluations of questions that lie in a run. */
export function evaluationsOfRun({ id, config }: RunInfo, folder: string): EvaluationData[] {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names
    .filter((name) => existsSync(evaluationFiles(join(folder, name)).evaluation))
    .map((name) => {
      const checkpoint = name.slice(name.lastIndexOf('-') + 1);
      return loadEvaluation(join(folder, name), trainedAs(id, config, checkpoint), id);
    });
}

/** What can be done about a record that cannot be read. */
export const again = 'Evaluate again, or delete the file.';

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
