/** The quickstart from an empty machine to a page; every step calls the function of its command. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { datasetFolder, manifestFileName } from '../../datasets/imported-dataset.js';
import type { RunSettings } from '../../presets/index.js';
import { embeddedModelName, lastingModelName, modelFile } from '../../src/llm/model-files.js';
import { configDifferences, refuseDifferences } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { cacheFolder, runsFolder } from '../../src/run/locations.js';
import type { RunInfo } from '../../src/run/records.js';
import { openRun, runIn } from '../../src/run/run-folder.js';
import type { Work } from '../../tasks/task.js';
import { settingsOfRun } from '../../agents/train-settings.js';
import { plainSettings } from '../../trainers/run-settings.js';
import { terminalWork } from '../terminal.js';
import type { OverallProgress, PlannedStep } from './overall-progress.js';
import { agentOf } from '../../agents/registry.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { evaluateNamed, keepBeside } from '../../tasks/evaluate.js';
import { type EvaluationFlags, usualFlags } from '../../tasks/flags.js';
import { loadTask, type TaskName } from '../../tasks/index.js';

/** Prompted agents of the quickstart, with the switches that the embedded model was trained on. */
export const promptedAgents = ['io', 'cot', 'tog', 'self-veqa:triples=8,shots=6', 'fiske'] as const;

/** @param questions number of questions for the prompted agents */
export function quickstartPlan(questions: number): PlannedStep[] {
  const asked = (seconds: number) => (seconds * questions) / 20;
  return [
    { title: 'the demo world: a knowledge graph, dialogues and questions about it', parts: { import: 2 } },
    {
      title: 'a walker that follows dialogues: embeddings, text vectors, cloning, PPO',
      parts: {
        transe: 3,
        'encode entities': 6,
        'encode messages': 12,
        clone: 8,
        ppo: 14,
        'evaluate the best on valid': 2,
      },
    },
    {
      title: 'the same dialogues, by agents that learned less or nothing',
      parts: { random: 1, frequency: 1, transe: 1, clone: 2 },
    },
    {
      title: 'a walker that answers questions, by PPO from scratch',
      parts: { 'encode questions': 5, ppo: 20, 'evaluate the best on valid': 1 },
    },
    {
      title: 'a reader that answers the same questions, fitted to them without walking',
      parts: { fit: 8, 'evaluate the best on valid': 1 },
    },
    {
      title: 'the same questions, by agents that do not learn',
      parts: { 'random-chain': 1, 'template-lookup': 4, PPO: 1, 'nsm-chains': 1, page: 4 },
    },
    {
      title: 'some of them, by prompted agents over the embedded language model',
      parts: {
        'template-lookup': 3,
        io: asked(4),
        cot: asked(12),
        tog: asked(5),
        'self-veqa': asked(14),
        fiske: asked(16),
      },
    },
    { title: 'learning curves, and one page about it all', parts: { page: 5 } },
  ];
}

/** Output folder, model and sizes. */
interface QuickstartOptions {
  /** Folder of runs, evaluations and the page. */
  folder: string;
  /** Seed of all runs. Default: that of the presets. */
  seed?: number | undefined;
  /** Number of questions for the prompted agents. */
  questions: number;
  promptedAgents: readonly string[];
  /** Language model and text encoder, as `--model` takes it. */
  model: string;
  /** Overrides for all presets (`reader.…` for readers only), to make the quickstart shorter. */
  overrides?: readonly string[];
  /** Called once the dialogue walker is evaluated. */
  onFirst?: ((first: FirstResult) => Promise<void>) | undefined;
  /** Called with the page once it is about the dialogue walker. */
  onPage?: ((page: string) => Promise<void>) | undefined;
  progress: OverallProgress;
  signal: AbortSignal;
}

/** The dialogue walker with its baselines, before anything else is trained. */
export type FirstResult = Pick<QuickstartResult, 'walks'> & { run: string };

/** Results and their paths. */
export interface QuickstartResult {
  runs: { dialogues: string; questions: string; reader: string };
  /** On dialogues; the trained walker last. */
  walks: EvaluatedAgent[];
  /** On the sample for prompted agents. */
  questions: EvaluatedAgent[];
  /** On all valid questions. */
  allQuestions: EvaluatedAgent[];
  page: string;
  /** Charts as PNG files; empty if the page already existed. */
  pictures: string[];
  /** True if everything was done before. */
  reused: boolean;
}

const again = 'reused, done before';

/** Stands on the page until all is done. */
const later = 'The quickstart is still at work: reload this page for what it has finished since.';

const isUnfinished = (page: string) => readFileSync(page, 'utf8').includes(later);

/**
 * Performs the missing steps.
 * @throws WorkbenchError what the steps throw; `stopped` once the signal is aborted: call again to continue
 */
export async function quickstart(options: QuickstartOptions): Promise<QuickstartResult> {
  const { folder, seed, questions, promptedAgents, model, overrides = [], progress, signal } = options;
  const work: Work = { ...terminalWork(), progress: (...of) => progress.line(...of), signal };
  const { loadPreset } = await import('../../presets/index.js');
  const settingsOf = (preset: string, ...own: string[]) =>
    loadPreset(preset, [
      ...own,
      `encoder.model=${JSON.stringify(model)}`,
      ...(seed === undefined ? [] : [`seed=${seed}`]),
      // Walkers have no such section.
      ...overrides.filter((one) => preset === 'readers' || !one.startsWith('reader.')),
    ]);

  const step = async <Made extends { reused: boolean }>(done: string, make: () => Promise<Made>): Promise<Made> => {
    progress.begin();
    const made = await make();
    progress.end(made.reused ? again : done);
    return made;
  };
  progress.begin();
  const world = await demoWorld(work);
  progress.end(world.note);
  const dialogues = await step('trained', () => trainedRun(settingsOf('demo'), join(folder, 'dialogues'), work));
  const page = join(folder, 'report', 'index.html');
  const walks = await step('evaluated', () => evaluateWalks(dialogues.run, work));
  await options.onFirst?.({ run: dialogues.run.folder, walks: walks.rows });
  if (!walks.reused || !existsSync(page)) await writePage([dialogues.run], [], later);
  await options.onPage?.(page);
  const answering = await step('trained', () =>
    trainedRun(settingsOf('demo-questions'), join(folder, 'questions'), work),
  );
  const reading = await step('trained', () =>
    trainedRun(settingsOf('readers', ...demoQuestions), join(folder, 'reader'), work),
  );
  const runs = [dialogues.run, answering.run, reading.run];
  const evaluations = join(folder, 'evaluations');
  const asked = {
    runs: { PPO: answering.run, 'nsm-chains': reading.run },
    model,
    questions,
    promptedAgents,
    evaluations,
    work,
  };
  const all = await step('evaluated', async () => {
    const evaluated = await evaluateUnprompted(asked);
    if (!evaluated.reused) await writePage(runs, evaluated.rows, later);
    return evaluated;
  });
  const some = await step('evaluated', () => evaluatePrompted(asked));
  const { reused, ...report } = await step('written', async () => {
    const done = [world, dialogues, walks, answering, reading, all, some].every((one) => one.reused);
    if (done && !isUnfinished(page)) return { page, pictures: [], reused: true };
    return { ...(await writePage(runs, [...all.rows, ...some.rows])), reused: false };
  });

  async function writePage(of: readonly RunInfo[], rows: readonly EvaluatedAgent[], status?: string) {
    const { writeReport } = await import('../../reports/report.js');
    const { keptStatistics } = await import('../../tasks/kept-statistics.js');
    return writeReport(of, {
      to: join(folder, 'report'),
      title: 'The quickstart: walks and answers on the demo world',
      status,
      evaluations: rows.map((row) => row.folder),
      statistics: keptStatistics,
    });
  }
  return {
    runs: { dialogues: dialogues.run.folder, questions: answering.run.folder, reader: reading.run.folder },
    walks: walks.rows,
    questions: some.rows,
    allQuestions: all.rows,
    ...report,
    reused,
  };
}

/** Truths are for prompted agents: a statement has no answer that a chain leads to. */
const demoQuestions = ['data.dataset=demo-questions', 'data.subsets=[1-hop, 2-hop, 3-hop]'];

const names = ['demo', 'demo-questions'];

/** Existing data is kept; runs detect by its hashes if it is different data. */
export async function demoWorld({ progress }: Work): Promise<{ note: string; reused: boolean }> {
  if (names.every((name) => existsSync(join(datasetFolder(name), manifestFileName)))) {
    return { note: `reusing ${names.join(' and ')}, made before`, reused: true };
  }
  const { importDemo } = await import('../../datasets/demo/import.js');
  await importDemo({ progress });
  return { note: `made ${names.join(' and ')}`, reused: false };
}

/** @throws WorkbenchError `config` for a folder with a run of other settings, `data` for one of another model; and what training throws */
async function trainedRun(
  settings: RunSettings,
  folder: string,
  work: Work,
): Promise<{ run: RunInfo; reused: boolean }> {
  const before = runIn(folder);
  if (before) refuseOtherSettings(before, settings);
  if (before?.state.status === 'finished') {
    await refuseOtherModel(before, settings);
    return { run: before, reused: true };
  }
  const { train } = await import('../../tasks/train.js');
  const { progress, signal } = work;
  await train({ settings, folder, resume: 'last', progress, signal });
  return { run: openRun(folder), reused: false };
}

function refuseOtherSettings(run: RunInfo, settings: RunSettings): void {
  refuseDifferences(
    configDifferences(plainSettings(settingsOfRun(run)), plainSettings(settings)),
    'a run of these settings',
    run.folder,
    'Give another --run-dir, or remove that folder.',
  );
}

/** A model's name stays the same when another file replaces it. */
async function refuseOtherModel({ folder, environment }: RunInfo, settings: RunSettings): Promise<void> {
  const { openEncoder } = await import('../../src/encoder/open-encoder.js');
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  await encoder.dispose();
  if (encoder.id === environment.hashes.encoder) return;
  throw new WorkbenchError('data', `expected a run over ${encoder.id}, got one over another model, at ${folder}`, {
    hint: 'Give another --run-dir, or remove that folder.',
  });
}

/**
 * The model as recorded by runs, after checking that its file is both a language model and a text encoder.
 * @throws WorkbenchError `usage` or `data` for a missing model, or one without both abilities
 */
export async function usableModel(spec: string = embeddedModelName): Promise<string> {
  const { readChatModelFile } = await import('../../src/llm/gguf/model-facts.js');
  const { readEmbeddingModel } = await import('../../src/encoder/embedding-model.js');
  const file = modelFile(spec);
  await readChatModelFile(file);
  await readEmbeddingModel(file);
  return lastingModelName(spec);
}

/** `runs/quickstart`; another model or seed has a separate folder. */
export function quickstartFolder(model: string, seed: number | undefined): string {
  const words = [
    'quickstart',
    ...(model === embeddedModelName ? [] : [basename(model, '.gguf').replace(/[^\w.-]+/g, '-')]),
    ...(seed === undefined ? [] : [`s${seed}`]),
  ];
  return join(runsFolder(), words.join('-'));
}

/** One agent's evaluation. */
export interface EvaluatedAgent {
  /** Name of an untrained agent, of a checkpoint, or of a run's row. */
  name: string;
  folder: string;
  record: EvaluationRecord;
}

/** `reused`: all was evaluated before. */
type EvaluatedAgents = { rows: EvaluatedAgent[]; reused: boolean };

const walkBaselines = ['random', 'frequency', 'transe'] as const;

/** Evaluates what is missing, inside the run's folder. */
async function evaluateWalks(run: RunInfo, work: Work): Promise<EvaluatedAgents> {
  // If PPO gained nothing, the best on valid is the clone; then PPO's row is its last checkpoint.
  const ppo = resolveCheckpoint(run.folder, 'best').phase === 'ppo' ? 'best' : 'last';
  const runs = { [`${run.folder}@clone`]: 'clone', [`${run.folder}@${ppo}`]: 'PPO' };
  return evaluated('dialogues', walkBaselines, runs, {}, work);
}

/** Baselines on questions without training and model. */
const questionBaselines = ['random-chain', 'template-lookup'] as const;

interface QuestionWork {
  /** Runs trained on questions, by row name. */
  runs: Readonly<Record<string, RunInfo>>;
  /** Model as given to `--model`. */
  model: string;
  /** Number of questions for the prompted agents. */
  questions: number;
  promptedAgents: readonly string[];
  evaluations: string;
  work: Work;
}

/** Maximum calls per question of a prompted agent. */
const callBudget = 30;

/** Trained agents and baselines on all valid questions. */
function evaluateUnprompted({ runs, evaluations, work }: QuestionWork): Promise<EvaluatedAgents> {
  return onQuestions([...questionBaselines], runs, { evaluations }, work);
}

/** All of them and prompted agents on a seeded sample of the valid questions. */
function evaluatePrompted(asked: QuestionWork): Promise<EvaluatedAgents> {
  const { runs, model, questions, promptedAgents, evaluations, work } = asked;
  // The embedded model chooses by words, not by line numbers.
  const prompts = promptedAgents.length > 0 && { model, budget: String(callBudget), choices: 'likelihood' as const };
  const flags = { evaluations, limit: String(questions), ...prompts };
  return onQuestions([...questionBaselines, ...promptedAgents], runs, flags, work);
}

function onQuestions(
  agents: readonly string[],
  runs: QuestionWork['runs'],
  flags: Partial<EvaluationFlags>,
  work: Work,
) {
  const names = Object.fromEntries(Object.entries(runs).map(([name, { folder }]) => [folder, name]));
  return evaluated('questions', agents, names, flags, work);
}

/** @param runs name of the row by run */
async function evaluated(
  task: TaskName,
  agents: readonly string[],
  runs: Readonly<Record<string, string>>,
  flags: Partial<EvaluationFlags>,
  work: Work,
): Promise<EvaluatedAgents> {
  const nameOf = (name: string) => runs[name] ?? agentOf(name);
  const all = await evaluateNamed(
    await loadTask(task),
    [...agents.map((name) => ({ name, isRun: false })), ...Object.keys(runs).map((name) => ({ name, isRun: true }))],
    { ...usualFlags, ...flags },
    { ...work, progress: (label, ...of) => work.progress(nameOf(label), ...of) },
    { reuse: true },
  );
  if (flags.evaluations === undefined) keepBeside(all);
  return {
    rows: all.map(({ name, folder, record }) => ({ name: nameOf(name), folder, record })),
    reused: all.every(({ speed }) => speed === undefined),
  };
}
