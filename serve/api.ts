/** JSON types of the live page, shared by the server and the page's scripts. Types only. */
import type { PlotEstimate } from '../reports/plots/plot.js';
import type { LoggedMetrics, Timing } from '../reports/plots/series.js';

/** A run in the list. */
export interface RunSummary {
  key: string;
  /** The folder's name. */
  id: string;
  /** Its name without time and seed, shared by the seeds of one setting. */
  label: string;
  /** Equal for runs that differ only in the seed. */
  group: string;
  /** `stale`: recorded as `running` but no process holds it (it was killed). `broken`: cannot be read. */
  state: 'running' | 'stale' | 'stopped' | 'failed' | 'finished' | 'broken';
  /** Reason if it failed or cannot be read. */
  reason?: string;
  /** The current or last phase. */
  phase?: string;
  /** Optimiser of its `ppo` phase, if it has one. */
  algorithm?: string;
  /** PPO updates in its settings. */
  updates?: number;
  seed?: number;
  dataset?: string;
  /** ISO 8601, UTC. */
  started?: string;
  /** Key of its sweep. */
  within?: string;
}

/** Payloads of `/api/live` by event name. */
export interface LiveEvents {
  list: { runs: RunSummary[] };
  log:
    | { run: string; log: 'metrics'; reset: boolean; records: LoggedMetrics[] }
    | { run: string; log: 'timing'; reset: boolean; records: Timing[] };
  'caught-up': object;
  trouble: { run: string; log: string; message: string };
}

/** A setting that differs between runs, with one value per run; null if a run lacks it. */
export type SettingDifference = { key: string; values: (string | null)[] };

/** A table as the report shows it: texts with quiet lines below them. */
export interface ShownTable {
  head: string[];
  rows: { cells: ShownCell[]; own?: boolean }[];
}

/** @property kind of a difference that is none by chance */
type ShownCell = { text: string; details?: string[]; kind?: 'better' | 'worse' | undefined };

/** Display of a figure; see `src/run/figures.ts`. */
export interface ShownFigure {
  key: string;
  title: string;
  unit: '%' | 'mean' | 'calls' | 'number';
  better: 'high' | 'low';
  place?: 'main' | 'table' | undefined;
}

/** A figure with its 95 % interval; rates are fractions. */
export type ShownEstimate = PlotEstimate & { n: number };

/** One agent of a set. */
export interface ShownRow {
  label: string;
  aside: readonly string[];
  /** True if a run trained it. */
  own: boolean;
  seeds: number;
  /** Keys of the averaged evaluations. */
  evaluations: string[];
  metrics: Readonly<Record<string, ShownEstimate>>;
  /** Mean costs per sample, such as calls. */
  cost: Record<string, number>;
  examples: number;
}

/** Agents on the same samples. */
export interface ShownSet {
  title: string;
  /** Equal for sets of the same samples. */
  samples: string;
  task: string;
  dataset: string;
  simulated?: string;
  figures: ShownFigure[];
  rows: ShownRow[];
  /** Heading, table and caption of the report. */
  shown: { heading: string; table: ShownTable; caption: string };
}

/** A worked example; see `src/run/evaluation.ts`. */
export interface ShownExample {
  id: string;
  /** Lines of a dialogue as `user: …`, a question, or a query. */
  asked: string[];
  gold: string[];
  /** Best first. */
  answers: { text: string; score?: string | undefined; right?: boolean | undefined }[];
  right: boolean;
  /** In words. */
  verdict: string;
  lines?: string[] | undefined;
  /** SVG of the walks; empty if there are none. */
  drawing: string;
}

/** Content of a table or of lines. */
export interface ShownSection {
  title: string;
  lines?: string[] | undefined;
  rows?: Record<string, string | number | undefined>[] | undefined;
}

/** An answer to a custom question. */
export interface Answered {
  /** Output of `kgwalk ask --json`. */
  answer: unknown;
  /** Output of `kgwalk ask`. */
  sections: ShownSection[];
  /** Time taken; the first question to a checkpoint also loads it. */
  milliseconds: number;
  /** SVG of the walks, if the answer has any. */
  drawing?: string;
}

/** Suggestions of the form for questions to a run. */
export interface Suggestions {
  /** From the valid split of its data set, by field. */
  examples: readonly Readonly<Partial<Record<string, string>>>[];
  /** Those that a query may name; empty if its questions name none. */
  relations: readonly string[];
}

/** Details of a run. */
export interface ShownRun {
  id: string;
  state: { status: string; phase?: string | undefined; reason?: string | undefined };
  /** Every setting by its dotted name. */
  settings: Record<string, string>;
  started: string;
  versions: Record<string, string>;
  backend?: string | undefined;
  /** Names of checkpoints: best, last and clone if present, then each step, latest first. */
  checkpoints: string[];
  /** Inputs of `ask`: field names, and whether a start entity is one of them. */
  asked: { words: readonly string[]; start: boolean };
}

/** A paired difference over the same samples. */
export type ShownDifference = ShownEstimate & { pValue: number };

/** Agents tested against a reference. */
export interface ShownComparison {
  against: { key: string; name: string };
  n: number;
  clusters: string;
  figures: ShownFigure[];
  comparisons: {
    agent: string;
    against: string;
    differences: Record<string, ShownDifference>;
    slices?: Record<string, Record<string, ShownDifference>>;
  }[];
  /** The comparisons as a table. */
  table: ShownTable;
}
