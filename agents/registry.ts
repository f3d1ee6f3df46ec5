/** Agents by name, one form for dialogues, questions and links. Trained walkers are not here: they come out of run folders. */
import { z } from 'zod';
import { applyOverrides } from '../src/run/config.js';
import { parseOverride } from '../src/run/config-source.js';
import { WorkbenchError } from '../src/run/errors.js';
import { nearestName } from '../src/run/printable.js';
import { checkGiven } from '../src/run/read-json.js';

/** A whole number from `least` to `most`, as a setting with its default. */
export const whole = (least: number, most: number, standard: number) => z.int().min(least).max(most).default(standard);

/** A number from `least` to `most`, the same. */
export const real = (least: number, most: number, standard: number) =>
  z.number().min(least).max(most).default(standard);

/** One of some names, the same. */
export const choice = <const Names extends readonly [string, ...string[]]>(names: Names, standard: Names[number]) =>
  z.enum(names).default(standard as never);

/** On or off, the same. */
export const flag = (standard: boolean) => z.boolean().default(standard);

/** An agent with the switches that it understands. */
export interface AgentEntry<Resources, Made, Settings extends z.ZodType = z.ZodType> {
  /** An object whose keys all have defaults. Default: no switches. */
  settings?: Settings;
  /** Resources that it may use. Default: the graph alone. */
  needs?: readonly ('encoder' | 'model' | 'embedding' | 'train')[];
  /** Switches without which it cannot be opened. Default none. */
  required?: readonly string[];
  /** Calls that a sample may cost, at any budget: more would make no answer better. Default as many as the budget has. */
  calls?: number;
  /** It awaits `graph.ensure` before it reads edges, so that the graph may lie behind an endpoint. Default false. */
  walksRemote?: boolean;
  /** Asks `resources` for what it needs before it is done: an evaluation is named by that, and later requests fail. */
  create(resources: Resources, settings: z.output<Settings>): Made | Promise<Made>;
}

/** Options that an agent was opened from, by name, as plain JSON. */
export type AgentOptions = Record<string, unknown> & { switches: Record<string, unknown> };

/** The agents of one task. `Resources` is what its agents are made from, `Made` what comes out. */
export class AgentRegistry<Resources, Made> {
  readonly #entries: Map<string, AgentEntry<Resources, Made>>;

  constructor(entries: Readonly<Record<string, AgentEntry<Resources, Made>>>) {
    this.#entries = new Map(Object.entries(entries));
  }

  /** Makes an agent known in this process. @throws WorkbenchError `usage` for a name that a command could not name, or that is taken */
  register<Settings extends z.ZodType>(name: string, entry: AgentEntry<Resources, Made, Settings>): void {
    // `:` begins switches and `@` a checkpoint.
    if (!/^\w[\w.-]*$/.test(name)) {
      throw new WorkbenchError('usage', `expected a name like my-agent, got "${name}", at the registry of agents`);
    }
    if (this.#entries.has(name)) {
      throw new WorkbenchError('usage', `expected the name of a new agent, got "${name}", which is registered already`);
    }
    this.#entries.set(name, entry);
  }

  /** In the order in which they were registered. */
  names(): string[] {
    return [...this.#entries.keys()];
  }

  has(text: string): boolean {
    return this.#entries.has(agentOf(text));
  }

  /** @throws WorkbenchError `usage` for an unknown name, with the nearest one */
  entry(name: string): AgentEntry<Resources, Made> {
    const entry = this.#entries.get(name);
    if (entry) return entry;
    const names = this.names();
    const near = nearestName(name, names);
    throw new WorkbenchError('usage', `expected an agent (${names.join(', ')}), got ${JSON.stringify(name)}`, {
      hint: near ? `Did you mean "${near}"?` : 'A trained walker is given by the name or folder of its run.',
    });
  }

  /** True where an agent may call a language model. @throws as `entry` */
  asksModel(text: string): boolean {
    return this.entry(agentOf(text)).needs?.includes('model') ?? false;
  }

  /** True where the calls of an agent are those of the budget. */
  spends(name: string): boolean {
    return this.#entries.get(name)?.calls === undefined;
  }

  /** True where an agent has all switches that are set; values are not checked. @throws as `parse` for a part without `=` */
  hasSwitches(text: string, set: readonly string[] = []): boolean {
    const own = this.settings(agentOf(text), {});
    return overridesOf(text, set).every(({ path }) => Object.hasOwn(own, path[0]!));
  }

  /** Switches that an agent cannot be opened without, and that are not set. @throws as `hasSwitches` */
  missingSwitches(text: string, set: readonly string[] = []): string[] {
    const given = overridesOf(text, set).map(({ path }) => path[0]!);
    return (this.entry(agentOf(text)).required ?? []).filter((name) => !given.includes(name));
  }

  /** All switches of an agent with their values. @throws as `create` */
  settings(name: string, switches: Record<string, unknown>): Record<string, unknown> {
    const { settings = z.strictObject({}) } = this.entry(name);
    checkGiven(switches, settings, `switches of agent ${name}`, 'its switches');
    return settings.parse(switches) as Record<string, unknown>;
  }

  /**
   * Reads `fiske` or `fiske:stateful=false,endFlag=false`.
   * @param set more switches, each `switch=value`; those behind the name win
   * @returns the agent's name and the switches that differ from their defaults
   * @throws as `create`
   */
  parse(text: string, set: readonly string[] = []): { agent: string; switches: Record<string, unknown> } {
    const agent = agentOf(text);
    const given = this.settings(agent, applyOverrides({}, overridesOf(text, set)));
    const defaults = this.settings(agent, {});
    const changed = Object.entries(given).filter(([key, value]) => {
      return JSON.stringify(value) !== JSON.stringify(defaults[key]);
    });
    return { agent, switches: Object.fromEntries(changed) };
  }

  /**
   * @param switches such as `{ stateful: false }`; what is missing takes its default
   * @throws WorkbenchError `usage` for an unknown name, `config` for an unknown switch or value; and what the resources throw
   */
  async create(name: string, resources: Resources, switches: Record<string, unknown> = {}): Promise<Made> {
    return this.entry(name).create(resources, this.settings(name, switches));
  }

  /**
   * Makes an agent and notes the options that it reads: an evaluation is named by them, and opened from them again.
   * @param resourcesOf what it is made from; functions read their options when they are called
   * @returns `options`: its switches, all of them, and each option that was read, by value
   * @throws as `create`; TypeError where an option is read for the first time when the agent is made already
   */
  async open<Options extends object>(
    name: string,
    options: Options,
    resourcesOf: (options: Options) => Resources,
    switches: Record<string, unknown> = {},
  ): Promise<{ made: Made; options: AgentOptions }> {
    const read: AgentOptions = { switches: this.settings(name, switches) };
    let isMade = false;
    const noted = new Proxy(options, {
      get(all, key: string) {
        if (!isMade) read[key] = all[key as keyof Options];
        if (Object.hasOwn(read, key)) return all[key as keyof Options];
        throw new TypeError(`expected agent ${name} to read ${key} while it is made, got a request for it later`);
      },
    });
    const made = await this.create(name, resourcesOf(noted), switches);
    isMade = true;
    return { made, options: read };
  }
}

/** Overrides of `--set`, then those after the agent's name. */
function overridesOf(text: string, set: readonly string[]) {
  const agent = agentOf(text);
  const own = text.length > agent.length ? text.slice(agent.length + 1).split(',') : [];
  const read = (part: string) => {
    const override = parseOverride(part);
    if ('problem' in override) throw new WorkbenchError('config', override.problem);
    return override;
  };
  for (const part of own) {
    if (part.includes('=')) continue;
    throw new WorkbenchError('config', `expected switches such as ${agent}:NAME=VALUE, got "${part}", at ${text}`, {
      hint: 'Switches are parted by commas, agents by spaces.',
    });
  }
  return [...set, ...own].map(read);
}

/** The agent of `fiske:stateful=false`. */
export const agentOf = (text: string): string => text.split(':', 1)[0]!;
