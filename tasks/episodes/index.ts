/** Episodes: policies over vectors in any environment, evaluated by return. */
import type { PlayedEpisode } from '../../agents/policy/play.js';
import type { Task } from '../task.js';
import {
  type EpisodeData,
  episodeAgents,
  episodeData,
  episodeFlagsOf,
  openEpisodeAgent,
  policyMethods,
} from './agents.js';
import { episodeMeasure, type EpisodeRow, type EpisodeSample } from './score.js';
import type { OwnParts } from '../../agents/policy/source.js';

/** The task of episodes. @param own what a program brings instead of what settings name */
export const episodesTask = (own: OwnParts = {}): Task<EpisodeSample, PlayedEpisode, EpisodeRow, EpisodeData> => ({
  name: 'episodes',
  measure: episodeMeasure,
  agents: episodeAgents,
  data: (flags, runs) => episodeData(own, flags, runs),
  openAgent: (which, data, options) => openEpisodeAgent(own, which, data, options),
  flagsOf: { kept: episodeFlagsOf },
  learning: { ...policyMethods.trainer(() => own), ...(own.source && { ownEnvId: own.source.id }) },
  environment: ({ env }) => Promise.resolve({ options: env.options ?? {} }),
});

export const episodes = episodesTask();
