/** Input of methods that are trained on questions, and the settings that none of them reads. */
import type { TrainingQuestions } from '../datasets/questions/training-questions.js';
import { envSettings } from '../envs/settings.js';
import { diffConfig } from '../src/run/config-values.js';
import type { Run } from '../src/run/run-folder.js';
import type { QuestionSample } from '../datasets/question.js';
import { dialogueSettingProblems } from './dialogue-walker/problems.js';
import type { ShownStep } from '../trainers/clone.js';
import type { RelationRequest } from './relation-walker/network.js';
import type { Method } from './method.js';
import type { TrainSettings } from './train-settings.js';
import type { LoadedQuestionWalker, QuestionOptions } from './trained-run.js';

/** Walks of another agent to clone. */
export interface Teacher {
  walks: readonly { sample: QuestionSample; steps: readonly ShownStep<RelationRequest>[] }[];
  note: string;
  /** Records its source in a run's folder. @throws WorkbenchError `data` for a run that was begun with other walks */
  keep(run: Pick<Run, 'files'>): void;
}

/** Questions of one graph, and walks over them where the settings name an agent to clone. */
export interface QuestionTraining extends TrainingQuestions {
  teacher?: Teacher | undefined;
}

/** Method that is trained on questions. */
export type QuestionMethod = Method<QuestionTraining, QuestionOptions, LoadedQuestionWalker>;

/** Settings that nothing trained on questions reads, one line each. */
export function questionProblems(settings: TrainSettings): (string | false)[] {
  const { data, env, stateText, transe, ppo } = settings;
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    !ok && `expected ${expected} with env.id=${env.id}, got ${String(got)}`;
  const rules = diffConfig(env, envSettings.parse({ id: env.id })).map((key) => `env.${key}`);
  return [
    ...dialogueSettingProblems(settings),
    wanted(data.validSamples === null, 'data.validSamples=null, which draws from dialogues,', data.validSamples),
    wanted(!transe.enabled, 'transe.enabled=false', transe.enabled),
    wanted(stateText.encode === 'once', 'stateText.encode=once', stateText.encode),
    wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon),
    wanted(ppo.baseline !== 'critic', 'ppo.baseline=group-mean, leave-one-out or none', ppo.baseline),
    wanted(rules.length === 0, 'the rules of the walk in the section relationWalk', rules.join(', ')),
  ];
}
