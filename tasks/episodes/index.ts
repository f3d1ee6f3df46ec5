/** Episodes: policies over vectors in any environment, evaluated by return. */
import type { PlayedEpisode } from '../../agents/policy/play.js';
import { cartPoleId } from '../../envs/classic/cart-pole.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Task } from '../task.js';
import { type EpisodeData, episodeAgents, episodeData, episodeFlagsOf, openEpisodeAgent } from './agents.js';
import { episodesTrainer } from './learn.js';
import { episodeMeasure, type EpisodeRow, type EpisodeSample } from './score.js';
import type { OwnParts } from './source.js';

/** The task of episodes. @param own what a program brings instead of what settings name */
export function episodesTask(own: OwnParts = {}): Task<EpisodeSample, PlayedEpisode, EpisodeRow, EpisodeData> {
  return {
    name: 'episodes',
    exampleDataset: cartPoleId,
    measure: episodeMeasure,
    agents: episodeAgents,
    data: (flags, runs) => episodeData(own, flags, runs),
    openAgent: (which, data, options) => openEpisodeAgent(own, which, data, options),
    flagsOf: episodeFlagsOf,
    learning: episodesTrainer(own),
    environment: ({ env }) => Promise.resolve({ options: env.options ?? {} }),
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

export const episodes = episodesTask();

function refused(expected: string, hint: string): never {
  throw new WorkbenchError('usage', `expected ${expected}, got an environment of episodes`, {
    hint: `${hint}.`,
  });
}
