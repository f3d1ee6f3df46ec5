/** `kgwalk train`: one run, or one for each of several seeds. */
import { stderr } from 'node:process';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { RunSettings } from '../presets/schema.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printJson, printLine, printTable } from './output.js';
import { repeatable } from './repeatable.js';
import { minutesOf, timeLimit } from './time-limit.js';

interface TrainFlags {
  model?: string;
  set: string[];
  seed?: string;
  seeds?: string;
  runDir?: string;
  resume?: string | true;
  backend?: string;
  dryRun?: boolean;
  maxMinutes?: string;
  json?: boolean;
}

export function register(program: Command): void {
  program
    .command('train')
    .description('train a walker by a preset: TransE, text vectors, cloning, PPO')
    .argument('[preset]', 'a YAML file, or the name of a preset of the package; not needed with --resume', 'opendialkg')
    .option(
      '--model <model>',
      'encodes the texts: FILE.gguf, a name of `models list`, or hashed:DIM (encoder.model; default the embedded one, demo)',
    )
    .option('--set <key=value>', 'change a setting, such as ppo.clipRange=0.1; repeatable', repeatable, [])
    .option('--seed <n>', 'the run’s seed')
    .option('--seeds <list>', 'one run for each of several seeds, such as 1,2,3')
    .option('--run-dir <dir>', 'the run’s folder (with --seeds: DIR-s1, DIR-s2 …); default runs/NAME-TIME-sSEED')
    .option('--resume [which]', 'go on with the run in --run-dir from its last, best or a numbered checkpoint')
    .option('--backend <name>', 'tensorflow, wasm or cpu instead of the fastest that works')
    .option('--dry-run', 'only say what would be done: samples, texts, tokens, updates, time')
    .option('--max-minutes <n>', 'stop after that long, with a checkpoint to resume from')
    .option('--json', 'print the run folders as JSON')
    .action(train);
}

interface PlannedRun {
  settings: RunSettings;
  folder: string;
}

async function train(preset: string, flags: TrainFlags): Promise<void> {
  const minutes = flags.maxMinutes === undefined ? undefined : minutesOf(flags.maxMinutes, '--max-minutes');
  const runs = await plannedRuns(preset, flags);
  if (flags.dryRun) {
    const { dryRun } = await import('./dry-run.js');
    const rows = await dryRun(runs[0]!.settings);
    return flags.json ? printJson(rows) : printTable(rows);
  }
  const { train: trainRun } = await import('../trainers/train.js');
  const { terminalProgress } = await import('../src/run/progress.js');
  const { interruptSignal } = await import('./interrupt.js');
  const { tellTorn } = await import('./torn-log.js');
  const { openRun, runFiles } = await import('../src/run/run-folder.js');
  const { existsSync } = await import('node:fs');
  const signal = minutes === undefined ? interruptSignal() : AbortSignal.any([interruptSignal(), timeLimit(minutes)]);
  const resume = flags.resume === true ? 'last' : flags.resume;
  for (const [i, { settings, folder }] of runs.entries()) {
    const held = resume !== undefined && existsSync(runFiles(folder).config);
    if (held && openRun(folder).state.status === 'finished') {
      stderr.write(`${folder} is finished; nothing to do\n`);
      continue;
    }
    stderr.write(`run ${folder}, texts encoded by ${settings.encoder.model ?? 'nothing'}\n`);
    try {
      await trainRun({ settings, folder, resume, progress: terminalProgress(), onTorn: tellTorn, signal });
    } catch (error) {
      if (!(error instanceof WorkbenchError) || error.code !== 'stopped') throw error;
      throw stoppedError(folder, runs.slice(i + 1));
    }
  }
  const folders = runs.map(({ folder }) => folder);
  if (flags.json) return printJson({ runs: folders });
  for (const folder of folders) printLine(folder);
  stderr.write(`\nkgwalk evaluate ${folders[0]} --split valid\nkgwalk report ${folders.join(' ')}\n`);
}

function stoppedError(folder: string, waiting: readonly PlannedRun[]): WorkbenchError {
  const seeds = waiting.map(({ settings }) => settings.seed).join(', ');
  const rest = seeds === '' ? '' : `; not started: seed ${seeds}`;
  return new WorkbenchError('stopped', `stopped; what was done is saved, at ${folder}${rest}`, {
    hint: `Go on: kgwalk train --resume --run-dir ${folder}`,
  });
}

/** Settings and folder of every run, all checked before the first starts. */
async function plannedRuns(preset: string, flags: TrainFlags): Promise<PlannedRun[]> {
  const { loadPreset, runSettings } = await import('../presets/index.js');
  const { loadConfig } = await import('../src/run/config.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const { openRun, runFiles, runId } = await import('../src/run/run-folder.js');
  const { existsSync } = await import('node:fs');
  const { defaultModel, lastingModelName } = await import('../src/llm/model-files.js');
  if (flags.resume !== undefined && flags.runDir === undefined) {
    throw new WorkbenchError('usage', 'expected --run-dir with --resume, got none', {
      hint: 'Runs: `kgwalk runs list`.',
    });
  }
  const folderOf = (seed: number | undefined) =>
    flags.runDir === undefined
      ? undefined
      : resolve(flags.seeds === undefined ? flags.runDir : `${flags.runDir}-s${seed}`);
  return seedsOf(flags).map((seed) => {
    const folder = folderOf(seed);
    const existing = folder !== undefined && existsSync(runFiles(folder).config);
    if (existing && flags.resume === undefined) {
      throw new WorkbenchError('usage', `expected a folder without a run, got one that holds a run, at ${folder}`, {
        hint: 'Go on with it by --resume, or choose another --run-dir.',
      });
    }
    const overrides = [
      ...flags.set,
      ...(flags.model === undefined ? [] : [`encoder.model=${JSON.stringify(lastingModelName(flags.model))}`]),
      ...(seed === undefined ? [] : [`seed=${seed}`]),
      ...(flags.backend === undefined ? [] : [`backend=${flags.backend}`]),
    ];
    // A resumed run keeps its own settings; what is given besides must not contradict them, which createRun checks.
    const settings = existing
      ? loadConfig(runSettings, { text: JSON.stringify(openRun(folder).config), overrides, source: folder })
      : withModel(loadPreset(preset, overrides), defaultModel());
    return { settings, folder: folder ?? join(runsFolder(), runId(settings.name, settings.seed)) };
  });
}

/** Settings that name no model take the embedded one, where the package has it. */
function withModel(settings: RunSettings, model: string | undefined): RunSettings {
  if (settings.encoder.model !== undefined || model === undefined) return settings;
  return { ...settings, encoder: { ...settings.encoder, model } };
}

function seedsOf({ seed, seeds }: TrainFlags): (number | undefined)[] {
  if (seeds === undefined) return [seed === undefined ? undefined : whole(seed, '--seed')];
  if (seed !== undefined) throw new WorkbenchError('usage', 'expected --seed or --seeds, got both');
  const list = seeds.split(',').map((text) => whole(text, '--seeds'));
  if (new Set(list).size === list.length) return list;
  throw new WorkbenchError('usage', `expected different seeds, got ${seeds}, at --seeds`);
}

function whole(text: string, flag: string): number {
  if (/^\d+$/.test(text.trim())) return Number(text);
  throw new WorkbenchError('usage', `expected whole numbers from 0, got ${JSON.stringify(text)}, at ${flag}`);
}
