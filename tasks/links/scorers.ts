/** Pretrained embeddings of a link data set as a run uses them: vectors to start from, and what shaping pays. */
import type { StartVectors } from '../../agents/link-walker/vectors.js';
import type { LinkQueryOptions } from '../../envs/link-query/world.js';
import { calibratedProbability } from '../../src/embedding/calibrated-probability.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type LinkScorerSection, type OpenedScorer, openLinkScorer } from '../../trainers/embeddings/link-scorers.js';
import type { Session } from '../../trainers/session.js';
import type { LinkTrainingData } from './training-data.js';

/** What came of them; absent where the settings ask for none. */
export interface RunScorers {
  start?: StartVectors;
  shaping?: NonNullable<LinkQueryOptions['shaping']>;
}

/** Trains or reuses what the settings ask for, once each. @throws WorkbenchError `stopped` after saving */
export async function openScorers(
  { run, logs, settings, threads, progress, signal }: Session,
  { dataset }: LinkTrainingData,
): Promise<RunScorers> {
  const { linkWalk, linkWalker, seed, ppo } = settings;
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
  // Fitted on valid, which chooses everything else as well; on train the scorer is surer than it may be.
  const { graph, valid } = dataset;
  madeFrom('normaliser', 'probability of triples', {
    graph: graph.hash,
    split: 'valid',
    triples: valid.heads.length,
  });
  const probability = calibratedProbability(scorer, valid, dataset.trainKnown, seed);
  const shaping = { kind: linkWalk.shaping, weight: linkWalk.shapingWeight, gamma: ppo.gamma, probability };
  return { ...(start && { start }), shaping };
}
