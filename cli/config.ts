/** `kgwalk config explain|show`: meaning of settings, and the resolved settings of a preset. */
import { stdout } from 'node:process';
import type { Command } from 'commander';
import type { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, wrapped } from './output.js';
import { repeatable } from './options.js';

/** Adds `kgwalk config`. */
export function register(program: Command): void {
  const command = program.command('config').description('explain settings and show what a preset resolves to');
  command
    .command('explain')
    .description('explain a key: type, default and effect; for a section, all its keys')
    .argument('[key]', 'such as ppo.clipRange or ppo')
    .option('--agent <name>', 'explain the switches of an agent instead, such as tog')
    .option('--json', 'print JSON')
    .action(explain);
  command
    .command('show')
    .description('print every key of a preset with its value, as YAML')
    .argument('<preset>', 'name of a preset or a YAML file')
    .option('--set <key=value>', 'change a key; may be repeated', repeatable, [])
    .option('--json', 'print JSON')
    .action(show);
}

async function explain(key: string | undefined, { agent, json }: { agent?: string; json?: boolean }): Promise<void> {
  const { display, explainConfig } = await import('../src/run/config-keys.js');
  const { settingsSchema } = await import('../agents/train-settings.js');
  const keys = explainConfig(agent === undefined ? settingsSchema() : await switchesOf(agent), key);
  if (json) return printJson(keys);
  const shown = (value: unknown) => (value === undefined ? 'none' : value === null ? 'null' : display(value));
  const [only] = keys;
  if (keys.length === 1 && only) {
    printLine(`${only.key}: ${only.takes}, default ${shown(only.default)}\n${only.description}`);
    return;
  }
  const width = Math.min(stdout.columns || 100, 100);
  for (const one of keys) {
    printLine(`${one.key}: ${one.takes}, default ${shown(one.default)}`);
    for (const line of wrapped(one.description, width - 4)) printLine(`    ${line}`);
  }
}

/** @throws WorkbenchError `usage` for a name that is no agent with switches */
async function switchesOf(agent: string): Promise<z.ZodType> {
  const { allTasks } = await import('../tasks/index.js');
  const entries = (await allTasks()).flatMap(({ agents }) =>
    agents.names().map((name) => [name, agents.entry(name).settings] as const),
  );
  const withSwitches = new Map(entries.filter(([, settings]) => settings !== undefined));
  const settings = withSwitches.get(agent);
  if (settings) return settings;
  const names = [...withSwitches.keys()].join(', ');
  throw new WorkbenchError('usage', `expected an agent with switches (${names}), got ${agent}, at --agent`);
}

async function show(preset: string, { set, json }: { set: string[]; json?: boolean }): Promise<void> {
  const { loadPreset } = await import('../presets/index.js');
  const { stringify } = await import('yaml');
  const config = loadPreset(preset, set);
  if (json) printJson(config);
  else printLine(stringify(config).trimEnd());
}
