/** Training of a walker over questions, from questions and answers alone: text vectors, PPO, and the best on valid. */
import type { TaskRequest } from '../../agents/actor.js';
import { relationWalkId } from '../../envs/relation-walk/relation-walk-env.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { ppo } from '../ppo.js';
import { ppoPhase } from '../ppo-phase.js';
import { beginWith, logEncoding, type Training } from '../session.js';
import type { TrainSettings } from '../train-settings.js';
import { edgeWalk } from './edge-walk.js';
import { evaluateBestOnValid } from './evaluate-best.js';
import { evaluatedQuestions, evaluateQuestionsOnValid } from './evaluate-valid.js';
import { loadTrainingQuestions, type TrainingQuestions } from './load-questions.js';
import { relationWalk } from './relation-walk.js';
import type { QuestionWalk } from './walk.js';

/** @throws WorkbenchError see `loadTrainingQuestions`; `data` for questions of which none can be walked */
export async function openQuestionTraining(settings: TrainSettings): Promise<Training> {
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
      const opened = await walk.open(session);
      const { learner, envs, walkable } = opened;
      const note = madeFromSamples('training', 'PPO');
      walkable.forEach((i) => note(train[i]!));
      try {
        logEncoding(session);
        if (session.start) beginWith(learner, session.start);
        run.update({ phase: 'ppo', done: { ...run.state.done, encode: true } });
        const chosen = evaluatedQuestions(valid.length, settings.ppo.evalSamples);
        await ppoPhase(session, {
          trainee: learner,
          best: 'eval/f1',
          evaluate: () => evaluateQuestionsOnValid(session, opened, valid, chosen),
          from,
          train: (shared) => ppo({ ...shared, ...learner, envs, walkable }),
        });
        if (session.replayed) return;
        run.update({ done: { ...run.state.done, ppo: true } });
        await evaluateBestOnValid(session, opened, questions);
      } finally {
        envs.close();
        opened.validEnvs.close();
        opened.close();
      }
    },
  };
}
