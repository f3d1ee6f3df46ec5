/** What the page is told, as JSON: types alone, which the program and the page's scripts share. */

/** A run in the list. */
export interface RunSummary {
  key: string;
  /** The folder's name. */
  id: string;
  /** Its name without time and seed: what seeds of one setting share. */
  label: string;
  /** Equal for runs that differ in nothing but the seed. */
  group: string;
  /** `stale` says `running` but no process holds it: it was killed. `broken` cannot be read. */
  state: 'running' | 'stale' | 'stopped' | 'failed' | 'finished' | 'broken';
  /** Why it failed or cannot be read. */
  reason?: string;
  /** The phase that is running, or ran last. */
  phase?: string;
  /** Updates of PPO that its settings ask for. */
  updates?: number;
  seed?: number;
  dataset?: string;
  /** ISO 8601, UTC. */
  started?: string;
  /** Key of the sweep that it belongs to. */
  within?: string;
}

/** A record of `metrics.jsonl`, where null stands for what is not finite. */
export interface LoggedMetrics {
  phase: string;
  step: number;
  metrics: Readonly<Record<string, number | null>>;
}

/** A record of `timing.jsonl`. */
export interface LoggedTime {
  phase: string;
  step: number;
  /** Since the previous record of the phase. */
  seconds: number | null;
  'time/env_steps'?: number;
}

/** The data of the events of `/api/live`, by their name. */
export interface LiveEvents {
  list: { runs: RunSummary[] };
  log:
    | { run: string; log: 'metrics'; afresh: boolean; records: LoggedMetrics[] }
    | { run: string; log: 'timing'; afresh: boolean; records: LoggedTime[] };
  'caught-up': object;
  trouble: { run: string; log: string; message: string };
}

/** A setting that runs do not share; a value for each run, null where it has no such setting. */
export interface SettingDifference {
  key: string;
  values: (string | null)[];
}

/** How a figure of an evaluation is shown; see `src/run/figures.ts`. */
export interface ShownFigure {
  key: string;
  title: string;
  unit: '%' | 'mean' | 'calls' | 'number';
  better: 'high' | 'low';
  place?: 'main' | 'table' | undefined;
}

/** A figure with its 95 % interval; rates are fractions. */
export interface ShownEstimate {
  value: number;
  low: number;
  high: number;
  n: number;
}

/** One agent of a set. */
export interface ShownRow {
  label: string;
  aside: readonly string[];
  /** Whether a run trained it. */
  own: boolean;
  seeds: number;
  /** Keys of the evaluations that were averaged. */
  evaluations: string[];
  metrics: Readonly<Record<string, ShownEstimate>>;
  /** Calls and the like of a sample, means. */
  cost: Record<string, number>;
  /** How many samples were worked out. */
  examples: number;
}

/** Agents on the same samples. */
export interface ShownSet {
  title: string;
  /** Equal for sets of the same samples. */
  samples: string;
  task: string;
  simulated?: string;
  figures: ShownFigure[];
  rows: ShownRow[];
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
  lines?: string[] | undefined;
  /** SVG of the walks; empty where there are none. */
  drawing: string;
}

/** What a table or some lines say. */
export interface ShownSection {
  title: string;
  lines?: string[] | undefined;
  rows?: Record<string, string | number | undefined>[] | undefined;
}

/** An answer to a question of one's own. */
export interface Answered {
  /** As `kgwalk ask --json` prints it. */
  answer: unknown;
  /** As `kgwalk ask` prints it. */
  sections: ShownSection[];
  /** What it took; the first question to a checkpoint loads it. */
  milliseconds: number;
  /** SVG of the walks, where the answer has some. */
  drawing?: string;
}

/** A run by itself. */
export interface ShownRun {
  id: string;
  state: { status: string; phase?: string | undefined; reason?: string | undefined };
  /** Every setting by its dotted name. */
  settings: Record<string, string>;
  started: string;
  versions: Record<string, string>;
  backend?: string | undefined;
  /** Names of checkpoints: best, last, clone where there are such, then each, latest first. */
  checkpoints: string[];
  /** What it is asked: names of the words, and whether a start belongs to them. */
  asked: { words: readonly string[]; start: boolean };
}

/** A difference over the same samples. */
export type ShownDifference = ShownEstimate & { pValue: number };

/** Agents tested against one of them. */
export interface ShownComparison {
  against: { key: string; name: string };
  n: number;
  /** What the bootstrap draws. */
  clusters: string;
  figures: ShownFigure[];
  comparisons: {
    agent: string;
    against: string;
    differences: Record<string, ShownDifference>;
    slices?: Record<string, Record<string, ShownDifference>>;
  }[];
}
