/** Training of a walker over dialogues: TransE, text vectors, cloning, PPO, and the best on valid. */
import { createCritic } from './critic.js';
import type { LinkedTurns } from './linked-turns.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import { contextDimOf, type TaskVectors } from './features/featurizer.js';
import {
  createPolicy,
  inputsOf,
  networkShape,
  restoredPolicy,
  slotOrder,
  type WalkerInputs,
  wideDegreesOf,
} from './inputs.js';
import { type Policy, StateReader, walkerActor, walkerValues } from './policy.js';
import { encodeNames, encodeTasks, writeTables } from './vectors.js';
import { writeVocabulary } from './words/said-words.js';
import { walkerAgent } from './agent.js';
import { cloneMetric } from '../../checkpoints/keeper.js';
import { type DialogueDataset, sourcesHash } from '../../datasets/dialogues/dialogue-dataset.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import { type dialogueWalkId, embeddingPotential } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { initialState, walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { makeVectorEnv } from '../../envs/registry.js';
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import { encodeWithProgress } from '../../src/encoder/open-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { sampled } from '../../src/run/seeds.js';
import { AdamW } from '../../src/nn/adamw.js';
import { clonePhase } from '../../trainers/clone.js';
import { goldWalks, shownGolds } from './demonstrations.js';
import { type BackgroundOptions, encodeInBackground } from '../../trainers/background-encoding.js';
import { ExpectedRewardTrainer } from './expected-reward.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { logEncoding, type Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import { walksPerStep } from '../../trainers/run-settings.js';
import type { TrainSettings } from '../train-settings.js';
import { keepInRun, type Pretrained, pretrainEmbeddings } from '../embeddings/transe/pretrain.js';
import { dialogueTriples } from '../embeddings/transe/triples.js';
import { openDialogueData, refuseForeignEnv, type RunGraphs } from './training-data.js';
import { dialogueProblems } from './problems.js';
import { type LoadedWalker, loadWalkers, type LoadWalkersOptions } from './load-walker.js';
import type { Agent } from '../agent.js';
import type { Method } from '../method.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';

/** Judge of walkers in training. */
export interface DialogueTraining {
  /** @returns figures under `eval/`, the first of which chooses the best checkpoint */
  evaluate(agent: Agent, of: JudgedRun, samples: readonly WalkSample[]): Promise<Record<string, number>>;
}

/** Run whose walker is judged. */
export interface JudgedRun extends Pick<Session, 'progress' | 'signal'> {
  settings: TrainSettings;
  graph: Graph;
  walks: WalkGraph;
  train: readonly WalkSample[];
}

/** Walker over the edges of dialogues: TransE, text vectors, cloning, PPO. */
export const dialogueWalker: Method<DialogueTraining, LoadWalkersOptions, LoadedWalker> = {
  options: ['beamWidth', 'backend'],
  forkPhase: () => 'clone',
  meaning({ walker, clone: { linkedTurns }, transe, seed }: TrainSettings) {
    // Random draws and outputs of cloning do not change a weight's meaning.
    const { dropout: _dropout, featureMemory: _featureMemory, inEdges: _inEdges, ...network } = walker;
    return {
      walker: network,
      ...(linkedTurns && { clone: { linkedTurns: { inCounts: linkedTurns.inCounts } } }),
      ...((walker.entityVectors.includes('transe') || walker.relationVectors === 'transe') && { transe, seed }),
    };
  },
  problems: dialogueProblems,
  networkSize({ clone, ppo, env, stateText, walker }: TrainSettings, textDim) {
    const states = walksPerStep({ clone, ppo });
    const inputs = contextDimOf(textDim, stateText.encode === 'per-step');
    return { rows: states * env.horizon, inputs, units: walker.width };
  },
  open: openRun,
  load: loadWalkers,
};

interface DialogueSession extends Session<TrainSettings> {
  inputs: WalkerInputs;
  train: readonly WalkSample[];
  valid: readonly WalkSample[];
  linked: LinkedTurns | undefined;
  evaluate: DialogueTraining['evaluate'];
}

/** @throws WorkbenchError `data` for a data set that is not there or that the rules of the walk cannot use */
async function openRun(settings: TrainSettings, { evaluate }: DialogueTraining): Promise<TrainingRun> {
  const { dataset, graph, walks, train, valid, linked, notes } = await openDialogueData(settings);
  const slots = slotOrder(settings, walks.graph);
  refuseForeignEnv(settings, { graph, walks }, train);
  return {
    hashes: { graph: graph.hash, dataset: sourcesHash(dataset.manifest), ...(slots !== undefined && { slots }) },
    readsTexts: true,
    notes,
    async phases(shared, from) {
      const session = { ...shared, settings };
      const { run } = session;
      const cloned = settings.clone.enabled ? (linked?.samples ?? []) : [];
      const tasks = [...train, ...cloned, ...valid].map(({ task }) => task);
      const texts = encodeInBackground(session, session.threads ?? 1, (options) =>
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
      const samples = { dataset, train, linked };
      const inputs = await prepareInputs(session, { graph, walks }, samples, await texts.join(), transe?.table);
      run.update({ done: { ...run.state.done, encode: true } });
      const dialogues = { ...session, inputs, train, valid, linked, evaluate };
      return {
        phases: [
          ...(settings.clone.enabled ? [{ name: 'clone' as const, open: () => dialogueClone(dialogues) }] : []),
          ...(settings.ppo.enabled
            ? [{ name: 'ppo' as const, open: () => dialoguePpo(dialogues, transe?.table) }]
            : []),
        ],
      };
    },
  };
}

interface RunTexts {
  names: FrozenVectors;
  /** Absent where states are read one by one. */
  dialogues?: TaskVectors;
  reader?: StateReader;
}

/** Vectors of all that a run reads; of states that are read one by one, those that walks begin with. */
async function encodeTexts(
  { settings, encoder, signal }: Session<TrainSettings>,
  { graph, walks }: RunGraphs,
  tasks: readonly WalkTask[],
  background: BackgroundOptions,
): Promise<RunTexts> {
  const options = { ...background, settings: settings.encoder };
  const names = await encodeNames(encoder, graph, settings.walker, options);
  if (settings.stateText.encode === 'once')
    return { names, dialogues: await encodeTasks(encoder, tasks, { ...options, walker: settings.walker }) };
  const reader = new StateReader(encoder, walks.graph, settings.stateText, signal);
  const begun = tasks.map((task) => ({ task, state: initialState(walks.graph, task.start, settings.env) }));
  const texts = await reader.texts(begun.filter(({ state }) => !state.done));
  await encodeWithProgress(encoder, texts, { ...background, label: 'encode first states', overlong: 'refuse' });
  return { names, reader };
}

/** The network's inputs from text vectors and TransE; the tables are kept with the run. */
async function prepareInputs(
  session: Session<TrainSettings>,
  graphs: RunGraphs,
  { dataset, ...samples }: Pick<DialogueSession, 'train' | 'linked'> & { dataset: DialogueDataset },
  { names, dialogues, reader }: RunTexts,
  transe: FrozenVectors | undefined,
): Promise<WalkerInputs> {
  const { settings, run } = session;
  const rules = walkRulesOf(settings.env);
  const maxActions = settings.env.maxOut;
  const wideDegrees = await wideDegreesOf(dataset, graphs.graph, settings.walker);
  const inputs = await inputsOf(names, {
    ...{ settings: settings.walker, ...graphs, rules, ...samples, transe, reader, maxActions, wideDegrees },
  });
  if (dialogues) inputs.featurizer.texts = dialogues;
  writeTables(run.folder, inputs.tables);
  writeVocabulary(run.folder, inputs.vocabulary);
  logEncoding(session);
  return inputs;
}

/** Trains or reuses embeddings and keeps a copy with the run. */
async function embed(
  session: Session<TrainSettings>,
  dataset: DialogueDataset,
  graph: Graph,
  log: boolean,
): Promise<Pretrained> {
  const { run, logs, settings, threads, progress, signal, trial } = session;
  run.update({ phase: 'transe' });
  const identity = { settings: settings.transe, seed: settings.seed };
  const pretrained = await pretrainEmbeddings(graph, {
    ...identity,
    exclude: dialogueTriples(dataset, graph),
    threads,
    progress,
    signal,
    trial,
  });
  keepInRun(pretrained, { graph, ...identity }, run.files.embeddings);
  if (log) for (const { step, metrics } of pretrained.history) logs.metrics('transe', step, metrics);
  logs.timing('transe', pretrained.history.length, { 'time/reused': Number(pretrained.reused) });
  run.update({ done: { ...run.state.done, transe: true } });
  return pretrained;
}

function dialogueClone(session: DialogueSession): TrainingPhase {
  const { executor, settings, inputs, valid, linked } = session;
  const train = [...session.train, ...(linked?.samples ?? [])];
  const policy = createPolicy(executor, inputs, settings.seed);
  const actor = walkerActor(policy);
  const { weightDecay, maxGradNorm } = settings.clone;
  const optimizer = new AdamW(actor.parameters, { weightDecay, maxGradNorm });
  const shownBy = { ...settings.clone, goldOnly: settings.walker.decoder === 'free' };
  const shown = shownGolds(inputs.featurizer.parts, { train, valid }, shownBy, settings.seed);
  return clonePhase(
    { ...shown, actor, optimizer, settings: settings.clone, seed: settings.seed },
    {
      start: session.start,
      lossName: cloneMetric,
      evaluate: () => evaluateOnValid(session, policy),
      close() {
        optimizer.dispose();
        actor.dispose();
      },
    },
  );
}

/** Starts from the clone or from scratch. @param transe embeddings, for `env.shaping: transe` */
function dialoguePpo(session: DialogueSession, transe: EmbeddingTable | undefined): TrainingPhase {
  const { executor, settings: all, inputs, train } = session;
  const { env, walker, ppo: settings, seed } = all;
  const { featurizer } = inputs;
  const { graph, rules } = featurizer.parts;
  const start = firstWeights(session);
  const policy = createPolicy(executor, inputs, seed);
  const reference = start && settings.klCoef > 0 ? restoredPolicy(executor, inputs, start.tensors) : undefined;
  const referencePolicy = reference && walkerActor(reference);
  const critic =
    settings.baseline === 'critic' ? createCritic(executor, walker, networkShape(inputs), seed) : undefined;
  const { networks, close } = openActorCritic(
    walkerActor(policy),
    critic && walkerValues(critic, featurizer),
    settings,
  );
  const shaping = env.shaping === 'transe' ? transe! : undefined;
  const envs = makeVectorEnv(
    // Ids of a user's own environment are not known to the types; `checkTrainSettings` has looked it up.
    env.id as typeof dialogueWalkId,
    {
      graph,
      samples: train,
      rules: { ...rules, horizon: settings.trainHorizon ?? rules.horizon },
      reward: env.reward,
      gamma: settings.gamma,
      potential: shaping && embeddingPotential(shaping.entities, shaping.dim),
    },
    settings.samplesPerUpdate * settings.explorations,
  );
  const walkable = Int32Array.from(train.keys()).filter((i) => !initialState(graph, train[i]!.task.start, rules).done);
  const exact = settings.gradient === 'exact';
  const note = madeFromSamples('training', exact ? 'policy gradient' : 'PPO');
  if (!exact) walkable.forEach((i) => note(train[i]!));
  const parts = { ...networks, settings, seed, referencePolicy };
  const phase = ppoPhase(session, {
    trainer: exact
      ? new ExpectedRewardTrainer({ ...parts, walks: goldWalks(train, graph, rules, note) })
      : new PpoTrainer({ ...parts, collect: wholeWalks(envs, walkable) }),
    ...{ trainState: networks, settings, start },
    evaluate: () => evaluateOnValid(session, policy),
    close() {
      envs.close();
      reference?.head.dispose();
      close();
    },
  });
  if (!inputs.reader) return phase;
  return {
    ...phase,
    async step(at) {
      const step = await phase.step(at);
      logEncoding(session, 'ppo', at + 1);
      return step;
    },
  };
}

/** Judges the policy on a fixed seeded sample of valid by beam search: the figures of learning curves. */
async function evaluateOnValid(session: DialogueSession, policy: Policy): Promise<Record<string, number>> {
  const { settings, inputs, train, valid } = session;
  const { graph, walks } = inputs;
  const { beamWidth, twoHopBonus } = settings.evaluation;
  const samples = sampled(valid, settings.ppo.evalSamples ?? Infinity, 'train/eval-samples');
  samples.forEach(madeFromSamples('choice', 'best checkpoint'));
  const agent = walkerAgent(policy, { name: settings.name, beamWidth, twoHopBonus });
  return session.evaluate(agent, { ...session, graph, walks, train }, samples);
}
