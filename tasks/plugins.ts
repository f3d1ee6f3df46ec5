/** Plugins: files of the user's own that register agents, environments, rewards, figures and data sets. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { dialogueAgents, dialogueMethods } from '../agents/dialogue-agents.js';
import type { linkAgents, linkMethods } from '../agents/link-agents.js';
import type { questionAgents, questionMethods } from '../agents/question-agents.js';
import type { MethodRegistry } from '../agents/method.js';
import type { AgentRegistry } from '../agents/registry.js';
import type { registerImporter } from '../datasets/importers.js';
import type { registerReward } from '../envs/dialogue-walk/hits.js';
import type { BatchFactory, EnvFactory, registerEnv } from '../envs/registry.js';
import type { registerFigure } from '../evaluation/figures.js';
import { WorkbenchError } from '../src/run/errors.js';
import { addLoadedPlugin, isPluginLabel, loadedPlugins, pluginsRefused } from '../src/run/plugins.js';
import { jobFolder } from '../src/run/locations.js';
import { limitErrorOf } from '../src/run/stop.js';
import type { loadTask } from './index.js';

/** Argument of a plugin's exported function `plugin`: registers environments, agents and more. */
export interface PluginHost {
  /** Registries of the agents of each task: `agents.links.register(name, entry)`. */
  agents: {
    dialogues: Pick<typeof dialogueAgents, 'register'>;
    questions: Pick<typeof questionAgents, 'register'>;
    links: Pick<typeof linkAgents, 'register'>;
  };
  /** Registries of the methods that are trained on each task: `methods.questions.register(name, method)`. */
  methods: {
    dialogues: Pick<typeof dialogueMethods, 'register'>;
    questions: Pick<typeof questionMethods, 'register'>;
    links: Pick<typeof linkMethods, 'register'>;
  };
  registerEnv: typeof registerEnv;
  registerReward: typeof registerReward;
  registerImporter: typeof registerImporter;
  /** Loads a task: its measure is `(await loadTask('questions')).measure`. */
  registerFigure: typeof registerFigure;
  loadTask: typeof loadTask;
}

/**
 * Loads a plugin, as `--plugin FILE` does: a program that runs with all rights of this process. The same file is loaded once. What it
 * registered is known from now on; runs and evaluations that are made from now on record its sha256.
 * @param path from the working folder
 * @throws WorkbenchError `usage` in a job, for a file that is not there, exports no `plugin` or registers a name that is taken; `failure` for one
 *   that throws; both name it
 */
export async function loadPlugin(path: string): Promise<void> {
  const file = resolve(path);
  if (jobFolder() !== undefined) throw pluginsRefused(file);
  if (loadedPlugins().some((one) => one.file === file)) return;
  const hint =
    'It exports `function plugin({ agents, methods, registerEnv, registerReward, registerImporter, registerFigure })`: see docs/reference/library.md.';
  if (!existsSync(file)) throw new WorkbenchError('usage', `expected a file, got none, at --plugin ${file}`, { hint });
  const registered: string[] = [];
  try {
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    const { plugin } = (await import(pathToFileURL(file).href)) as { plugin?: (host: PluginHost) => unknown };
    if (typeof plugin !== 'function') {
      throw new WorkbenchError('usage', `expected an exported function plugin, got ${typeof plugin}`, { hint });
    }
    await plugin(await hostFor(file, registered));
    addLoadedPlugin({ file, sha256, registered });
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw failureOf(file, 'failed', error);
    const { code, message, hint: remedy } = error;
    throw new WorkbenchError(code, `${message}, at ${file}`, { hint: remedy, cause: error });
  }
}

/** Loads the files that settings name, in their order; a run's labels, `FILE@sha256:HASH`, load nothing. */
export async function loadPluginsOf({ plugins = [] }: { plugins?: readonly string[] | undefined }): Promise<void> {
  for (const entry of plugins) if (!isPluginLabel(entry)) await loadPlugin(entry);
}

/** The registries as a plugin sees them: what is registered is noted, and what it throws later names the plugin. */
async function hostFor(file: string, registered: string[]): Promise<PluginHost> {
  const { dialogueAgents, dialogueMethods } = await import('../agents/dialogue-agents.js');
  const { questionAgents, questionMethods } = await import('../agents/question-agents.js');
  const { linkAgents, linkMethods } = await import('../agents/link-agents.js');
  const { registerEnv } = await import('../envs/registry.js');
  const { registerReward } = await import('../envs/dialogue-walk/hits.js');
  const { registerImporter } = await import('../datasets/importers.js');
  const { registerFigure } = await import('../evaluation/figures.js');
  const { loadTask } = await import('./index.js');

  const agentsOf = <Resources, Made extends object>(task: string, registry: AgentRegistry<Resources, Made>) => {
    const register: typeof registry.register = (name, entry) => {
      const what = `agent ${task}/${name}`;
      const create = named(file, what, entry.create.bind(entry));
      registry.register(name, {
        ...entry,
        create: async (...given) => namingAgent(file, what, await create(...given)),
      });
      registered.push(what);
    };
    return { register };
  };
  const methodsOf = <Data, Options, Loaded>(task: string, registry: MethodRegistry<Data, Options, Loaded>) => {
    const register: typeof registry.register = (name, method) => {
      const what = `method ${task}/${name}`;
      const open = named(file, what, method.open.bind(method));
      const load = named(file, what, method.load.bind(method));
      registry.register(name, { ...method, open, load });
      registered.push(what);
    };
    return { register };
  };
  return {
    agents: {
      dialogues: agentsOf('dialogues', dialogueAgents),
      questions: agentsOf('questions', questionAgents),
      links: agentsOf('links', linkAgents),
    },
    methods: {
      dialogues: methodsOf('dialogues', dialogueMethods),
      questions: methodsOf('questions', questionMethods),
      links: methodsOf('links', linkMethods),
    },
    registerEnv<Options, Observation>(
      id: string,
      factory: EnvFactory<Options, Observation>,
      batched?: BatchFactory<Options, Observation>,
    ) {
      const what = `environment ${id}`;
      const prepare = named(file, what, factory);
      const prepareBatch = batched && named(file, what, batched);
      registerEnv(
        id,
        (options: Options) => {
          const make = named(file, what, prepare(options));
          return () => naming(file, what, make());
        },
        prepareBatch && ((...given) => naming(file, what, prepareBatch(...given))),
      );
      registered.push(what);
    },
    registerReward(kind, rule) {
      registerReward(kind, named(file, `reward ${kind}`, rule));
      registered.push(`reward ${kind}`);
    },
    registerImporter(importer) {
      const what = `format ${importer.name}`;
      registerImporter({ ...importer, import: named(file, what, importer.import.bind(importer)) } as typeof importer);
      registered.push(what);
    },
    registerFigure(measure, figure, valueOf) {
      registerFigure(measure, figure, named(file, `figure ${figure.key}`, valueOf));
      registered.push(`figure ${figure.key}`);
    },
    loadTask,
  };
}

/** Function whose errors name the plugin; expected errors already have a place and stay unchanged. */
function named<Given extends unknown[], Result>(
  file: string,
  what: string,
  run: (...given: Given) => Result,
  describe: (error: unknown) => unknown = (error) => failureOf(file, `failed in ${what}`, error),
): (...given: Given) => Result {
  const rethrow = (thrown: unknown): never => {
    const error = limitErrorOf(thrown);
    throw isOurs(error) ? error : describe(error);
  };
  return (...given) => {
    try {
      const result = run(...given);
      return result instanceof Promise ? (result.catch(rethrow) as Result) : result;
    } catch (error) {
      return rethrow(error);
    }
  };
}

/** Methods called on environments and agents. */
const called = ['reset', 'step', 'render', 'close', 'prepare', 'answer', 'rank'] as const;

/** The object, whose methods name the plugin in their errors. */
function naming<Made extends object>(
  file: string,
  what: string,
  made: Made,
  describe?: (error: unknown) => unknown,
): Made {
  const methods = made as Record<string, unknown>;
  for (const name of called) {
    const method = methods[name];
    if (typeof method === 'function') methods[name] = named(file, what, method.bind(made) as () => unknown, describe);
  }
  return made;
}

/** Names the plugin in an agent's errors but keeps their kind, since an agent that throws on a sample has missed it. */
function namingAgent<Made extends object>(file: string, what: string, agent: Made): Made {
  const describe = (thrown: unknown) => {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { message } = error;
    error.message = `${message} (${what} of the plugin ${placeIn(file, error)})`;
    if (error.stack !== undefined) error.stack = error.stack.replace(message, () => error.message);
    return error;
  };
  // An agent of links is called through its ranker.
  const { ranker } = agent as { ranker?: object };
  if (ranker) naming(file, what, ranker, describe);
  return naming(file, what, agent, describe);
}

/** Errors that the workbench handles itself: usage, exhausted budgets, stops. */
const isOurs = (error: unknown): boolean =>
  error instanceof WorkbenchError || (error instanceof Error && ['BudgetSpent', 'AbortError'].includes(error.name));

function failureOf(file: string, how: string, error: unknown): WorkbenchError {
  const message = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('failure', `the plugin ${how}: ${message}, at ${placeIn(file, error)}`, { cause: error });
}

/** The file, with line and column where the error says them. */
function placeIn(file: string, error: unknown): string {
  const stack = (error instanceof Error && error.stack) || '';
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(`${name}:`);
    const place = at < 0 ? null : /^:\d+:\d+/.exec(stack.slice(at + name.length));
    if (place) return file + place[0];
  }
  return file;
}
