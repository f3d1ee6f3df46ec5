/** The walker and the walks of a run on link queries. */
import { createLinkWalker, type LinkActor } from '../../agents/link-walker/link-walker.js';
import type { LinkQueryOptions } from '../../envs/link-query/world.js';
import type { Session } from '../session.js';
import type { LinkTrainingData } from './data.js';
import type { RunScorers } from './scorers.js';

/** What the phases of a run share. */
export interface LinkSession extends Session {
  data: LinkTrainingData;
  scorers: RunScorers;
}

/** A walker with the weights that a run of these settings begins with; the caller disposes it. */
export function walkerOf({ tf, settings, data, scorers }: LinkSession): LinkActor {
  const { graph } = data.dataset;
  const { numEntities, numRelations } = graph;
  const shape = { lists: graph, numEntities, numRelations, start: scorers.start };
  return createLinkWalker(tf, settings.linkWalker, shape, settings.seed);
}

/** Train's queries as walks. */
export function trainWalks({ settings, data }: LinkSession): LinkQueryOptions {
  const { dataset, queries } = data;
  return { graph: dataset.graph, queries, horizon: settings.linkWalk.horizon, known: dataset.trainKnown };
}
