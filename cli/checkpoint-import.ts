/** `kgwalk checkpoint import sb3`: a Stable-Baselines3 policy as a run. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { repeatable } from './options.js';
import { printJson, printLine, printNote } from './output.js';

interface ImportFlags {
  env: string;
  option: string[];
  runDir?: string;
  json?: boolean;
}

/** Adds `import` to the command `checkpoint`. */
export function registerImport(checkpoint: Command): void {
  checkpoint
    .command('import')
    .description('import a policy as a run: sb3 (dense tanh layers of PPO and MaskablePPO)')
    .argument('<format>', 'sb3')
    .argument('<file>', 'safetensors, written by export_sb3 of clients/python')
    .requiredOption('--env <id>', 'environment that it was trained in, such as kgwalk/CartPole-v1')
    .option('--option <key=value>', 'an option of the environment, such as size=7; repeatable', repeatable, [])
    .option('--run-dir <dir>', 'the run’s folder; default runs/sb3-TIME-s0')
    .option('--json', 'the folder and the mean return as JSON')
    .action(importPolicy);
}

async function importPolicy(format: string, file: string, { env, option, runDir, json }: ImportFlags): Promise<void> {
  const { WorkbenchError } = await import('../src/run/errors.js');
  if (format !== 'sb3') throw new WorkbenchError('usage', `expected sb3, got ${format}, at checkpoint import`);
  const { importSb3 } = await import('../tasks/episodes/import-sb3.js');
  const { optionsOf } = await import('../serve/env/open-environment.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const { runId } = await import('../src/run/run-folder.js');
  const folder = runDir === undefined ? join(runsFolder(), runId('sb3', 0)) : resolve(runDir);
  const options = optionsOf(option);
  const mean = await importSb3({
    ...{ file, folder },
    env: { id: env, ...(Object.keys(options).length > 0 && { options }) },
  });
  if (json) return printJson({ run: folder, return: mean });
  printLine(folder);
  const next = commandLine('evaluate', shownPath(folder), '--split', 'test');
  printNote(`return ${mean.toFixed(2)} on the episodes of valid\n${next}`);
}
