/** Training of a walker over questions, from questions and answers alone: text vectors, PPO, and the best on valid. */
import type { TaskRequest } from '../../agents/actor.js';
import { contextDimOf } from '../../agents/walker/features/featurizer.js';
import type { QuestionSample } from '../../datasets/question.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { questionWalkIds } from '../../envs/dialogue-walk/question-edge-walk.js';
import { relationWalkId } from '../../envs/relation-walk/relation-walk-env.js';
import { envSettings } from '../../envs/settings.js';
import { diffConfig } from '../../src/run/config.js';
import { numberText } from '../../src/run/figures.js';
import { sampled } from '../../src/run/seeds.js';
import { greedyWalks } from '../../trainers/greedy-walks.js';
import { firstWeights, ppoPhase } from '../../trainers/ppo-phase.js';
import { ppo } from '../../trainers/ppo.js';
import { wholeWalks } from '../../trainers/rollout.js';
import { type Learning, logEncoding, type Session, type Training } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { edgeWalk } from './edge-walk.js';
import { relationWalk } from './relation-walk.js';
import { loadTrainingQuestions, type OpenedWalk, type QuestionWalk, type TrainingQuestions } from './training-data.js';

/** How runs over questions train, from questions and answers alone: text vectors, PPO. */
export const questionLearning: Learning = {
  envIds: questionWalkIds,
  forkPhase: 'ppo',
  problems: questionProblems,
  networkSize({ env, ppo, clone, stateText, relationWalk, relationWalker, walker }, textDim) {
    const states = Math.max(clone.enabled ? clone.batchSize : 0, ppo.minibatchSamples * ppo.explorations);
    if (env.id === relationWalkId) {
      return { rows: states * relationWalk.horizon, inputs: textDim, units: relationWalker.questionWidth };
    }
    const inputs = contextDimOf(textDim, stateText.encode === 'per-step');
    return { rows: states * env.horizon, inputs, units: walker.width };
  },
  open: openQuestionTraining,
};

/** @throws WorkbenchError see `loadTrainingQuestions`; `data` for questions of which none can be walked */
async function openQuestionTraining(settings: TrainSettings): Promise<Training> {
  const questions = await loadTrainingQuestions(settings);
  return settings.env.id === relationWalkId
    ? trainingOn(relationWalk(settings, questions), questions)
    : trainingOn(edgeWalk(settings, questions), questions);
}

function trainingOn<Observation, Request extends TaskRequest>(
  walk: QuestionWalk<Observation, Request>,
  questions: TrainingQuestions,
): Training {
  const { dataset, graph, train, valid } = questions;
  return {
    hashes: { graph: graph.hash, dataset: questionsHash(dataset.manifest) },
    readsTexts: true,
    notes: [`${train.length} train and ${valid.length} valid questions on graph ${graph.name}`],
    async run(session, from) {
      const { run, settings } = session;
      run.update({ phase: 'encode' });
      const opened = await walk(session);
      const { learner, envs, walkable } = opened;
      const note = madeFromSamples('training', 'PPO');
      walkable.forEach((i) => note(train[i]!));
      try {
        logEncoding(session);
        run.update({ phase: 'ppo', done: { ...run.state.done, encode: true } });
        const chosen = evaluatedQuestions(valid.length, settings.ppo.evalSamples);
        await ppoPhase(session, {
          trainee: learner,
          evaluate: () => evaluateQuestionsOnValid(session, opened, valid, chosen),
          ...{ first: firstWeights(session), from },
          train: (shared) => ppo({ ...shared, ...learner, collect: wholeWalks(envs, walkable) }),
        });
        if (!session.replayed) run.update({ done: { ...run.state.done, ppo: true } });
      } finally {
        envs.close();
        opened.validEnvs.close();
        opened.close();
      }
    },
  };
}

/** Indices of the valid questions that curves are made of: a seeded sample, or all of them. */
function evaluatedQuestions(count: number, limit: number | null): Int32Array {
  const all = Array.from({ length: count }, (_, i) => i);
  return Int32Array.from(sampled(all, limit ?? Infinity, 'train/eval-samples'));
}

/**
 * Figures under `eval/`: means over the questions, those that cannot be walked included as 0. `eval/chain` is the share
 * whose walk is a gold chain; it is for information, since other chains often lead to the same answers.
 */
async function evaluateQuestionsOnValid<Observation, Request extends TaskRequest>(
  session: Pick<Session, 'progress' | 'signal'>,
  { learner, validEnvs, outcomeOf }: Pick<OpenedWalk<Observation, Request>, 'learner' | 'validEnvs' | 'outcomeOf'>,
  valid: readonly QuestionSample[],
  chosen: Int32Array,
): Promise<Record<string, number>> {
  const line = session.progress('evaluate on valid', chosen.length, 'questions');
  const walks = await greedyWalks(learner.actor, validEnvs, chosen, {
    onProgress: (done) => line.update(done),
    signal: session.signal,
  });
  const note = madeFromSamples('choice', 'best checkpoint');
  chosen.forEach((i) => note(valid[i]!));
  const outcomes = walks.map((walk, i) => ({ gold: valid[chosen[i]!]!.gold, ...outcomeOf(walk, valid[chosen[i]!]!) }));
  const mean = (of: (outcome: (typeof outcomes)[number]) => number | boolean) =>
    outcomes.reduce((sum, outcome) => sum + Number(of(outcome)), 0) / outcomes.length;
  // The first chooses the best checkpoint.
  const figures = {
    f1: mean(({ f1 }) => f1),
    'hit@1': mean(({ hit }) => hit),
    exact: mean(({ exact }) => exact),
    // Where no question has a gold chain there is nothing to count.
    ...(outcomes.some(({ gold }) => gold.chains.length > 0) && {
      chain: mean(({ gold, chain }) => gold.chains.some((known) => known.join() === chain.join())),
    }),
  };
  line.finish(`F1 ${numberText(figures.f1)} %`);
  return Object.fromEntries(Object.entries(figures).map(([key, value]) => [`eval/${key}`, value]));
}

/** What walks over questions do not have, and what walks over relations do not. */
function questionProblems({ data, env, stateText, transe, clone, ppo }: TrainSettings): string[] {
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    ok ? [] : [`expected ${expected} with env.id=${env.id}, got ${String(got)}`];
  const overEdges = env.id !== relationWalkId;
  const rules = diffConfig(env, envSettings.parse({ id: env.id })).map((key) => `env.${key}`);
  return [
    ...wanted(data.trainSamples === null, 'data.trainSamples=null, which draws from dialogues,', data.trainSamples),
    ...wanted(data.validSamples === null, 'data.validSamples=null, which draws from dialogues,', data.validSamples),
    ...wanted(!transe.enabled, 'transe.enabled=false', transe.enabled),
    ...wanted(stateText.encode === 'once', 'stateText.encode=once', stateText.encode),
    ...wanted(!clone.enabled, 'clone.enabled=false', clone.enabled),
    ...wanted(ppo.enabled && ppo.init === 'scratch', 'ppo.enabled=true and ppo.init=scratch', ppo.init),
    ...wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient),
    ...wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon),
    ...(overEdges
      ? [
          ...wanted(
            env.reward.kind === 'target' && env.shaping === 'none',
            'env.reward.kind=target, no shaping',
            env.reward.kind,
          ),
          ...wanted(env.edgePolicy === 'full', 'env.edgePolicy=full', env.edgePolicy),
        ]
      : [
          ...wanted(ppo.baseline !== 'critic', 'ppo.baseline=group-mean or none', ppo.baseline),
          ...wanted(rules.length === 0, 'the rules of the walk in the section relationWalk', rules.join(', ')),
        ]),
  ];
}
