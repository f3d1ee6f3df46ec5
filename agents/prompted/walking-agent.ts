/** Common parts of agents that choose relations step by step, or whole sequences. */
import type { z } from 'zod';
import type { QuestionAgent, QuestionAgentEntry, QuestionAgentResources } from '../question-agent.js';
import { type HopsOf, type HopsSetting, hopsTeller, openHops } from './hops/hops.js';
import { openPrefilter, type Prefilter, type PrefilterSettings } from './prefilter/prefilter.js';

/** Inputs of such an agent. */
export interface WalkingParts<Settings> {
  resources: QuestionAgentResources;
  settings: Settings;
  prefilter: Prefilter;
  hopsOf: HopsOf;
}

/**
 * The entry of such an agent, which is given the topic.
 * @param answering the agent's own part: called once, when it is opened, with what all of them open
 */
export function walkingAgent<Schema extends z.ZodType<PrefilterSettings & { hops: HopsSetting }>>(
  name: string,
  settings: Schema,
  answering: (parts: WalkingParts<z.output<Schema>>) => QuestionAgent['answer'] | Promise<QuestionAgent['answer']>,
  { walksRemote = false }: Pick<QuestionAgentEntry, 'walksRemote'> = {},
): QuestionAgentEntry<Schema> {
  return {
    settings,
    needs: ['model', 'encoder', 'train'],
    walksRemote,
    async create(resources, chosen): Promise<QuestionAgent> {
      const prefilter = await openPrefilter(resources, chosen);
      const hopsOf = await openHops(resources, chosen.hops);
      return {
        name,
        topicGiven: true,
        hopsTold: (byLikelihood) => hopsTeller(chosen.hops, byLikelihood),
        prompted: true,
        prepare: (tasks, signal) => prefilter.prepare(tasks, signal),
        answer: await answering({ resources, settings: chosen, prefilter, hopsOf }),
      };
    },
  };
}
