/** Pretrained embeddings of a link data set as a run uses them: vectors to start from, and what shaping pays. */
import type { StartVectors } from '../../agents/link-walker/vectors.js';
import type { LinkShaping } from '../../envs/link-query/world.js';
import type { LinkScorer } from '../../src/embedding/scorers.js';
import { calibratedProbability } from '../../src/embedding/calibrated-probability.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type LinkScorerSection, type OpenedScorer, openLinkScorer } from '../../trainers/embeddings/link-scorers.js';
import type { Session } from '../../trainers/session.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import type { LinkTrainingData } from './training-data.js';

/** Pretraining results; absent if the settings enable none. */
export interface RunScorers {
  start?: StartVectors;
  shaping?: LinkShaping;
}

/** Trains or reuses what the settings ask for, once each. @throws WorkbenchError `stopped` after saving */
export async function openScorers(
  { run, logs, settings, threads, progress, signal }: Session,
  { dataset }: LinkTrainingData,
): Promise<RunScorers> {
  const { linkWalk, linkWalker } = settings;
  const opened = new Map<LinkScorerSection, OpenedScorer>();
  const open = async (name: LinkScorerSection) => {
    const known = opened.get(name);
    if (known) return known;
    run.update({ phase: name });
    const scorer = await openLinkScorer(name, dataset, settings, { threads, progress, signal });
    logs.timing(name, 1, { 'time/reused': Number(scorer.reused) });
    opened.set(name, scorer);
    return scorer;
  };
  const start = linkWalker.vectors === 'random' ? undefined : (await open(linkWalker.vectors)).table;
  if (linkWalk.shaping === 'none') return { ...(start && { start }) };
  const { scorer } = await open(linkWalk.shapingScorer);
  return { ...(start && { start }), shaping: shapingOf(linkWalk.shaping, scorer, dataset, settings) };
}

/** Shaping reward, by the probability that a scorer gives. */
export function shapingOf(
  kind: LinkShaping['kind'],
  scorer: LinkScorer,
  { graph, valid, trainKnown }: LinkTrainingData['dataset'],
  { linkWalk, ppo, seed }: Pick<TrainSettings, 'linkWalk' | 'ppo' | 'seed'>,
): LinkShaping {
  // Fitted on valid, which chooses everything else as well; on train the scorer is surer than it may be.
  madeFrom('normaliser', 'probability of triples', {
    graph: graph.hash,
    split: 'valid',
    triples: valid.heads.length,
  });
  const probability = calibratedProbability(scorer, valid, trainKnown, seed);
  return { kind, weight: linkWalk.shapingWeight, gamma: ppo.gamma, probability };
}
