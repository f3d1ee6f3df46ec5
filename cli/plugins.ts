/** `--plugin FILE`: agents, environments, rewards, figures and data sets of the user's own, for every command. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import type { dialogueAgents } from '../agents/dialogue-agents.js';
import type { linkAgents } from '../agents/link-agents.js';
import type { questionAgents } from '../agents/question-agents.js';
import type { registerImporter } from '../datasets/importers.js';
import type { registerReward } from '../envs/dialogue-walk/hits.js';
import type { registerEnv } from '../envs/registry.js';
import type { registerFigure } from '../evaluation/figures.js';
import type { loadTask } from '../tasks/index.js';
import { WorkbenchError } from '../src/run/errors.js';
import { repeatable } from './options.js';

/** What a plugin registers with: its file exports a function `plugin` that is given this. */
export interface PluginHost {
  /** Registries of the agents of each task: `agents.links.register(name, entry)`. */
  agents: {
    dialogues: Pick<typeof dialogueAgents, 'register'>;
    questions: Pick<typeof questionAgents, 'register'>;
    links: Pick<typeof linkAgents, 'register'>;
  };
  registerEnv: typeof registerEnv;
  registerReward: typeof registerReward;
  registerImporter: typeof registerImporter;
  /** Of a task: its measure is `(await loadTask('questions')).measure`. */
  registerFigure: typeof registerFigure;
  loadTask: typeof loadTask;
}

/** Adds the option to the program; files are loaded, in order, before any command begins. */
export function register(program: Command): void {
  program
    .option(
      '--plugin <file>',
      'a JavaScript module of your own that registers agents, environments, rewards, figures or data sets; repeatable',
      repeatable,
      [],
    )
    .hook('preAction', async () => {
      for (const file of program.opts<{ plugin: string[] }>().plugin) await loadPlugin(resolve(file));
    });
}

const loaded = new Set<string>();

/** @throws WorkbenchError `usage` for a file that is not there or exports no `plugin`; `failure` for one that throws, naming it */
async function loadPlugin(file: string): Promise<void> {
  if (loaded.has(file)) return;
  const hint =
    'It exports `function plugin({ agents, registerEnv, registerReward, registerImporter, registerFigure })`: see docs/library.md.';
  if (!existsSync(file)) throw new WorkbenchError('usage', `expected a file, got none, at --plugin ${file}`, { hint });
  try {
    const { plugin } = (await import(pathToFileURL(file).href)) as { plugin?: (host: PluginHost) => unknown };
    if (typeof plugin !== 'function') {
      throw new WorkbenchError('usage', `expected an exported function plugin, got ${typeof plugin}, at ${file}`, {
        hint,
      });
    }
    await plugin(await pluginHost());
    loaded.add(file);
  } catch (error) {
    if (error instanceof WorkbenchError) throw error;
    throw new WorkbenchError('failure', `the plugin failed: ${(error as Error).message}, at ${file}`, { cause: error });
  }
}

async function pluginHost(): Promise<PluginHost> {
  const { dialogueAgents } = await import('../agents/dialogue-agents.js');
  const { questionAgents } = await import('../agents/question-agents.js');
  const { linkAgents } = await import('../agents/link-agents.js');
  const { registerEnv } = await import('../envs/registry.js');
  const { registerReward } = await import('../envs/dialogue-walk/hits.js');
  const { registerImporter } = await import('../datasets/importers.js');
  const { registerFigure } = await import('../evaluation/figures.js');
  const { loadTask } = await import('../tasks/index.js');
  const agents = { dialogues: dialogueAgents, questions: questionAgents, links: linkAgents };
  return { agents, registerEnv, registerReward, registerImporter, registerFigure, loadTask };
}
