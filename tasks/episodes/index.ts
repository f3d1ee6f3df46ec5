/** Episodes: policies over vectors in any environment, evaluated by return. */
import type { PlayedEpisode } from '../../agents/policy/play.js';
import { cartPoleId } from '../../envs/classic/cart-pole.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import type { Task, TrainingPlan } from '../task.js';
import { type EpisodeData, episodeAgents, episodeData, episodeFlagsOf, openEpisodeAgent } from './agents.js';
import { episodesLearning, policyOf, roundsOf } from './learn.js';
import { episodeMeasure, type EpisodeRow, type EpisodeSample } from './score.js';
import type { OwnParts } from './source.js';

/** The task of episodes. @param own what a program brings instead of what settings name */
export function episodesTask(own: OwnParts = {}): Task<EpisodeSample, PlayedEpisode, EpisodeRow, EpisodeData> {
  const learning = episodesLearning(own);
  return {
    name: 'episodes',
    exampleDataset: cartPoleId,
    measure: episodeMeasure,
    agents: episodeAgents,
    data: (flags, runs) => episodeData(own, flags, runs),
    openAgent: (which, data) => openEpisodeAgent(own, which, data),
    flagsOf: episodeFlagsOf,
    learning,
    environment: ({ env }) => Promise.resolve({ options: env.options ?? {} }),
    async plan(settings): Promise<TrainingPlan> {
      const { notes } = await learning.open(settings);
      return { notes: [...notes], before: {}, phases: { ppo: workOf(settings) }, texts: [] };
    },
    asked: [],
    openAsk: () => refused('something to ask', 'Episodes are played by kgwalk evaluate RUN'),
    pretrain: () => refused('vectors to pretrain', 'Policies are trained at once, by kgwalk train policy'),
    imported: () => refused('a data set', 'An environment is registered, by registerEnv'),
    listed: () => refused('a data set', 'An environment is registered, by registerEnv'),
    statistics: () => refused('a data set', 'An environment is registered, by registerEnv'),
    graphOf: () => undefined,
    leaks: () => refused('a data set', 'Episodes are drawn from seeds: those of valid and test are never trained on'),
  };
}

/** The task of registered environments. */
export const episodes = episodesTask();

function workOf(settings: TrainSettings): string {
  const { numEnvs, numSteps, minibatchSize } = policyOf(settings);
  const { updates, updateEpochs } = roundsOf(settings);
  const total = updates * numEnvs * numSteps;
  return `${updates} updates of ${numEnvs} × ${numSteps} steps, ${total} in all; ${updateEpochs} epochs in minibatches of ${minibatchSize}`;
}

function refused(expected: string, hint: string): never {
  throw new WorkbenchError('usage', `expected ${expected}, got an environment of episodes`, {
    hint: `${hint}.`,
  });
}
