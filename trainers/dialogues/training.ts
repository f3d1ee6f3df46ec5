/** Training of a walker over dialogues: TransE, text vectors, cloning, PPO, and the best on valid. */
import { type EmbeddingVectors, encodeNames, encodeTasks, writeTables } from '../../agents/walker/vectors.js';
import type { FrozenVectors } from '../../agents/walker/features/dialogue-scratch.js';
import type { TaskVectors } from '../../agents/walker/features/featurizer.js';
import { createPolicy, inputsOf, slotOrder, type WalkerInputs } from '../../agents/walker/inputs.js';
import { StateReader, walkerActor } from '../../agents/walker/policy.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { cloneMetric } from '../../checkpoints/keeper.js';
import { type DialogueDataset, sourcesHash } from '../../datasets/dialogues/dialogue-dataset.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import { initialState, walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { seenEntities } from '../../evaluation/outcome.js';
import { encodeWithProgress } from '../../src/encoder/open-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { adamWOf } from '../../src/tensor/adamw.js';
import { clone } from '../clone.js';
import { clonePhase } from '../clone-phase.js';
import { shownGolds } from '../demonstrations.js';
import { type BesideOptions, encodeBeside } from '../encode-beside.js';
import { endOfStep, recordedStep } from '../saved-step.js';
import { logEncoding, type Session, type Training } from '../session.js';
import type { TrainSettings } from '../train-settings.js';
import { dialogueTriples } from '../transe/triples.js';
import { keepInRun, pretrainEmbeddings, replayTransE, type Pretrained } from '../transe/pretrain.js';
import { openDialogueData } from './data.js';
import { evaluateBest, evaluateOnValid } from './evaluate-valid.js';
import { dialoguePpo } from './ppo.js';
import type { RunGraphs } from './samples-of-split.js';

/** A run with what it trains on. */
export interface DialogueSession extends Session {
  inputs: WalkerInputs;
  train: readonly WalkSample[];
  valid: readonly WalkSample[];
  seenTargets: ReadonlySet<number>;
}

/** @throws WorkbenchError `data` for a data set that is not there or that the rules of the walk cannot use */
export async function openDialogueTraining(settings: TrainSettings): Promise<Training> {
  const { dataset, graph, walks, train, valid, notes } = await openDialogueData(settings);
  const slots = slotOrder(settings, walks.graph);
  return {
    hashes: { graph: graph.hash, dataset: sourcesHash(dataset.manifest), ...(slots !== undefined && { slots }) },
    readsTexts: true,
    notes,
    async run(session, from) {
      const { run, replayed } = session;
      if (from?.header.kind === 'embedding') return replayPretraining(session, dataset, graph, from);
      const tasks = [...train, ...valid].map(({ task }) => task);
      const texts = encodeBeside(session, session.threads ?? 1, (options) =>
        encodeTexts(session, { graph, walks }, tasks, options),
      );
      let transe: Pretrained | undefined;
      try {
        if (settings.transe.enabled) transe = await embed(session, dataset, graph, !from);
      } catch (error) {
        await texts.stop();
        throw error;
      }
      run.update({ phase: 'encode' });
      const inputs = await prepareInputs(session, { graph, walks }, train, await texts.join(), transe?.table);
      run.update({ done: { ...run.state.done, encode: true } });
      const dialogues = { ...session, inputs, train, valid, seenTargets: seenEntities(train) };
      if (settings.clone.enabled && from?.header.phase !== 'ppo') {
        await cloneInto(dialogues, from);
        if (replayed) return;
      }
      if (settings.ppo.enabled) {
        run.update({ phase: 'ppo' });
        await dialoguePpo(dialogues, transe?.table, from?.header.phase === 'ppo' ? from : undefined);
        run.update({ done: { ...run.state.done, ppo: true } });
      }
      if (!replayed) await evaluateBest(dialogues);
    },
  };
}

/** What a run reads before it walks. */
interface RunTexts {
  names: FrozenVectors;
  /** Absent where states are read one by one. */
  dialogues?: TaskVectors;
  reader?: StateReader;
}

/** Vectors of all that a run reads; of states that are read one by one, those that walks begin with. */
async function encodeTexts(
  { settings, encoder, signal }: Session,
  { graph, walks }: RunGraphs,
  tasks: readonly WalkTask[],
  beside: BesideOptions,
): Promise<RunTexts> {
  const options = { ...beside, settings: settings.encoder };
  const names = await encodeNames(encoder, graph, settings.walker, options);
  if (settings.stateText.encode === 'once') return { names, dialogues: await encodeTasks(encoder, tasks, options) };
  const reader = new StateReader(encoder, walks.graph, settings.stateText, signal);
  const begun = tasks.map((task) => ({ task, state: initialState(walks.graph, task.start, settings.env) }));
  const texts = await reader.texts(begun.filter(({ state }) => !state.done));
  await encodeWithProgress(encoder, texts, { ...beside, label: 'encode first states', overlong: 'refuse' });
  return { names, reader };
}

/** The network's inputs from text vectors and TransE; the tables are kept with the run. */
async function prepareInputs(
  session: Session,
  graphs: RunGraphs,
  train: readonly WalkSample[],
  { names, dialogues, reader }: RunTexts,
  transe: EmbeddingVectors | undefined,
): Promise<WalkerInputs> {
  const { tf, settings, run } = session;
  const rules = walkRulesOf(settings.env);
  const maxActions = settings.env.maxOut;
  const inputs = await inputsOf(names, {
    ...{ tf, settings: settings.walker, ...graphs, rules, train, transe, reader, maxActions },
  });
  if (dialogues) inputs.featurizer.texts = dialogues;
  writeTables(run.folder, inputs.tables);
  logEncoding(session);
  return inputs;
}

/** Trains or reuses embeddings and keeps a copy with the run. */
async function embed(session: Session, dataset: DialogueDataset, graph: Graph, log: boolean): Promise<Pretrained> {
  const { run, logs, settings, threads, progress, signal } = session;
  run.update({ phase: 'transe' });
  const identity = { settings: settings.transe, seed: settings.seed };
  const pretrained = await pretrainEmbeddings(graph, {
    ...identity,
    exclude: dialogueTriples(dataset, graph),
    threads,
    progress,
    ...(signal && { signal }),
    onDiverged: (error, before) => endOfStep(session, 'transe', error, before),
  });
  keepInRun(pretrained, { graph, ...identity }, run.files.embeddings);
  if (log) for (const { step, metrics } of pretrained.history) logs.metrics('transe', step, metrics);
  logs.timing('transe', pretrained.history.length, { 'time/reused': Number(pretrained.reused) });
  run.update({ done: { ...run.state.done, transe: true } });
  return pretrained;
}

/** The batch of TransE that is saved in a checkpoint, once more. */
function replayPretraining(
  { settings, replayed }: Session,
  dataset: DialogueDataset,
  graph: Graph,
  before: Checkpoint,
): void {
  const { triple } = recordedStep(before, 'the saved step')!.place;
  const options = { settings: settings.transe, seed: settings.seed, exclude: dialogueTriples(dataset, graph) };
  const loss = replayTransE(graph, options, { before, triple: triple!, file: 'the saved step' });
  replayed?.({ 'train/loss': loss });
}

async function cloneInto(session: DialogueSession, from: Checkpoint | undefined): Promise<void> {
  const { tf, run, settings, inputs, train, valid } = session;
  run.update({ phase: 'clone' });
  const policy = createPolicy(tf, inputs, settings.seed);
  const actor = walkerActor(policy);
  const { weightDecay, maxGradNorm } = settings.clone;
  const optimizer = adamWOf(actor.parameters, { weightDecay, maxGradNorm });
  try {
    await clonePhase(session, {
      trainee: { actor, optimizer },
      lossName: cloneMetric,
      evaluate: () => evaluateOnValid(session, policy),
      clone: (course) => {
        const shown = shownGolds(inputs.featurizer.parts, { train, valid }, settings.clone, settings.seed);
        return clone({ ...course, ...shown, actor, optimizer });
      },
      from,
    });
  } finally {
    optimizer.dispose();
    actor.dispose();
  }
  run.update({ done: { ...run.state.done, clone: true } });
}
