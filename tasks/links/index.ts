/** Link queries: (head, relation, ?), with a reward for ending on the answer. */
import { linkAgents, linkMethods } from '../../agents/link-agents.js';
import type { RankedQuestion } from '../../agents/link-ranker.js';
import type { Task } from '../task.js';
import { openScoredAgent, refuseIdle, openSimulated } from './agents.js';
import { askedQuery, openAskLink, queryNames } from './ask.js';
import { linkData, type LinkData, linkFlagsOf } from './data.js';
import { settledHorizon } from './distances.js';
import { linkEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { openLinkTraining } from '../../agents/link-training.js';
import type { LinkRow } from './row.js';
import { linkMeasure, type LinkSample } from './score.js';
import { predictLinks } from './predict.js';
import { showRules } from './show-rules.js';
import { linksImported, linkStatistics, listedLinks } from './statistics.js';
import { linkVectors } from './vectors.js';

export const links: Task<LinkSample, RankedQuestion, LinkRow, LinkData> = {
  name: 'links',
  measure: linkMeasure,
  agents: linkAgents,
  data: linkData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  simulated: { suits: () => true, open: openSimulated },
  flagsOf: {
    kept: linkFlagsOf,
    best: ({ data: { validSamples } }) => (validSamples === null ? {} : { limit: String(validSamples) }),
  },
  learning: linkMethods.trainer(openLinkTraining),
  settle: settledHorizon,
  environment: linkEnvironment,
  datasets: {
    imported: linksImported,
    listed: listedLinks,
    statistics: linkStatistics,
    graphOf: () => 'train',
    ...{ runLeaks, evaluationLeaks },
  },
  vectors: linkVectors,
  ask: { words: ['head', 'relation'], fieldsOf: askedQuery, namesOf: queryNames, open: openAskLink },
  predict: predictLinks,
  rules: showRules,
};
