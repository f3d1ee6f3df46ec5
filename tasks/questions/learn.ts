/** Training of a walker over questions, from questions and answers alone: text vectors, PPO, and the best on valid. */
import { readerKind } from '../../agents/readers/load-reader.js';
import type { QuestionSample } from '../../datasets/question.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { envSettings } from '../../envs/settings.js';
import { diffConfig } from '../../src/run/config-values.js';
import { numberText } from '../../src/run/figures.js';
import { sampled } from '../../src/run/seeds.js';
import { AdamW } from '../../src/nn/adamw.js';
import { dialogueSettingProblems } from '../../trainers/check-settings.js';
import { clonePhase } from '../../trainers/clone.js';
import { shownSteps } from '../../trainers/demonstrations.js';
import { greedyWalks } from '../../trainers/greedy-walks.js';
import { firstWeights, ppoPhase } from '../../trainers/ppo-phase.js';
import type { TrainingPhase } from '../../trainers/phase.js';
import { PpoTrainer } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { logEncoding, type Session } from '../../trainers/session.js';
import type { TaskTrainer, TrainingRun } from '../../trainers/task-trainer.js';
import { type TrainSettings, walksPerStep } from '../../trainers/train-settings.js';
import { relationWalk } from './relation-walk.js';
import { readerProblems, readerTraining } from './reader.js';
import { keepTeacher, openTeacher, type Teacher, teacherHint, teacherNote, teacherWanted } from './teacher.js';
import { loadTrainingQuestions } from './training-data.js';

type OpenedWalk = Awaited<ReturnType<ReturnType<typeof relationWalk>>>;

/** Training over questions, from questions and answers alone: text vectors, PPO. */
export const questionTrainer: TaskTrainer = {
  forkPhase: 'ppo',
  takes: ['teacher', 'reader'],
  problems: questionProblems,
  networkSize({ ppo, clone, reader, relationWalk, relationWalker }, textDim) {
    if (reader) return { ...readerKind(reader.kind).networkSize(reader, textDim), simdAlone: true };

    const { reads, wordWidth, questionWidth } = relationWalker;
    if (reads === 'words') {
      return { rows: ppo.minibatchSamples * 16, inputs: 2 * wordWidth, units: 3 * wordWidth };
    }
    const rows = walksPerStep({ clone, ppo }) * relationWalk.horizon;
    return { rows, inputs: textDim, units: questionWidth };
  },
  open: openQuestionTraining,
};

/** @throws WorkbenchError see `loadTrainingQuestions`; `data` for questions of which none can be walked */
async function openQuestionTraining(settings: TrainSettings): Promise<TrainingRun> {
  const questions = await loadTrainingQuestions(settings);
  if (settings.reader) return readerTraining({ ...settings, reader: settings.reader }, questions);
  const teacher = await openTeacher(settings, questions);
  const walk = relationWalk(settings, questions);
  const { dataset, graph, train, valid } = questions;
  return {
    hashes: { graph: graph.hash, dataset: questionsHash(dataset.manifest) },
    readsTexts: true,
    notes: [
      `${train.length} train and ${valid.length} valid questions on graph ${graph.name}`,
      ...(teacher ? [teacherNote(teacher.record)] : []),
    ],
    async phases(session) {
      const { run } = session;
      if (teacher) keepTeacher(run, teacher);
      run.update({ phase: 'encode' });
      const opened = await walk(session);
      logEncoding(session);
      run.update({ done: { ...run.state.done, encode: true } });
      // Indices of the questions that curves are made of: a seeded sample, or all of them.
      const chosen = sampled([...valid.keys()], settings.ppo.evalSamples ?? Infinity, 'train/eval-samples');
      const evaluate = () => evaluateQuestionsOnValid(session, opened, valid, Int32Array.from(chosen));
      return {
        phases: [
          ...(teacher ? [{ name: 'clone' as const, open: () => cloneOf(session, opened, teacher, evaluate) }] : []),
          ...(settings.ppo.enabled
            ? [{ name: 'ppo' as const, open: () => questionPpo(session, opened, train, evaluate) }]
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
  { networks: { actor } }: OpenedWalk,
  { walks }: Teacher,
  evaluate: () => Promise<Record<string, number>>,
): TrainingPhase {
  const { clone: settings, seed } = session.settings;
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

function questionPpo(
  session: Session,
  opened: OpenedWalk,
  train: readonly QuestionSample[],
  evaluate: () => Promise<Record<string, number>>,
): TrainingPhase {
  const { ppo: settings, seed } = session.settings;
  const { networks, envs, walkable } = opened;
  const note = madeFromSamples('training', 'PPO');
  walkable.forEach((i) => note(train[i]!));
  const start = firstWeights(session);
  const referencePolicy = start && settings.klCoef > 0 ? opened.referencePolicy(start) : undefined;
  return ppoPhase(session, {
    trainer: new PpoTrainer({ ...networks, settings, seed, referencePolicy, collect: wholeWalks(envs, walkable) }),
    ...{ trainState: networks, settings, start, evaluate },
    close: () => referencePolicy?.dispose(),
  });
}

/**
 * Figures under `eval/`: means over the questions, those that cannot be walked included as 0. `eval/chain` is the share
 * whose walk is a gold chain; it is for information, since other chains often lead to the same answers.
 */
async function evaluateQuestionsOnValid(
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
  return Object.fromEntries(Object.entries(figures).map(([key, value]) => [`eval/${key}`, value]));
}

/** Settings that do not fit walks over questions. */
function questionProblems(settings: TrainSettings): string[] {
  const { data, env, stateText, transe, clone, teacher, ppo, reader, relationWalker } = settings;
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    ok ? [] : [`expected ${expected} with env.id=${env.id}, got ${String(got)}`];
  const forgotten = !reader && teacher === undefined && (clone.enabled || ppo.init === 'clone');
  const rules = diffConfig(env, envSettings.parse({ id: env.id })).map((key) => `env.${key}`);
  return [
    ...dialogueSettingProblems(settings),
    ...wanted(data.validSamples === null, 'data.validSamples=null, which draws from dialogues,', data.validSamples),
    ...wanted(!transe.enabled, 'transe.enabled=false', transe.enabled),
    ...wanted(stateText.encode === 'once', 'stateText.encode=once', stateText.encode),
    ...(reader ? readerProblems({ ...settings, reader }) : []),
    ...(forgotten ? [`expected ${teacherWanted}, got none; ${teacherHint}`] : []),
    ...wanted(
      teacher === undefined || clone.enabled || ppo.init === 'clone',
      'clone.enabled=true with teacher.evaluation',
      clone.enabled,
    ),
    ...wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient),
    ...wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon),

    ...wanted(
      relationWalker.reads === 'sentence' || !relationWalker.keepName,
      'relationWalker.keepName=false with relationWalker.reads=words',
      relationWalker.keepName,
    ),
    ...wanted(ppo.baseline !== 'critic', 'ppo.baseline=group-mean or none', ppo.baseline),
    ...wanted(rules.length === 0, 'the rules of the walk in the section relationWalk', rules.join(', ')),
  ];
}
