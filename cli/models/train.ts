/** `kgwalk models train`: the embedded model, made again from its data. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { pngOf } from '../../reports/pictures.js';
import { palette } from '../../reports/plots/colors.js';
import { movingMean, windowOf } from '../../reports/plots/series.js';
import { commandLine } from '../../src/run/command-line.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File, writeFileAtomic } from '../../src/run/files.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { anyNumber } from '../../src/run/records.js';
import { threadsOf } from '../../tasks/flags.js';
import { terminalWork } from '../terminal.js';
import { printJson, printLine } from '../output.js';

/** The options of `kgwalk models train`. */
export interface TrainModelFlags {
  out: string;
  set: string[];
  resume?: boolean;
  maxMinutes?: number;
  backend?: string;
  json?: boolean;
}

/** Trains, or resumes training, and draws the loss. @throws WorkbenchError `stopped`; the checkpoint is resumed by `--resume` */
export async function trainModel(flags: TrainModelFlags): Promise<void> {
  const { demoModelSettings } = await import('../../models/demo/settings.js');
  const { demoFiles, trainDemoModel } = await import('../../models/demo/train-demo-model.js');
  const { loadConfig } = await import('../../src/run/config.js');
  const { executorOf, openExecutor } = await import('../../src/nn/open-executor.js');
  const settings = loadConfig(demoModelSettings, { overrides: flags.set });
  const out = resolve(flags.out);
  const model = join(out, demoFiles.model);
  if (!flags.resume && existsSync(join(out, demoFiles.checkpoint))) {
    throw new WorkbenchError('usage', `expected a folder without a training, got one, at ${out}`, {
      hint: 'Resume it by --resume, or choose another --out.',
    });
  }
  const { executor, name } = await openExecutor(executorOf(flags.backend ?? 'auto'));
  const { demoWorld } = await import('../quickstart/quickstart.js');
  await demoWorld(terminalWork());
  const { progress, signal } = terminalWork(flags.maxMinutes);
  const { finished, place } = await trainDemoModel({
    ...{ executor, settings, out, resume: flags.resume === true },
    signal,
    progress: (total) => progress(`training on ${name}`, total, 'tokens'),
    onStage: (stage) => {
      if (!flags.json) printLine(stage);
    },
  });
  if (!finished) {
    throw new WorkbenchError('stopped', `stopped after ${place.tokens} of ${settings.training.tokens} tokens`, {
      hint: `Resume: ${commandLine('models', 'train', '--resume', '--out', flags.out)}`,
    });
  }
  const picture = await drawLossCurve(join(out, demoFiles.log), join(out, 'loss-curve.png'));
  const sha256 = await sha256File(model);
  if (flags.json) return printJson({ model, sha256, tokens: place.tokens, steps: place.steps, picture });
  printLine(`${place.tokens} tokens in ${place.steps} updates`);
  printLine(`model: ${model}  (sha256 ${sha256})`);
  printLine(`loss:  ${picture}`);
}

/** The options of `kgwalk models train-zero-shot`. */
export interface TrainZeroShotFlags extends Pick<TrainModelFlags, 'out' | 'set' | 'json'> {
  threads?: string;
}

/** Trains the weights of the agent `zero-shot`. @throws WorkbenchError `stopped`, with nothing written */
export async function trainZeroShotModel({ out, set, threads, json }: TrainZeroShotFlags): Promise<void> {
  const { trainZeroShot } = await import('../../models/zero-shot/train-zero-shot.js');
  const { progress, signal } = terminalWork();
  const weights = await trainZeroShot({
    ...{ out: resolve(out), overrides: set, threads: threadsOf(threads), signal },
    progress: (total) => progress('training on generated graphs', total, 'steps'),
  });
  if (json) return printJson({ weights });
  for (const file of weights) printLine(`weights: ${file}  (sha256 ${await sha256File(file)})`);
}

/** Lines of the log that have one of the two; others are left out. */
const logLine = z.object({
  tokens: anyNumber.optional(),
  loss: anyNumber.optional(),
  watched: z.record(z.string(), z.object({ loss: anyNumber })).optional(),
});
type LogLine = z.output<typeof logLine>;

/** Draws what is trained on and what is watched, in nats a token over millions of tokens. @returns `picture` */
async function drawLossCurve(log: string, picture: string): Promise<string> {
  const lines = readJsonLines(log, logLine);
  const series = (valueOf: (line: LogLine) => number | undefined) =>
    new Map(
      lines.flatMap((line): [number, number][] => {
        const value = valueOf(line);
        return line.tokens === undefined || value === undefined ? [] : [[line.tokens / 1e6, value]];
      }),
    );
  // What is watched is shown as measured, what is trained on smoothed.
  const curves = [
    { label: 'trained on', key: 'loss', values: series(({ loss }) => loss) },
    { label: 'watched', key: 'eval/loss', values: series(({ watched }) => watched?.all?.loss) },
  ];
  const drawn = curves.map(({ label, key, values }, i) => {
    const seeds = [movingMean([...values.values()], windowOf(key, values.size))];
    return { label, color: palette[i]!, x: [[...values.keys()]], seeds };
  });
  const title = 'Weighted loss of a token, nats';
  const axes = ['tokens seen, millions'];
  writeFileAtomic(picture, await pngOf({ kind: 'lines', title, unit: '', axes, lines: drawn, fromZero: true }));
  return picture;
}
