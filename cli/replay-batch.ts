/** `kgwalk train --replay-batch FILE`: what a run saw at the step where it diverged, and what is seen there now. */
import { dirname, resolve } from 'node:path';
import { printable } from '../src/run/printable.js';
import type { Replay } from '../trainers/replay-batch.js';
import type { RecordedStep } from '../trainers/saved-step.js';
import { printJson, printLine, printTable, type Row } from './output.js';

/** The options of `kgwalk train --replay-batch`. */
export interface ReplayFlags {
  replayBatch: string;
  runDir?: string;
  model?: string;
  backend?: string;
  json?: boolean;
}

/** Makes the step again and prints both; the folder defaults to the run that the file lies in. */
export async function replay({ replayBatch, runDir, model, backend, json }: ReplayFlags): Promise<void> {
  const { openRun } = await import('../src/run/run-folder.js');
  const { commandProgress } = await import('./progress.js');
  const { replayBatch: replayFile } = await import('../tasks/train.js');
  const { settingsOfRun } = await import('../trainers/train-settings.js');
  const { lastingModelName } = await import('../src/llm/model-files.js');
  const file = resolve(replayBatch);
  const run = openRun(resolve(runDir ?? dirname(dirname(file))));
  const overrides = [
    ...(model === undefined ? [] : [`encoder.model=${JSON.stringify(lastingModelName(model))}`]),
    ...(backend === undefined ? [] : [`backend=${backend}`]),
  ];
  const settings = settingsOfRun(run, overrides);
  const result = await replayFile({ file, folder: run.folder, settings, progress: commandProgress() });
  await printReplay(result, json);
}

/** The step as it was recorded, as it is here, and what each of its samples costs. */
export async function printReplay(result: Replay, json = false): Promise<void> {
  const { placeInWords } = await import('../trainers/saved-step.js');
  if (json) return printJson(result);
  const { phase, recorded, seen, figures, same } = result;
  printLine(`${phase} ${placeInWords(recorded.place)}, on ${result.backend}`);
  printTable([row('recorded', recorded), seen ? row('here', seen) : finite(figures)]);
  printLine(verdict(result));
  const samples = (seen ?? recorded).samples ?? [];
  if (samples.length === 0) return;
  printLine(`\nloss of each sample${same || seen ? '' : ', as recorded'}:`);
  for (const { id, loss } of samples) printLine(`${loss.padStart(24)}  ${printable(id)}`);
}

function row(which: string, { loss, gradNorm, first }: RecordedStep): Row {
  return {
    step: which,
    loss,
    'gradient norm': gradNorm,
    'first that is not finite': `${first.tensor}[${first.index}] = ${first.value}`,
  };
}

function finite(figures: Replay['figures'] = {}): Row {
  return {
    step: 'here',
    loss: String(figures['train/loss']),
    'gradient norm': String(figures['train/grad_norm']),
    'first that is not finite': 'none',
  };
}

function verdict({ seen, same }: Replay): string {
  if (same) return 'the same, bit by bit';
  return seen ? 'not the same: another backend, processor or version?' : 'every number is finite here';
}
