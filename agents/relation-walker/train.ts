/** Training of the relation walker: text vectors scaled by train alone, the network, the worlds it walks, PPO, and the best on valid. */
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { TrainingQuestions } from '../../datasets/questions/training-questions.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import {
  RelationWalkEnv,
  type RelationWalkObservation,
  relationWalkWorld,
  type RelationWalkWorld,
} from '../../envs/relation-walk/relation-walk-env.js';
import { VectorEnv } from '../../envs/vector-env.js';
import { AdamW } from '../../src/nn/adamw.js';
import { numberText } from '../../src/run/figures.js';
import { countOfEvaluated } from '../../src/metrics/intervals.js';
import { sampled } from '../../src/run/seeds.js';
import type { Actor } from '../../trainers/actor.js';
import { clonePhase, shownSteps } from '../../trainers/clone.js';
import { greedyWalks } from '../../trainers/greedy-walks.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import { firstWeights, openActorCritic, ppoPhase } from '../../trainers/ppo-phase.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { walksPerStep } from '../../trainers/run-settings.js';
import { logEncoding, type Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import { type QuestionMethod, questionProblems, type QuestionTraining, type Teacher } from '../question-training.js';
import { writeBasis } from '../readers/facts.js';
import { wordBasis } from '../readers/words/inputs.js';
import type { TrainSettings } from '../train-settings.js';
import { loadRelationWalkers } from './agent.js';
import { WalkTreeTrainer } from './exact-gradient.js';
import { LanguageNetwork } from './language/language-network.js';
import { openWalkModel } from './language/walk-model.js';
import { relationActor, type RelationRequest, type RelationShape, SentenceNetwork, unmasked } from './network.js';
import {
  encodeQuestions,
  questionText,
  ScaledTexts,
  scaleOfSamples,
  unitScale,
  writeScale,
} from './question-vectors.js';
import { teacherHint, teacherWanted, trainsModel } from './settings.js';
import { wordFacts, WordNetwork } from './word-network.js';

/** Walker over relations, trained on questions and answers alone. */
export const relationWalker: QuestionMethod = {
  reads: ['teacher'],
  options: ['beamWidth', 'backend'],
  walksRemote: true,
  // One that was cloned from another agent continues from its clone.
  forkPhase: ({ teacher, ppo }: TrainSettings) => (teacher && ppo.init === 'clone' ? 'clone' : 'ppo'),
  meaning: ({ relationWalk: { horizon }, relationWalker }: TrainSettings) => ({
    relationWalk: { horizon },
    relationWalker,
  }),
  problems,
  pretrained: trainsModel,
  networkSize({ ppo, clone, relationWalk, relationWalker }: TrainSettings, textDim) {
    const { reads, wordWidth, questionWidth } = relationWalker;
    if (reads === 'words') return { rows: ppo.minibatchSamples * 16, inputs: 2 * wordWidth, units: 3 * wordWidth };
    // Some thirty texts of two dozen tokens.
    if (reads === 'model') return { rows: 768, inputs: textDim, units: textDim };
    const rows = walksPerStep({ clone, ppo }) * relationWalk.horizon;
    return { rows, inputs: textDim, units: questionWidth };
  },
  open: openRun,
  load: loadRelationWalkers,
};

type OpenedWalk = Awaited<ReturnType<ReturnType<typeof relationWalk>>>;

/** @throws WorkbenchError `data` for questions of which none can be walked */
function openRun(settings: TrainSettings, questions: QuestionTraining): TrainingRun {
  const walk = relationWalk(settings, questions);
  const { hashes, graph, train, valid, teacher } = questions;
  return {
    hashes,
    readsTexts: true,
    notes: [
      `${train.length} train and ${valid.length} valid questions on graph ${graph.name}`,
      ...(teacher ? [teacher.note] : []),
    ],
    async phases(session) {
      const { run } = session;
      teacher?.keep(run);
      run.update({ phase: 'encode' });
      const opened = await walk(session);
      logEncoding(session);
      run.update({ done: { ...run.state.done, encode: true } });
      // Indices of the questions that curves are made of: a seeded sample, or all of them.
      const chosen = sampled([...valid.keys()], settings.ppo.evalSamples ?? Infinity, 'train/eval-samples');
      const evaluate = () => evaluateOnValid(session, opened, valid, Int32Array.from(chosen));
      return {
        phases: [
          ...(teacher
            ? [{ name: 'clone' as const, open: () => cloneOf(session, settings, opened, teacher, evaluate) }]
            : []),
          ...(settings.ppo.enabled
            ? [{ name: 'ppo' as const, open: () => ppoOf(session, settings, opened, train, evaluate) }]
            : []),
        ],
        close() {
          opened.envs.close();
          opened.validEnvs.close();
          opened.close();
        },
      };
    },
  };
}

/** Clones a teacher's walks. */
function cloneOf(
  session: Session,
  { clone: settings, seed }: TrainSettings,
  { networks: { actor } }: OpenedWalk,
  { walks }: Teacher,
  evaluate: () => Promise<Record<string, number>>,
): TrainingPhase {
  const { weightDecay, maxGradNorm, batchSize } = settings;
  const optimizer = new AdamW(actor.parameters, { weightDecay, maxGradNorm });
  const note = madeFromSamples('training', 'cloning');
  walks.forEach(({ sample }) => note(sample));
  // A teacher answers train questions only: no walk of valid gives a loss; answers select the checkpoint.
  const [train, valid] = [walks.map(({ steps }) => steps), []].map((steps) => shownSteps(steps, batchSize));
  return clonePhase(
    { actor, optimizer, train: train!, valid: valid!, settings, seed },
    { start: session.start, evaluate, close: () => optimizer.dispose() },
  );
}

function ppoOf(
  session: Session,
  { ppo: settings, seed }: TrainSettings,
  opened: OpenedWalk,
  train: readonly QuestionSample[],
  evaluate: () => Promise<Record<string, number>>,
): TrainingPhase {
  const { networks, envs, world } = opened;
  const note = madeFromSamples('training', 'PPO');
  world.walkable.forEach((i) => note(train[i]!));
  const start = firstWeights(session);
  const near = settings.klCoef > 0 && (start !== undefined || trainsModel(session.settings));
  const referencePolicy = near ? opened.referencePolicy(start) : undefined;
  const parts = { ...networks, settings, seed, referencePolicy };
  return ppoPhase(session, {
    trainer:
      settings.gradient === 'exact'
        ? new WalkTreeTrainer({ ...parts, world })
        : new PpoTrainer({ ...parts, collect: wholeWalks(envs, world.walkable) }),
    ...{ trainState: networks, settings, start, evaluate },
    close: () => referencePolicy?.dispose(),
  });
}

/**
 * Figures under `eval/`: means over the questions, those that cannot be walked included as 0. `eval/chain` is the share
 * whose walk is a gold chain; it is for information, since other chains often lead to the same answers.
 */
async function evaluateOnValid(
  session: Pick<Session, 'progress' | 'signal'>,
  { networks, validEnvs }: OpenedWalk,
  valid: readonly QuestionSample[],
  chosen: Int32Array,
): Promise<Record<string, number>> {
  const line = session.progress('evaluate on valid', chosen.length, 'questions');
  const walks = await greedyWalks(networks.actor, validEnvs, chosen, {
    onProgress: (done) => line.update(done),
    signal: session.signal,
  });
  const note = madeFromSamples('choice', 'best checkpoint');
  chosen.forEach((i) => note(valid[i]!));
  const outcomes = walks.map((walk, i) => ({ gold: valid[chosen[i]!]!.gold, ...walk }));
  const mean = (of: (outcome: (typeof outcomes)[number]) => number | boolean) =>
    outcomes.reduce((sum, outcome) => sum + Number(of(outcome)), 0) / outcomes.length;
  // The first chooses the best checkpoint.
  const figures = {
    f1: mean(({ info }) => Number(info.f1 ?? 0)),
    'hit@1': mean(({ info }) => info.hit === true),
    exact: mean(({ info }) => info.exact === 1),
    // Where no question has a gold chain there is nothing to count.
    ...(outcomes.some(({ gold }) => gold.chains.length > 0) && {
      chain: mean(({ gold, observation: { relations } }) =>
        gold.chains.some((known) => known.join() === relations.join()),
      ),
    }),
  };
  line.finish(`F1 ${numberText(figures.f1)} %`);
  const named = Object.entries(figures).map(([key, value]) => [`eval/${key}`, value] as const);
  return { ...Object.fromEntries(named), [countOfEvaluated]: outcomes.length };
}

/** Settings that do not fit walks over relations, one line each. */
function problems(settings: TrainSettings): (string | false)[] {
  const { env, clone, teacher, ppo, relationWalker } = settings;
  const forgotten = teacher === undefined && (clone.enabled || ppo.init === 'clone');
  return [
    ...questionProblems(settings),
    forgotten && `expected ${teacherWanted}, got none; ${teacherHint}`,
    teacher !== undefined &&
      !clone.enabled &&
      ppo.init !== 'clone' &&
      `expected clone.enabled=true with teacher.evaluation with env.id=${env.id}, got false`,
    relationWalker.reads !== 'sentence' &&
      relationWalker.keepName &&
      `expected relationWalker.keepName=false with relationWalker.reads=${relationWalker.reads} with env.id=${env.id}, got true`,
    relationWalker.reads !== 'model' &&
      relationWalker.model !== undefined &&
      `expected relationWalker.reads=model with a section relationWalker.model, got ${relationWalker.reads}`,
    relationWalker.reads === 'model' &&
      ppo.feasibilityCoef > 0 &&
      `expected ppo.feasibilityCoef=0 with relationWalker.reads=model, which scores legal actions alone, got ${ppo.feasibilityCoef}`,
    ppo.gradient === 'exact' &&
      ppo.feasibilityCoef > 0 &&
      `expected ppo.feasibilityCoef=0 with ppo.gradient=exact with env.id=${env.id}, got ${ppo.feasibilityCoef}`,
  ];
}

/** Copies of the environment that valid questions are walked in at once. */
const evaluatedAtOnce = 512;

/** @throws WorkbenchError `data` for questions of which none can be walked */
function relationWalk(
  settings: TrainSettings,
  { graph, ...questions }: Pick<TrainingQuestions, 'graph' | 'train' | 'valid'>,
) {
  const { ppo, relationWalk } = settings;
  const { horizon, hops, reward, memoryMegabytes } = relationWalk;
  const frontiers = frontierTrie(graph, memoryMegabytes * 2 ** 20);
  const worldOf = (samples: readonly QuestionSample[]) =>
    relationWalkWorld({ graph, samples, rules: { horizon, hops }, reward, frontiers });
  const train = worldOf(questions.train);
  const valid = worldOf(questions.valid);
  const copies = (world: RelationWalkWorld, count: number) =>
    new VectorEnv(Array.from({ length: count }, () => new RelationWalkEnv(world)));
  return async (session: Session) => {
    const shape = { numRelations: graph.numRelations, horizon };
    const actors = { sentence: sentenceActors, words: wordActors, model: languageActors };
    const { newActor, close } = await actors[settings.relationWalker.reads](
      session,
      settings,
      { graph, ...questions },
      shape,
    );
    const opened = openActorCritic(newActor(), undefined, ppo);
    return {
      networks: opened.networks,
      close() {
        opened.close();
        void close?.();
      },
      /** Another actor with these weights or new ones, which PPO is kept near; the caller disposes it. */
      referencePolicy(start: Checkpoint | undefined) {
        const referencePolicy = newActor();
        if (start) referencePolicy.parameters.import(start.tensors);
        return referencePolicy;
      },
      /** Copies over the train questions, as many as a round walks. */
      envs: copies(train, ppo.samplesPerUpdate * ppo.explorations),
      validEnvs: copies(valid, evaluatedAtOnce),
      /** The train questions. */
      world: train,
    };
  };
}

/** Makes actors with fresh weights, whose questions are read. */
type Actors = (
  session: Session,
  settings: TrainSettings,
  questions: Pick<TrainingQuestions, 'graph' | 'train' | 'valid'>,
  shape: RelationShape,
) => Promise<{ newActor: () => Actor<RelationWalkObservation, RelationRequest>; close?: () => Promise<void> }>;

const sentenceActors: Actors = async (session, { relationWalker, seed }, { train, valid }, shape) => {
  const { executor, run, encoder, progress, signal } = session;
  const tasks = [...train, ...valid].map(({ task }) => task);
  const encoded = await encodeQuestions(encoder, tasks, { settings: relationWalker, progress, signal });
  const scale = relationWalker.standardize ? scaleOfSamples(encoded, train) : unitScale(encoded.dim);
  writeScale(run.folder, scale);
  // All stay: the states of a round are scored again and again.
  const texts = new ScaledTexts(encoder, scale, relationWalker.maxTokens, Infinity);
  texts.keep(
    tasks.map((task) => questionText(task, relationWalker.keepName)),
    encoded,
  );
  return { newActor: () => relationActor(new SentenceNetwork(executor, relationWalker, shape, texts, seed)) };
};

const wordActors: Actors = async ({ executor, run, encoder, signal }, settings, { train, valid }, shape) => {
  const facts = wordFacts(settings.relationWalker, encoder);
  const basis = await wordBasis(facts, train, signal);
  writeBasis(run.folder, basis);
  const newNetwork = () => new WordNetwork(executor, facts, shape, basis, settings.seed);
  await newNetwork().prepare(
    [...train, ...valid].map(({ task }) => unmasked(task)),
    signal,
  );
  return { newActor: () => relationActor(newNetwork()) };
};

const languageActors: Actors = async ({ executor }, settings, { graph }, shape) => {
  const { relationWalker, encoder, seed } = settings;
  const model = await openWalkModel(executor, encoder.model, graph.relationNames, relationWalker);
  return { newActor: () => relationActor(new LanguageNetwork(model, shape, seed)), close: () => model.dispose() };
};
