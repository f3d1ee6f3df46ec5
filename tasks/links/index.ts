/** Link queries: (head, relation, ?), with a reward for ending on the answer. */
import { linkAgents, type RankedQuestion } from '../../agents/link-agents.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import type { Task } from '../task.js';
import { openScoredAgent, refuseIdle } from './agents.js';
import { openAskLink } from './ask.js';
import { linkData, type LinkData, linkFlagsOf } from './data.js';
import { linkEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { linkTrainer } from './learn.js';
import { pretrainLinks } from './pretrain.js';
import type { LinkRow } from './row.js';
import { linkMeasure, type LinkSample } from './score.js';
import { linksImported, linkStatistics, listedLinks } from './statistics.js';

export const links: Task<LinkSample, RankedQuestion, LinkRow, LinkData> = {
  name: 'links',
  exampleDataset: 'umls',
  measure: linkMeasure,
  agents: linkAgents,
  data: linkData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  flagsOf: linkFlagsOf,
  asked: ['head', 'relation'],
  openAsk: openAskLink,
  learning: linkTrainer,
  environment: linkEnvironment,
  validFlags: ({ data: { validSamples } }) => (validSamples === null ? {} : { limit: String(validSamples) }),
  async embeddedGraph(dataset) {
    const { graph, valid, known } = await loadLinkDataset(dataset);
    return { graph, held: { triples: valid, known } };
  },
  pretrain: pretrainLinks,
  imported: linksImported,
  listed: listedLinks,
  statistics: linkStatistics,
  graphOf: () => 'train',
  leaks: (name, of, split) => ('run' in of ? runLeaks(name, of, split) : evaluationLeaks(name, of.folder, split)),
};
