/** The contract of a task: all that differs between dialogues, questions and links. Commands, evaluation, training and reports know no task. */
import type { AgentRegistry } from '../agents/registry.js';
import type { Traced } from '../evaluation/evaluate.js';
import type { AskedEvaluation } from '../evaluation/keep.js';
import type { ObservedDecision } from '../evaluation/oracle/fit-confusion.js';
import type { AgentRunner, Attempt, Compared, Measure, Row, Sample, Scorer } from '../evaluation/score.js';
import type { LanguageModel } from '../src/llm/language-model.js';
import type { AboutEvaluation, Example, Section } from '../src/run/evaluation.js';
import type { ProgressReporter } from '../src/run/progress.js';
import type { RunInfo } from '../src/run/records.js';
import type { ImportTableOptions } from '../agents/embeddings/import-table.js';
import type { TaskTrainer } from '../trainers/task-trainer.js';
import type { TrainSettings } from '../agents/train-settings.js';
import type { AgentFlags, Choices, EvaluationFlags, PredictFlags, ResultFlags, RuleFlags } from './flags.js';
import type { ObservationVectors } from './observation-vectors.js';

/** Progress, notes and stop signal of a command. */
export interface Work {
  progress: ProgressReporter;
  signal?: AbortSignal | undefined;
  /** Prints a note next to the results. */
  note(line: string): void;
  /** Called for each log with the number of bytes of a truncated last line that were removed; 0 if it was complete. */
  onTruncatedLog(file: string, bytes: number): void;
  /** The settings of a preset or a settings file. */
  preset(name: string): Promise<TrainSettings>;
}

/** A name given to a command: an agent or a run. */
export interface Named {
  name: string;
  /** Absent: an agent's name goes before a run's. */
  isRun?: boolean;
  /** Choice mode, for comparisons of several. Default: that of the options. */
  choices?: Choices;
}

/** A name resolved, before anything is loaded. */
export interface Resolved {
  /** Given name. */
  name: string;
  /** See `Named`. */
  choices?: Choices;
  /** For an untrained agent: its name, and the switches that differ from their defaults. */
  agent?: string;
  switches: Record<string, unknown>;
  /** For a trained one. */
  trained?: Trained;
}

/** A run with the checkpoint of it, or several that answer as one. */
export interface Trained {
  run: RunInfo;
  checkpoint: string;
  /** Further members of an ensemble, whose log-probabilities are averaged; absent for one run. */
  others?: readonly { run: RunInfo; checkpoint: string }[];
  /** True for members that are not averaged: they answer what all of them say alike. */
  agree?: boolean;
}

/** All of its runs. */
export const membersOf = ({ run, checkpoint, others = [] }: Trained) => [{ run, checkpoint }, ...others];

/** The samples that agents are evaluated on, loaded. */
export interface Data<S extends Sample> {
  samples: readonly S[];
  /** Number of samples that cannot be scored, by reason; they are not evaluated. */
  excluded: Readonly<Record<string, number>>;
  /** Identity for the record, without what differs between agents. */
  about: AboutEvaluation;
  hashes: Readonly<Record<string, string>>;
  /** Bootstrap resamples behind every interval, and samples to keep worked out. */
  resamples: number;
  examples: number;
}

/** An agent that is ready to be asked about some data; close it after use. */
export interface OpenedAgent<S extends Sample, Answer, R extends Row> {
  asker: AgentRunner<S['task'], Answer>;
  scorer: Scorer<S, Answer, R>;
  /** Additional fields of the record. */
  about?: Partial<AboutEvaluation>;
  hashes?: Readonly<Record<string, string>>;
  /** Text encoder as it was asked for, where the agent has one. */
  encoder?: string | undefined;
  close?(): void | Promise<void>;
}

/** Options of `openAgent`. */
export interface OpenOptions {
  flags: EvaluationFlags;
  /** Runs among the agents named, in their order. */
  runs: readonly RunInfo[];
  /** Path of the encoder; for an untrained agent by default that of the last compared run. */
  encoder?: string | undefined;
  work: Work;
}

/** Results as rows: commands print them, or their JSON. */
export type Shown = { json: unknown; sections: readonly Section[] };

/** Likeliest missing triples, also as text of a file. */
export type Predicted = Shown & { tsv: string };

/** An answer with the walks that lead to it, as pages draw them. */
export type ShownAnswer = Shown & Pick<Example, 'answers' | 'walks'>;

/** An agent that stays loaded between questions; close it after use. */
export interface OpenedAsk {
  /**
   * @param words what was said after the run's name
   * @param flags options of this question where they are not those of the opening
   * @throws WorkbenchError `usage` for words or options that do not fit, before anything is loaded where nothing was yet
   */
  ask(words: readonly string[], flags?: ResultFlags): Promise<ShownAnswer>;
  close(): Promise<void>;
}

/** Lazy resource: opened on first use and kept; a failed opening is tried again. */
export function lazy<T>(open: () => Promise<T>, close: (opened: T) => void | Promise<void> = () => {}) {
  let opening: Promise<T> | undefined;
  return {
    get(): Promise<T> {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close(): Promise<void> {
      const opened = opening;
      opening = undefined;
      if (opened) await opened.then(close, () => {});
    },
  };
}

/** Options of pretraining. */
export interface PretrainFlags {
  threads: number;
  /** Rank test, too. */
  test: boolean;
  /** The graph that was asked for. */
  graph?: string | undefined;
}

/** Options of an environment that a program steps. */
export interface EnvironmentFlags {
  /** Split of its episodes. */
  split: string;
  /** Encoder of observations; each task has its own. Default: none, ids alone. */
  encoder?: string | undefined;
}

/** Options of a task's environments. */
export interface TaskEnvironment {
  /** Options of `makeVectorEnv(settings.env.id, …)`. */
  options: object;
  /** Vectors of observations that contain none. */
  vectors?: ObservationVectors;
}

/** A run that is checked for leaks. */
export interface CheckedRun {
  run: RunInfo;
  /** Folder with further evaluations of the run; default `runs/evaluations`. */
  evaluations?: string | undefined;
}

/** Findings on leaks from a split into a run or an evaluation. */
export interface LeakCheck extends Shown {
  split: string;
  /** One sentence for each leak. */
  found: readonly string[];
  /** Expected artifacts without noted sources. */
  unknown: readonly string[];
}

/** Data sets of a task, as `kgwalk datasets` and `runs list` show them. */
export interface TaskDatasets {
  /** Imported and excluded samples. */
  imported(manifest: never): Shown;
  /** A data set in a list. */
  listed(manifest: never): Record<string, string>;
  statistics(name: string, flags: { graph?: string }): Promise<Shown>;
  /** Name of the graph that a run walks; undefined where its data set is no longer imported. */
  graphOf(run: RunInfo): string | undefined;
  /** Leaks of a split into a run. @param split default test */
  runLeaks(name: string, of: CheckedRun, split: string | undefined): Promise<LeakCheck>;
  /** Leaks of a split into a kept evaluation. @param split default that of the evaluation */
  evaluationLeaks(name: string, folder: string, split: string | undefined): Promise<LeakCheck>;
}

/** Vectors of the entities of a data set, for `kgwalk pretrain` and `embeddings import`. */
export interface TaskVectors {
  /** Trains or finds the vectors that the settings enable. */
  pretrain(settings: TrainSettings, flags: PretrainFlags, work: Work): Promise<Shown>;
  /** The graph whose entities may have vectors of another program, and triples to rank them by. @param graph default the usual one */
  graphOf(dataset: string, graph?: string): Promise<Pick<ImportTableOptions, 'graph' | 'held'>>;
}

/** Texts of a question, by field of a form. */
export type AskedFields = Partial<Record<'question' | 'start' | 'head' | 'relation', string>>;

/** Names that fields of a question take. */
export interface AskedNames {
  /** By entity id. */
  entities: readonly string[];
  /** The name that stands for an entity alone. Default: that of `entities`. */
  nameOf?(entity: number): string;
  /** Empty where no field is a relation. */
  relations: readonly string[];
}

/** Samples of the user's own, for `kgwalk ask` and the page. */
export interface TaskAsk<S extends Sample, D extends Data<S>> {
  /** Names of what is asked, in order: `question`, or `head` and `relation`. */
  readonly words: readonly ('question' | 'head' | 'relation')[];
  /** A sample of a data set as it would be asked; undefined for one that words alone do not ask. */
  fieldsOf(sample: S, data: D): AskedFields | undefined;
  /** Names to complete while typing. */
  namesOf(data: D): AskedNames;
  /** Nothing is loaded before the first is asked. */
  open(which: Resolved, flags: EvaluationFlags, work: Work): OpenedAsk;
  /** Several that are asked the same, and answer where they agree. */
  agreement?(which: Resolved & { trained: Trained }, flags: EvaluationFlags, work: Work): OpenedAsk;
}

/** Results beyond the record of an evaluation, each where the task has it. */
export interface TaskResults<S extends Sample, Answer, R extends Row, D> {
  /** Trace of an agent on one sample, as text. */
  trace?(row: R, traced: Traced, data: D): Section[];
  /** Joint results of several agents. */
  together?(evaluations: readonly Compared<R>[]): Shown;
  /** Decisions of a prompted agent that could be taken rightly. */
  observed?(sample: S, attempt: Attempt<Answer>, data: D): ObservedDecision[];
  /** Writes what an agent predicted into a file as it comes. @throws WorkbenchError `usage` for a name of another kind of file */
  predictions?(file: string): { take(sample: S, attempt: Attempt<Answer> | undefined, data: D): void; write(): void };
}

/** All that differs between dialogues, questions, links and episodes. */
export interface Task<S extends Sample = Sample, Answer = unknown, R extends Row = Row, D extends Data<S> = Data<S>> {
  /** Name of the task. */
  readonly name: string;
  readonly measure: Measure<R>;
  readonly agents: Pick<
    AgentRegistry<never, unknown>,
    'names' | 'has' | 'entry' | 'parse' | 'settings' | 'asksModel' | 'hasSwitches' | 'missingSwitches'
  >;
  /** Runs keep their data; flags decide where there is none. @throws WorkbenchError `usage` for flags that contradict a run */
  data(flags: EvaluationFlags, runs: readonly RunInfo[]): Promise<D>;
  openAgent(which: Resolved, data: D, options: OpenOptions): Promise<OpenedAgent<S, Answer, R>>;
  /** @throws WorkbenchError `usage` for options that none of the agents reads, before anything is loaded */
  refuse?(resolved: readonly Resolved[], flags: EvaluationFlags): void | Promise<void>;
  /** Simulated models, which know the gold. */
  readonly simulated?: {
    /** False for agents that no simulated model suits, where the flags name one. */
    suits(agent: string, flags: Pick<AgentFlags, 'model'>): boolean;
    /** Undefined where `spec` names a real model. @throws WorkbenchError `usage` for an agent that it does not suit */
    open(spec: string, data: D, agents: readonly string[]): Promise<LanguageModel | undefined>;
  };
  /** Options of evaluations that no command line gives. */
  readonly flagsOf: {
    /** Those that asked for a kept evaluation, without its split, limit and checkpoint: what a replay opens it by. */
    kept(asked: AskedEvaluation): Partial<EvaluationFlags>;
    /** Those of a run's best checkpoint on valid, where they are not the usual ones. */
    best?(settings: TrainSettings): Partial<EvaluationFlags>;
  };
  readonly learning: TaskTrainer<TrainSettings>;
  /** Settings in which what their data decides is a value, for records and resume. @param note called with what decided */
  settle?(settings: TrainSettings, note: (line: string) => void): Promise<TrainSettings>;
  /** The environment of the settings over a split of their data. */
  environment(settings: TrainSettings, flags: EnvironmentFlags, work: Work): Promise<TaskEnvironment>;
  /** Absent: it has no data sets. */
  readonly datasets?: TaskDatasets;
  /** Absent: nothing reads vectors of entities. */
  readonly vectors?: TaskVectors;
  /** Absent: there is nothing to ask. */
  readonly ask?: TaskAsk<S, D>;
  /** Absent: its graph has no triples to predict. @throws WorkbenchError `usage` for bad options, before long work */
  predict?(which: Resolved, flags: PredictFlags, work: Work): Promise<Predicted>;
  /** The most precise rules of a data set. Absent: none are mined. @throws WorkbenchError `usage` for bad options, before long work */
  rules?(dataset: string, flags: RuleFlags, work: Work): Promise<Shown>;
  readonly results?: TaskResults<S, Answer, R, D>;
}

/** Notes of an import, below a line that announces them. */
export const noteLines = (notes: readonly string[]): string[] =>
  notes.length === 0 ? [] : ['to know:', ...notes.map((note) => `  ${note}`)];

/** Collects lines and tables in the order in which they are to be read. */
export class ShownPage implements Shown {
  readonly sections: Section[] = [];
  #open = false;

  constructor(readonly json: unknown) {}

  /** A line under the table or the lines before it; without text a new section begins. */
  line(text?: string): void {
    if (text === undefined) {
      this.#open = false;
      return;
    }
    if (!this.#open) this.sections.push({ title: '' });
    this.#open = true;
    (this.sections.at(-1)!.lines ??= []).push(text);
  }

  /** A row for each label, with a cell for each column. */
  labelled<T>(rows: readonly [label: string, cell: (of: T) => string | number][], columns: Record<string, T>): void {
    const cellsOf = (cell: (of: T) => string | number) =>
      Object.entries(columns).map(([name, of]) => [name, String(cell(of))]);
    this.table(rows.map(([label, cell]) => ({ '': label, ...Object.fromEntries(cellsOf(cell)) })));
  }

  /** @param title above it */
  table(rows: NonNullable<Section['rows']>, title = ''): void {
    this.sections.push({ title, rows });
    this.#open = true;
  }
}
