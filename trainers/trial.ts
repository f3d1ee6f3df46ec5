/** Trial of a training: a second of each phase in a temporary folder, and what the whole run would take. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resourceUsage } from 'node:process';
import { distinctTexts, type StateEncoder } from '../src/encoder/state-encoder.js';
import { temporaryFolder } from '../src/run/files.js';
import { usedCpu } from '../src/run/metric-log.js';
import { type ProgressReporter, silentProgress } from '../src/run/progress.js';
import { Rng } from '../src/run/seeds.js';
import type { TaskTrainer } from './task-trainer.js';
import type { RunSettings } from './run-settings.js';
import { type TrainOptions, trainRun } from './train.js';

/** Settings and start of the tried run. */
export interface TrialOptions<Settings extends RunSettings = RunSettings> extends Pick<
  TrainOptions<Settings>,
  'settings' | 'fork' | 'threads' | 'signal'
> {
  /** Encodes all texts instead of a sample, with these progress lines, and takes one step a phase; the vectors stay in the cache. */
  encodeAll?: ProgressReporter;
}

/** One kind of work; times in seconds. */
interface TrialPhase {
  phase: string;
  /** Steps of the whole run. */
  steps: number;
  unit: string;
  secondsPerStep: number;
  seconds: number;
}

/** Cost of the whole run; evaluations that patience saves are included. */
export interface TrialReport {
  /** Notices about the data. */
  notes: string[];
  /** Backend and the reason for it. */
  networks: string;
  phases: TrialPhase[];
  seconds: number;
  /** Distinct texts of the trial, those of them that no cache held, and seconds for one of these. */
  texts: { encoder: string; asked: number; missing: number; secondsPerText: number };
  /** Largest resident set of this process so far. */
  memoryBytes: number;
  /** Files of the trial. */
  diskBytes: number;
}

/**
 * Trains each phase for a second, but at least two steps, on all data, removes every file and extrapolates.
 * @throws WorkbenchError as training would for inputs that do not fit, `stopped` once the signal is aborted
 */
export async function trial(learning: TaskTrainer, { encodeAll, ...options }: TrialOptions): Promise<TrialReport> {
  const place = temporaryFolder('trial');
  const folder = join(place, 'run');
  const meter = new Meter(encodeAll);
  const notes: string[] = [];
  let networks = '';
  try {
    await trainRun(learning, {
      ...options,
      folder,
      progress: meter.progress,
      onNote: (line) => notes.push(line),
      onBackend: (name, why) => (networks = `${name}: ${why}`),
      trial: {
        isEnough: () => encodeAll !== undefined || meter.isEnough(),
        folder: join(place, 'embeddings'),
        encoder: (encoder) => (encodeAll ? meter.watched(encoder) : meter.sampled(encoder)),
        evaluation: (evaluate) => meter.evaluation(evaluate),
      },
    });
    const phases = meter.phases(learning, options.settings);
    return {
      notes,
      networks,
      phases,
      seconds: phases.reduce((sum, { seconds }) => sum + seconds, 0),
      texts: meter.texts,
      memoryBytes: resourceUsage().maxRSS * 1024,
      diskBytes: bytesBelow(place),
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Thrown by the progress line of an evaluation that was measured long enough. */
const measured = new Error('measured');
/** Seconds of an evaluation before it is cut. */
const evaluationSeconds = 0.5;
/** Seconds of the steps of a phase after its first: of the processor, or at most by the clock on a busy machine. */
const phaseSeconds = { cpu: 1, clock: 5 };

/** Seconds that may be spent on encoding samples of texts. */
const encodingSeconds = 20;
/** Neighbouring texts of a sample, which may share their beginnings, and places of such texts in a call. */
const sampleSize = { neighbours: 8, places: 3 };

/** Steps done, by the clock and by the time of the processor. */
type Moment = { done: number; at: number; cpu: number };

/** A progress line; times in seconds. */
interface Line {
  label: string;
  total: number;
  unit: string;
  before: number;
  opened: number;
  first?: Moment;
  last?: Moment;
  ended?: number;
  /** Label of the training line before it. */
  within: string;
}

/** Times progress lines by a clock that runs as if every text were encoded. */
class Meter {
  texts = { encoder: 'none', asked: 0, missing: 0, secondsPerText: 0 };
  readonly #lines: Line[] = [];
  readonly #begun = performance.now();
  /** Seconds that texts would have taken, without those that samples took. */
  #unspent = 0;
  /** Seconds of evaluations, which no step includes. */
  #evaluated = 0;

  /** @param encoding reporter of the lines of texts */
  constructor(readonly encoding: ProgressReporter = silentProgress) {}

  #now(): number {
    return (performance.now() - this.#begun) / 1000 + this.#unspent;
  }

  /** True once the steps of the present phase after its first took long enough. */
  isEnough(): boolean {
    const { first, last } = this.#lines.findLast(isTraining) ?? {};
    if (!first || !last) return false;
    return last.cpu - first.cpu >= phaseSeconds.cpu || last.at - first.at >= phaseSeconds.clock;
  }

  /** Measures the first evaluation of a phase, in part; leaves out the others. */
  async evaluation(evaluate: () => Promise<Record<string, number>>): Promise<Record<string, number>> {
    const begun = this.#now();
    const isFirst = isTraining(this.#lines.at(-1)!);
    const figures =
      isFirst &&
      (await evaluate().catch((error: unknown) => {
        if (error !== measured) throw error;
      }));
    this.#evaluated += this.#now() - begun;
    return figures || { 'eval/cut': 0 };
  }

  readonly progress: ProgressReporter = (label, total, unit, before = 0) => {
    const training = this.#lines.findLast(isTraining);
    const isEvaluation = !isTraining({ label });
    const clock = () => this.#now() - (isEvaluation ? 0 : this.#evaluated);
    const within = isEvaluation && training ? training.label : label;
    const line: Line = { label, total, unit, before, opened: clock(), within };
    this.#lines.push(line);
    const shown = (label.startsWith('encode') ? this.encoding : silentProgress)(label, total, unit, before);
    return {
      update: (done, note) => {
        shown.update(done, note);
        const at = clock();
        const { last, opened } = line;
        // The samples of a batch are shown one after the other: a pause ends it.
        const pauses = last && at - last.at > (last.at - opened) / 100;
        if (isEvaluation && pauses && last.at - opened > evaluationSeconds) throw measured;
        line.last = { done, at, cpu: usedCpu() / 1000 };
        line.first ??= line.last;
      },
      finish: () => {
        shown.finish();
        line.ended = clock();
      },
    };
  };

  /** Work of the whole run, line by line; `start` is what no line shows, such as reading data and writing checkpoints. */
  phases(learning: TaskTrainer, settings: RunSettings): TrialPhase[] {
    const total = this.#now();
    const trained = this.#lines.findLast(isTraining);
    let shown = 0;
    const phases = this.#lines.map((line): TrialPhase => {
      const { label, unit, within, opened, first, last, ended } = line;
      shown += (ended ?? last?.at ?? opened) - opened;
      const secondsPerStep = secondsPerStepOf(line);
      if (within === label) {
        const isWhole = last?.done === line.total && first === last;
        const seconds = isWhole ? ended! - opened : secondsPerStep * line.total;
        return { phase: label, steps: line.total, unit, secondsPerStep, seconds };
      }
      const parent = this.#lines.find((one) => one.label === within)!;
      // The best checkpoint is evaluated once more.
      const times = evaluationsOf(within, parent.total, settings, learning) + Number(within === trained?.label);
      const steps = times * line.total;
      return { phase: `${within}: ${label}`, steps, unit, secondsPerStep, seconds: steps * secondsPerStep };
    });
    const start = Math.max(0, total - shown);
    return [{ phase: 'start', steps: 1, unit: '', secondsPerStep: start, seconds: start }, ...phases];
  }

  /** Encodes everything. */
  watched(encoder: StateEncoder): StateEncoder {
    const encode: StateEncoder['encode'] = async (texts, options) => {
      const encoded = await encoder.encode(texts, options);
      const { cacheHits, encodes: missing, seconds } = encoder.counters;
      const secondsPerText = seconds / Math.max(1, missing);
      this.texts = { encoder: encoder.name, asked: missing + cacheHits, missing, secondsPerText };
      return encoded;
    };
    return { ...encoder, encode };
  }

  /** Encodes a few new texts of each call; vectors are noise. */
  sampled(encoder: StateEncoder): StateEncoder {
    const { dim, counters } = encoder;
    const rng = Rng.named(0, 'trial/noise');
    const noise = Float32Array.from({ length: 65_521 }, () => (rng.uniform() - 0.5) / Math.sqrt(dim / 12));
    const asked = new Set<string>();
    this.texts.encoder = encoder.name;
    let spent = 0;
    let rate = 0;
    let whole = 0;
    const encode: StateEncoder['encode'] = async (texts, options = {}) => {
      const { onProgress, ...others } = options;
      const { distinct, rows } = distinctTexts(texts);
      const held = encoder.held(distinct, options);
      const known = asked.size;
      const fresh = distinct.filter((text, i) => {
        const key = `${options.maxTokens} ${text}`;
        return !held[i] && !asked.has(key) && asked.add(key);
      });
      this.texts.asked += distinct.length;
      this.texts.missing += asked.size - known;
      if (fresh.length > 0 && spent < encodingSeconds) {
        const before = performance.now();
        const { seconds, encodes } = counters;
        await encoder.encode(neighboursOf(fresh), others);
        const own = (performance.now() - before) / 1000;
        spent += own;
        this.#unspent -= own;
        rate = (counters.seconds - seconds) / Math.max(1, counters.encodes - encodes);
      }
      this.#unspent += fresh.length * rate;
      whole += fresh.length * rate;
      this.texts.secondsPerText = whole / Math.max(1, this.texts.missing);
      onProgress?.(distinct.length, distinct.length, 0, 0);
      const matrix = new Float32Array(distinct.length * dim).map((_, i) => noise[i % noise.length]!);
      return { matrix, rows, dim };
    };
    return { ...encoder, encode };
  }
}

const isTraining = ({ label }: Pick<Line, 'label'>): boolean => !label.startsWith('evaluate');

/**
 * Between the first and the last step shown; since the line was opened for a single one, and for evaluations, which show the
 * samples of a batch at its end.
 */
function secondsPerStepOf({ label, within, before, opened, first, last }: Line): number {
  if (!first || !last) return 0;
  const [begin, at] = first.done < last.done && within === label ? [first.done, first.at] : [before, opened];
  return (last.at - at) / Math.max(1, last.done - begin);
}

function evaluationsOf(phase: string, steps: number, settings: RunSettings, learning: TaskTrainer): number {
  const { clone, ppo } = settings;
  if (phase === 'clone') return clone.epochs;
  if (phase === 'ppo') return Math.ceil(steps / ppo.evalEvery);
  return learning.methodOf(settings).fitEvaluations?.(settings) ?? 1;
}

function neighboursOf(texts: readonly string[]): string[] {
  const { neighbours, places } = sampleSize;
  if (texts.length <= neighbours * places) return [...texts];
  const gap = Math.floor((texts.length - neighbours) / (places - 1));
  return Array.from({ length: places }, (_, i) => texts.slice(i * gap, i * gap + neighbours)).flat();
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
