/** Methods that are trained, by name, one form for every task: the sections of settings that they read, their training, their agents. */
import type { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import type { RunInfo } from '../src/run/records.js';
import type { RunSettings } from '../trainers/run-settings.js';
import type { TaskTrainer, TrainedMethod, TrainingRun } from '../trainers/task-trainer.js';
import { addSection, optionalSections, settingsOfRun, type TrainSettings } from './train-settings.js';

/** A checkpoint of a run. */
export interface RunCheckpoint {
  folder: string;
  /** `best`, `last`, `clone`, a name or a step. */
  checkpoint: string;
}

/**
 * A method: how it is trained, and the agent that comes out of its runs.
 * @typeParam Data what its task reads for training
 * @typeParam Options what its task opens agents with
 * @typeParam Loaded an opened agent of its task
 */
export interface Method<Data = never, Options = never, Loaded = unknown> extends TrainedMethod {
  /**
   * Optional section of the settings that chooses it: by being there, or by its `kind` where that is the method's name.
   * Absent: it is what its task trains without such a section.
   */
  readonly section?: string;
  /** Further optional sections that it reads. Default none: they are refused. */
  readonly reads?: readonly string[];
  /** Schema of its section, for methods that a program registers. */
  readonly settings?: z.ZodType;
  /** Options of evaluations that its agents read, of those that not every method has. */
  readonly options?: readonly ('beamWidth' | 'backend')[];
  /** Its agents await `graph.ensure` before they read edges, so that the graph may lie behind an endpoint. Default false. */
  readonly walksRemote?: boolean;
  /** Prepares a run. @param settings complete, its section included @throws WorkbenchError `data` for data that does not fit */
  open(settings: RunSettings, data: Data): TrainingRun | Promise<TrainingRun>;
  /**
   * Opens the agent of a run, or of several that answer as one.
   * @param runs at least one
   * @throws WorkbenchError `data` where something is missing or does not fit, `usage` for runs that cannot answer as one
   */
  load(runs: readonly RunCheckpoint[], options: Options): Promise<Loaded>;
}

/** The methods of one task. */
export class MethodRegistry<Data, Options, Loaded> {
  readonly #methods: Map<string, Method<Data, Options, Loaded>>;

  /** @param methods by name; exactly one has no `section` */
  constructor(methods: Readonly<Record<string, Method<Data, Options, Loaded>>>) {
    this.#methods = new Map(Object.entries(methods));
  }

  /**
   * Makes a method known in this process, and its section a part of the settings.
   * @throws WorkbenchError `usage` for a name or a section that is taken, or a method without its own
   */
  register(name: string, method: Method<Data, Options, Loaded>): void {
    const { section, settings } = method;
    const wrong = (got: string) =>
      new WorkbenchError('usage', `expected a new method with its section of settings, got ${got}, at ${name}`);
    if (this.#methods.has(name)) throw wrong('the name of another');
    if (section === undefined || settings === undefined) throw wrong('none');
    addSection(section, settings);
    this.#methods.set(name, method);
  }

  names(): string[] {
    return [...this.#methods.keys()];
  }

  /** Method that settings or the record of them choose. */
  of(settings: object): Method<Data, Options, Loaded> {
    const chosen = ([name, { section }]: [string, Method<Data, Options, Loaded>]) => {
      const own = section === undefined ? undefined : (settings as Record<string, { kind?: unknown }>)[section];
      return own !== undefined && (own.kind ?? name) === name;
    };
    const all = [...this.#methods];
    return (all.find(chosen) ?? all.find(([, { section }]) => section === undefined)!)[1];
  }

  /**
   * Opens the agent of a run, or of several that answer as one.
   * @throws as the method's `load`, and WorkbenchError `usage` for runs whose methods have different sections
   */
  async load(members: readonly { run: RunInfo; checkpoint: string }[], options: Options): Promise<Loaded> {
    const [first, ...others] = members.map(({ run }) => run) as [RunInfo, ...RunInfo[]];
    const method = this.of(first.config);
    const other = others.find(({ config }) => this.of(config).section !== method.section);
    if (other) {
      throw new WorkbenchError(
        'usage',
        `expected runs of one method to answer as one, got ${first.id} and ${other.id}`,
        { hint: 'Runs that are averaged differ in seed and network alone. Name other runs one by one.' },
      );
    }
    const runs = members.map(({ run, checkpoint }) => ({ folder: run.folder, checkpoint }));
    return method.load(runs, options);
  }

  /** Training of the task. @param read reads its data for training */
  trainer(read: (settings: TrainSettings) => Promise<Data> | Data): TaskTrainer<TrainSettings> {
    return {
      settingsOf: settingsOfRun,
      methodOf: (settings) => {
        const method = this.of(settings);
        return {
          ...method,
          problems: (settings) => [...foreignSections(method, settings), ...method.problems(settings)],
        };
      },
      open: async (settings) => this.of(settings).open(settings, await read(settings as TrainSettings)),
    };
  }
}

/** One line for each optional section that a method does not read. */
function foreignSections({ section, reads = [] }: Method, settings: RunSettings): string[] {
  return optionalSections(settings)
    .filter((name) => name !== section && !reads.includes(name))
    .map((name) => {
      const by = section === undefined ? `env.id=${settings.env.id}` : `a section ${section}`;
      return `expected no section ${name} with ${by}, which does not read it`;
    });
}
