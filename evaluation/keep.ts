/**
 * Evaluations in separate folders. A name follows from the question and agent, so that the same command finds it again: what a
 * killed one had asked is not asked again, and a finished one can be compared later.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { TraceEvent } from '../agents/question-agent.js';
import type { CallTiming } from '../src/llm/client/ask-model.js';
import { type CompletionStore, openCompletionStore } from '../src/llm/client/completion-store.js';
import { type CallRecord, type ClientSettings, createClients } from '../src/llm/client/create-clients.js';
import type { LanguageModel } from '../src/llm/language-model.js';
import { configHash } from '../src/run/config-values.js';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import {
  checkEvaluationSeal,
  sealEvaluation,
  aboutEvaluation,
  evaluationRecord,
  type EvaluationRecord,
} from '../src/run/evaluation.js';
import { removeLeftovers, writeFileAtomic } from '../src/run/files.js';
import { openCheckedLines, readJsonLines } from '../src/run/json-lines.js';
import { confined, runsFolder } from '../src/run/locations.js';
import { openTimingLog, type TimingLog } from '../src/run/metric-log.js';
import {
  collectProvenance,
  keepProvenance,
  ProvenanceNotes,
  type ProvenanceRecord,
  readProvenance,
} from '../src/run/provenance.js';
import { asWritten, ofShape, openObject, readJsonFile } from '../src/run/read-json.js';
import { evaluationFiles, type EvaluationFiles, runFiles } from '../src/run/run-files.js';
import { lockFolder } from '../src/run/run-lock.js';
import {
  evaluate,
  type EvaluateOptions,
  type Evaluation,
  type EvaluationSubject,
  type KnownRow,
  type Traced,
} from './evaluate.js';
import type { AgentRunner, AskOptions, Attempt, Compared, Measure, Row, Sample, Scorer } from './score.js';
import { checkShard, removeShards, shardFolder, shardsIn } from './shards.js';
import { type EvaluationSpeed, throughputMeter } from './throughput-meter.js';

export { evaluationFiles, type EvaluationFiles };

const text = z.string();

// A replay compares bytes, and the order of these keys shows in them.
const asked = openObject({
  schemaVersion: z.literal(2),
  kind: z.literal('evaluation'),
  task: text,
  /**
   * Name of the agent; of a trained one the checkpoint, and of an evaluation that is not kept in its run's folder the name or folder
   * of the run: see `runOf`.
   */
  agent: text,
  run: text.optional(),
  checkpoint: text.optional(),
  /** Phase of the checkpoint: `best` may be the clone. */
  phase: text.optional(),
  step: z.int().optional(),
  about: aboutEvaluation,
  /** Text vectors as they were asked for: a file, or `hashed:DIM`. */
  encoder: text.optional(),
  /** `LanguageModel.id`. */
  modelId: text.optional(),
  resamples: z.int().min(0),
  /** Samples kept worked out; absent in those of earlier versions. */
  examples: z.int().min(0).optional(),
  hashes: z.record(text, text),
});
/** `asked.json`: everything that decides the result, and what a replay opens. */
export type AskedEvaluation = z.output<typeof asked>;

/** Default folder for evaluations of agents without a run. */
export const evaluationsFolder = (): string => join(runsFolder(), 'evaluations');

/**
 * Where an evaluation is kept: a run's in its folder, `evaluations/valid-best-1a2b3c4d`; of an agent without a run
 * `runs/evaluations/fiske-metaqa-2-hop-dev-valid-1a2b3c4d`. The hash is of all that is asked but not where it lies, nor
 * what its weights imply already.
 * @param root keeps all of them instead
 */
export function evaluationFolder(what: AskedEvaluation, { root, runFolder }: { root?: string; runFolder?: string }) {
  const { agent, checkpoint, about } = what;
  const { run: _run, encoder: _encoder, phase: _phase, step: _step, ...rest } = what;
  // The source of hops follows from the agent, its switches and its choice mode; names of models from where they lie.
  const { hops: _hops, encoder: _name, ...asks } = about;
  const decides = { ...rest, about: asks };
  const { subsets = [], limit } = about as { subsets?: string[]; limit?: number };
  const data = [about.dataset, ...(subsets.length > 3 ? [] : subsets)];
  const split = limit === undefined ? about.split : `${about.split}-limit${limit}`;
  const inRun = runFolder !== undefined && root === undefined;
  const words = inRun ? [split, checkpoint ?? agent] : [agent, ...data, split, ...(checkpoint ? [checkpoint] : [])];
  const safe = words.map((word) => word.replace(/[^\w.@-]+/g, '-'));
  const plain = safe.map((word) => word.replace(/^-+/, '').slice(-60));
  const folder = root ?? (inRun ? runFiles(runFolder).evaluations : evaluationsFolder());
  return resolve(folder, [...plain, configHash(decides).slice(0, 8)].join('-'));
}

/** Identity, inputs and folder of an evaluation. */
export interface KeepOptions<S extends Sample, Answer, R extends Row> extends Pick<
  EvaluateOptions<S, Answer, R>,
  'excluded' | 'examples' | 'onRow' | 'signal'
> {
  asked: AskedEvaluation;
  /** See `evaluationFolder`. */
  folder: string;
  /** Asked by prompted agents; the caller disposes it. */
  model?: LanguageModel | undefined;
  /** Provenance noted while the agent was opened; sources noted while it answers are added. */
  notes?: ProvenanceNotes;
  /** Evaluates every sample and ignores rows of earlier sessions; for callers that need all answers, not only rows. */
  fromScratch?: boolean;
  /** Called after every call of the model, stored ones included. */
  onCall?: (timing: CallTiming) => void;
  /** Called for each log with the number of bytes of a truncated last line that were removed; 0 if it was complete. */
  onTruncatedLog?: (file: string, bytes: number) => void;
}

/** An evaluation that is whole on disk. */
export interface KeptEvaluation<R extends Row> extends Evaluation<R> {
  folder: string;
  /** True if it was begun in an earlier session. */
  resumed: boolean;
  speed: EvaluationSpeed;
}

/** A record of the wall clock after so many samples. */
const savedEvery = 50;

/**
 * Evaluates and saves. An interrupted evaluation resumes: replies of a model are in the store, so no call is repeated,
 * and rows of agents that call no model and do not learn online are kept; everything else is counted again. It resumes from its
 * shards. Equal evaluations are equal bytes, killed, in parts or neither.
 * @throws WorkbenchError `usage` where a prompted agent has no model or another process writes the folder; `stopped` after
 *   saving; see `evaluate` and `checkShard`
 */
export const keepEvaluation = <S extends Sample, Answer, R extends Row>(
  runner: AgentRunner<S['task'], Answer>,
  samples: readonly S[],
  scorer: Scorer<S, Answer, R>,
  { notes = new ProvenanceNotes(), ...options }: KeepOptions<S, Answer, R>,
): Promise<KeptEvaluation<R>> => collectProvenance(notes, () => keepNoted(runner, samples, scorer, options));

async function keepNoted<S extends Sample, Answer, R extends Row>(
  runner: AgentRunner<S['task'], Answer>,
  samples: readonly S[],
  scorer: Scorer<S, Answer, R>,
  options: Omit<KeepOptions<S, Answer, R>, 'notes'>,
): Promise<KeptEvaluation<R>> {
  const { asked: what, folder, model, fromScratch = false, excluded, examples, signal } = options;
  const { onCall, onTruncatedLog, onRow } = options;
  if (runner.prompted && !model) throw noModel(runner.name);
  const files = evaluationFiles(folder);
  const shards = shardsIn(folder).map((shard) => {
    const { folder: place, ...asks } = readAsked(shardFolder(folder, shard));
    checkShard(folder, shard, what, asks);
    return evaluationFiles(place);
  });
  const unlock = lockFolder(folder, 'an evaluation');
  const speed = throughputMeter();
  let timing: TimingLog | undefined;
  let store: CompletionStore | undefined;
  let partial: ReturnType<typeof openCheckedLines> | undefined;
  try {
    removeLeftovers(folder);
    const resumed = existsSync(files.asked);
    const before = resumed ? readAsked(folder) : undefined;
    // `best` of a run that was trained for longer may be another by now: what was begun with the former one is left.
    if (before?.phase !== what.phase || before?.step !== what.step || !before) {
      for (const name of ['evaluation', 'seal', 'partial'] as const) rmSync(files[name], { force: true });
      writeFileAtomic(files.asked, `${JSON.stringify(what, null, 2)}\n`);
    }
    const log = (timing = openTimingLog(files.timing));
    onTruncatedLog?.(files.timing, log.truncatedBytes);
    const known = new Map<string, KnownRow<R>>();
    let ask: Partial<AskOptions> = {};
    if (runner.prompted) {
      store = openCompletionStore(files.completions);
      onTruncatedLog?.(files.completions, store.truncatedBytes);
      for (const { completions } of shards) if (existsSync(completions)) store.takeOver(completions);
      const clients = createClients({
        ...clientSettings(what),
        ...{ model: model!, store, signal },
        onTiming(call) {
          speed.called(call);
          onCall?.(call);
        },
      });
      await clients.prime();
      ask = { openCalls: ({ id }) => clients.clientFor(id), concurrency: model!.concurrency };
    } else if (!runner.online) {
      if (fromScratch) rmSync(files.partial, { force: true });
      const take = (row: KnownRow<R>) => known.set(row.row.id, row);
      for (const shard of fromScratch ? [] : shards) rowsOfShard(shard, scorer.measure, take);
      partial = openPartial(files.partial, scorer.measure, take);
      onTruncatedLog?.(files.partial, partial.truncatedBytes);
    }
    let done = 0;
    const evaluation = await evaluate(runner, samples, scorer, {
      ...{ subject: subjectOf(what), known, excluded, examples, signal, ...ask },
      onPrepared: () => speed.prepared(),
      onRow(row, sample, attempt) {
        speed.answered();
        if (attempt && !known.has(row.id)) partial?.append(partialLine(row, attempt));
        onRow?.(row, sample, attempt);
        if (++done % savedEvery === 0) log.record('evaluate', done, speed.lap());
      },
    });
    log.record('evaluate', done, speed.lap());
    store?.sync();
    keepProvenance(files.provenance);
    saveEvaluation(folder, evaluation, scorer.measure);
    partial?.close();
    partial = undefined;
    rmSync(files.partial, { force: true });
    removeShards(folder);
    return { ...evaluation, folder, resumed, speed: speed.speed() };
  } catch (error) {
    if (!(error instanceof WorkbenchError) || error.code !== 'stopped') throw error;
    const hint = 'Run the same command again: it resumes from there.';
    throw new WorkbenchError('stopped', `stopped; what was asked is saved, at ${folder}`, { hint, cause: error });
  } finally {
    partial?.close();
    store?.close();
    timing?.close();
    unlock();
  }
}

/** Name or folder of the run of an evaluation; undefined for untrained agents. A run's own evaluations are found in its folder after a move. */
export function runOf({ run, checkpoint, folder }: AskedEvaluation & { folder: string }): string | undefined {
  return run ?? (checkpoint === undefined ? undefined : resolve(folder, '../..'));
}

/** Part of an evaluation that a client of a model needs. */
export function clientSettings({
  about,
}: Pick<AskedEvaluation, 'about'>): Pick<ClientSettings, 'budget' | 'budgetMode' | 'choices' | 'seed'> {
  const { budget = null, budgetMode = 'strict', seed = 0, choices } = about;
  return { budget, budgetMode, seed, choices: choices === 'likelihood' ? choices : undefined };
}

/** Fields of the record other than figures. The agent's name is its own: `bilinear` is ComplEx. */
export function subjectOf({ modelId, hashes, agent: _asked, ...rest }: AskedEvaluation): EvaluationSubject {
  return { ...rest, hashes: modelId === undefined ? hashes : { ...hashes, model: modelId } };
}

/** The files of an evaluation as they are compared by replays: no wall clock. The record is written last, after the seal. */
export function saveEvaluation<R extends Row>(
  folder: string,
  { record, rows, traced }: Evaluation<R>,
  { arrow }: Pick<Measure<R>, 'arrow'>,
): void {
  const files = evaluationFiles(folder);
  writeFileAtomic(files.answers, chunksOf(rows.map(rowLine)));
  if (traced.some(({ trace, calls }) => trace.length + calls.length > 0)) {
    writeFileAtomic(files.traces, chunksOf(rows.map(({ id }, i) => traceLine(id, traced[i]!))));
  }
  writeFileAtomic(files.rows, arrow(rows));
  const text = recordText(record);
  sealEvaluation(folder, text);
  writeFileAtomic(files.evaluation, text);
}

/** A line of `answers.jsonl`; NaN and infinities by name, as in all logs. */
export const rowLine = (row: Row): string =>
  `${JSON.stringify(row, (_, value: unknown) => (typeof value === 'number' && !Number.isFinite(value) ? String(value) : value))}\n`;

/** A line of `traces.jsonl`, without its id. */
const tracedLine = z.object({ trace: z.array(z.custom<TraceEvent>()), calls: z.array(z.custom<CallRecord>()) });

/** A row under way: with what the agent did, and the version of the program that counted it. */
const partialRow = tracedLine.extend({ program: text, row: z.unknown(), failure: text.optional() });
const program = kgwalkVersion();

const partialLine = (row: Row, { trace = [], calls = [], failure }: Attempt<unknown>) => ({
  ...{ program, row: JSON.parse(rowLine(row)) as object, trace, calls, failure },
});

type Take<R extends Row> = (known: KnownRow<R>) => void;
type Rows<R extends Row> = Pick<Measure<R>, 'row'>;

/** Opens the rows under way; those that another version of the program counted are asked again. @throws as `openCheckedLines` */
const openPartial = <R extends Row>(file: string, rows: Rows<R>, take: Take<R>, readOnly = false) =>
  openCheckedLines(file, { readOnly }, (line, _, place) => {
    const { program: by, row, failure, ...traced } = ofShape(line, partialRow, { what: 'a row under way', place });
    if (by === program) take({ row: asRow(row, rows, place), traced, failure });
  });

/** A row that is written again: parsing orders keys by the schema, and bytes are to be equal. */
const asRow = <R extends Row>(written: unknown, { row }: Rows<R>, place: string): R =>
  inOrderOf(ofShape(written, row, { what: 'a row of this evaluation', place }), written) as R;

function rowsOfShard<R extends Row>(
  { evaluation, partial, answers, traces }: EvaluationFiles,
  rows: Rows<R>,
  take: Take<R>,
) {
  if (!existsSync(evaluation)) return existsSync(partial) && openPartial(partial, rows, take, true).close();
  checkEvaluationSeal(dirname(answers), ['asked', 'answers', 'traces']);
  const traced = existsSync(traces) ? readJsonLines(traces, tracedLine) : [];
  readJsonLines<unknown>(answers).forEach((row, i) => {
    take({ row: asRow(row, rows, `${answers}:${i + 1}`), traced: traced[i] ?? { trace: [], calls: [] } });
  });
}

/** A value with its keys in the order of another one that has them. */
function inOrderOf(value: unknown, like: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const found = new Map(Object.entries(value));
  return Object.fromEntries(Object.entries(like as object).map(([key, one]) => [key, inOrderOf(found.get(key), one)]));
}

/** A line of `traces.jsonl`. */
export const traceLine = (id: string, { trace, calls }: Traced): string => `${JSON.stringify({ id, trace, calls })}\n`;

/** The text of `evaluation.json`. */
export const recordText = (record: EvaluationRecord): string => `${JSON.stringify(record, null, 2)}\n`;

/** Bytes in pieces of some megabytes: the lines of a large evaluation joined would be one huge string. */
const chunksOf = (lines: readonly string[]): Uint8Array[] =>
  Array.from({ length: Math.ceil(lines.length / 1000) }, (_, i) =>
    Buffer.from(lines.slice(1000 * i, 1000 * (i + 1)).join('')),
  );

/**
 * What an evaluation asked.
 * @param nameOrFolder a folder, or a name inside `root`
 * @throws WorkbenchError `data` when there is no evaluation or its description is broken
 */
export function readAsked(nameOrFolder: string, root = evaluationsFolder()): AskedEvaluation & { folder: string } {
  const isFolder = existsSync(evaluationFiles(nameOrFolder).asked) || /[/\\]/.test(nameOrFolder);
  const folder = resolve(isFolder ? nameOrFolder : confined(root, nameOrFolder));
  const file = evaluationFiles(folder).asked;
  if (!existsSync(file)) {
    throw new WorkbenchError('data', `expected an evaluation, got none, at ${folder}`, {
      hint: `Evaluations lie in ${root}; \`kgwalk evaluate\` says where it saved one.`,
    });
  }
  return { ...readJsonFile(file, asWritten(asked), 'what an evaluation of this version asked'), folder };
}

const recordName = basename(evaluationFiles('').evaluation);

/** The folder of an evaluation, given it, its record's file or its name, begun or finished; undefined where there is none. */
export function foundEvaluation(
  nameOrFolder: string,
  root = evaluationsFolder(),
  which: 'begun' | 'finished' = 'finished',
): string | undefined {
  const file = which === 'begun' ? 'asked' : 'evaluation';
  const name = basename(nameOrFolder) === recordName ? dirname(nameOrFolder) : nameOrFolder;
  return [resolve(name), resolve(root, name)].find((one) => existsSync(evaluationFiles(one)[file]));
}

/** The finished evaluations in a folder, such as a run's `evaluations`, by name. */
export function evaluationsIn(folder: string): { name: string; folder: string; record: EvaluationRecord }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, folder: join(folder, name) }))
    .filter((one) => existsSync(evaluationFiles(one.folder).evaluation))
    .map((one) => ({ ...one, record: readRecord(one.folder) }));
}

function readRecord(folder: string): EvaluationRecord {
  checkEvaluationSeal(folder, ['evaluation']);
  return readJsonFile(evaluationFiles(folder).evaluation, evaluationRecord, 'an evaluation of this version');
}

/** Provenance of an evaluation's agent. */
export function readEvaluationNotes(folder: string): ProvenanceRecord | undefined {
  checkEvaluationSeal(folder, ['provenance']);
  return readProvenance(evaluationFiles(folder).provenance);
}

/** A finished evaluation. @throws WorkbenchError `data` where there is none, or it is not finished */
export function readEvaluation<R extends Row>(
  nameOrFolder: string,
  { row }: Pick<Measure<R>, 'row'>,
  root = evaluationsFolder(),
): Omit<Compared<R>, 'name'> & { folder: string } {
  const { folder } = readAsked(nameOrFolder, root);
  const files = evaluationFiles(folder);
  if (!existsSync(files.evaluation)) throw unfinished(folder);
  checkEvaluationSeal(folder, ['asked', 'answers']);
  return { folder, record: readRecord(folder), rows: readJsonLines(files.answers, row) };
}

/** Error with the way to resume a stopped evaluation. */
export const unfinished = (folder: string): WorkbenchError =>
  new WorkbenchError('data', `expected a finished evaluation, got one that was stopped, at ${folder}`, {
    hint: 'Run the same `kgwalk evaluate` again: it resumes where it stopped.',
  });

function noModel(agent: string): WorkbenchError {
  return new WorkbenchError('usage', `expected a language model for agent ${agent}, got none, at --model`, {
    hint: 'Such as --model FILE.gguf, --model http://HOST:PORT/v1#NAME or --model oracle:0.',
  });
}
