/** Link queries: (head, relation, ?), with a reward for ending on the answer. */
import { plainRelationTexts } from '../../agents/exact-walker/messages/relation-names.js';
import { exactWalkerKind } from '../../agents/exact-walker/registry.js';
import type { RankedQuestion } from '../../agents/link-agents.js';
import { linkAgents } from '../../agents/link-agents.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import type { Task, TrainingPlan } from '../task.js';
import { openScoredAgent, refuseIdle } from './agents.js';
import { openAskLink } from './ask.js';
import { linkData, type LinkData, linkFlagsOf } from './data.js';
import { linkEnvironment } from './environment.js';
import { exactTraining } from './exact.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { linkLearning } from './learn.js';
import { pretrainLinks } from './pretrain.js';
import type { LinkRow } from './row.js';
import { linkMeasure, type LinkSample } from './score.js';
import { linksImported, linkStatistics, listedLinks } from './statistics.js';
import { openLinkTrainingData } from './training-data.js';

/** The task of link queries. */
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
  learning: linkLearning,
  environment: linkEnvironment,
  validFlags: ({ data: { validSamples } }) => (validSamples === null ? {} : { limit: String(validSamples) }),
  plan: linkPlan,
  embeddedGraph: async (dataset) => (await loadLinkDataset(dataset)).graph,
  pretrain: pretrainLinks,
  imported: linksImported,
  listed: listedLinks,
  statistics: linkStatistics,
  graphOf: () => 'train',
  leaks: (name, of, split) => ('run' in of ? runLeaks(name, of, split) : evaluationLeaks(name, of.folder, split)),
};

async function linkPlan(settings: TrainSettings): Promise<TrainingPlan> {
  const { exactWalker } = settings;
  const data = await openLinkTrainingData(settings);
  if (exactWalker) {
    const { notes } = exactTraining({ ...settings, exactWalker }, data);
    const { graph } = data.dataset;
    const kind = exactWalkerKind(exactWalker.kind);
    const names = { texts: plainRelationTexts(graph), maxTokens: settings.encoder.nameTokens };
    return {
      notes: [...notes],
      before: {},
      phases: { fit: kind.plan({ graph, settings: exactWalker }) },
      texts: kind.readsNames(exactWalker) ? [names] : [],
    };
  }
  const { dataset, queries, notes } = data;
  const { linkWalk, transe, bilinear, clone, demonstrations, ppo } = settings;
  const triples = dataset.train.heads.length;
  const shown = Math.min(demonstrations.queries ?? Infinity, queries.heads.length);
  const walks = ppo.updates * ppo.samplesPerUpdate * ppo.explorations;
  return {
    notes,
    before: {
      transe: transe.enabled ? `${transe.epochs} epochs at most over ${triples} triples` : 'off',
      bilinear: bilinear.enabled
        ? `${bilinear.model}, ${bilinear.epochs} epochs at most over ${triples} triples`
        : 'off',
    },
    phases: {
      clone: clone.enabled
        ? `${clone.epochs} epochs over shortest paths of ${shown} queries, ${demonstrations.paths} of each at most`
        : 'off',
      ppo: ppo.enabled
        ? `${ppo.updates} updates of ${ppo.samplesPerUpdate} queries, ${ppo.explorations} walks each: ${walks * linkWalk.horizon} steps`
        : 'off',
    },
    texts: [],
  };
}
