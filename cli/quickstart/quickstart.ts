/** The quickstart from an empty machine to a page: every step by the functions of the command that it stands for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Watch } from '../watch.js';
import type { OverallProgress } from './overall-progress.js';
import type { QuestionRowOf } from './question-evaluations.js';
import type { WalkRow } from './walk-evaluations.js';

/** Where, with which model, and how much of it. */
export interface QuickstartOptions {
  /** Where runs, evaluations and the page go. */
  folder: string;
  /** Of both runs. Default that of the presets. */
  seed?: number | undefined;
  /** Prompted agents are asked so many. */
  questions: number;
  promptedAgents: readonly string[];
  /** Language model and text encoder, as `--model` takes it. */
  model: string;
  /** What to change in both presets, for a quickstart that is quicker still. */
  overrides?: readonly string[];
  progress: OverallProgress;
  signal: AbortSignal;
}

/** What was made, and where it is. */
export interface QuickstartResult {
  runs: { dialogues: string; questions: string };
  walks: WalkRow[];
  /** On the sample that prompted agents were asked. */
  questions: QuestionRowOf[];
  /** On all valid questions. */
  allQuestions: QuestionRowOf[];
  page: string;
  /** The charts as PNG files; empty where the page was there already. */
  pictures: string[];
  /** Whether everything was done before. */
  reused: boolean;
}

const again = 'reused, done before';

/**
 * Does what is not done yet.
 * @throws WorkbenchError what the steps throw; `stopped` once the signal is aborted: called again, it goes on
 */
export async function quickstart(options: QuickstartOptions): Promise<QuickstartResult> {
  const { folder, seed, questions, promptedAgents, model, overrides = [], progress, signal } = options;
  const watch: Watch = { progress: (...of) => progress.line(...of), signal };
  const { loadPreset } = await import('../../presets/index.js');
  const { trainedRun } = await import('./trained-run.js');
  const settingsOf = (preset: string) =>
    loadPreset(preset, [
      `encoder.model=${JSON.stringify(model)}`,
      ...(seed === undefined ? [] : [`seed=${seed}`]),
      ...overrides,
    ]);

  progress.begin();
  const { demoWorld } = await import('./demo-world.js');
  const world = await demoWorld(watch);
  progress.end(world.note);

  progress.begin();
  const dialogues = await trainedRun(settingsOf('demo'), join(folder, 'dialogues'), watch);
  progress.end(dialogues.reused ? again : 'trained');

  progress.begin();
  const { evaluateWalks } = await import('./walk-evaluations.js');
  const walks = await evaluateWalks(dialogues.run, watch);
  progress.end(walks.reused ? again : 'evaluated');

  progress.begin();
  const answering = await trainedRun(settingsOf('demo-questions'), join(folder, 'questions'), watch);
  progress.end(answering.reused ? again : 'trained');

  const { evaluatePrompted, evaluateUnprompted } = await import('./question-evaluations.js');
  const evaluations = join(folder, 'evaluations');
  const work = { run: answering.run, model, questions, promptedAgents, evaluations, watch };
  progress.begin();
  const all = await evaluateUnprompted(work);
  progress.end(all.reused ? again : 'evaluated');

  progress.begin();
  const some = await evaluatePrompted(work);
  progress.end(some.reused ? again : 'evaluated');

  progress.begin();
  const page = join(folder, 'report', 'index.html');
  const done = [world, dialogues, walks, answering, all, some].every(({ reused }) => reused);
  const reused = done && existsSync(page);
  const report = reused ? { page, pictures: [] } : await writePage();
  progress.end(reused ? again : 'written');

  async function writePage() {
    const { writeReport } = await import('../../reports/report.js');
    return writeReport([dialogues.run, answering.run], {
      to: join(folder, 'report'),
      title: 'The quickstart: walks and answers on the demo world',
      evaluations: [...all.rows, ...some.rows].map((row) => row.folder),
    });
  }
  return {
    runs: { dialogues: dialogues.run.folder, questions: answering.run.folder },
    walks: walks.rows,
    questions: some.rows,
    allQuestions: all.rows,
    ...report,
    reused,
  };
}
