/** Evaluations on valid while and after training: quick figures for curves, the full record of the best. */
import type { LinkActor } from '../../agents/link-walker/link-walker.js';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { madeFrom } from '../../src/run/provenance.js';
import { hitsAtK, mrr } from '../../src/metrics/ranks.js';
import { evaluateLinkRanker } from '../../evaluation/links/evaluate-links.js';
import { queriesOf, type AskedDirection } from '../../evaluation/links/link-queries.js';
import { walkRanker } from '../../agents/link-agents.js';
import { rankWalks } from '../../evaluation/links/rank-links.js';
import { saveRunLinkEvaluation } from '../../evaluation/links/save-link-evaluation.js';
import type { TrainSettings } from '../train-settings.js';
import { walkerOf, type LinkSession } from './learner.js';

/**
 * Ranks heads and tails of the watched triples of valid: `eval/mrr`, `eval/hits@k` over both directions by the pooling of the
 * settings, `eval/tail_mrr` of the tails alone, and `eval/max_mrr` and `eval/sum_mrr` by either pooling. Where training asks for
 * tails alone, tails alone are ranked.
 */
export async function evaluateLinksOnValid(
  { settings, progress, signal, data }: LinkSession,
  actor: LinkActor,
): Promise<Record<string, number>> {
  const { dataset, watched } = data;
  const { linkWalk, evaluation } = settings;
  const directions = directionsOf(settings);
  const { hash } = dataset.graph;
  madeFrom('choice', 'best checkpoint', { graph: hash, split: 'valid', triples: watched.heads.length });
  const count = watched.heads.length * directions.length;
  const line = progress('evaluate on valid', count, 'queries');
  const pooled = { max: [] as number[], sum: [] as number[] };
  for (const direction of directions) {
    const before = pooled.max.length;
    const { max, sum } = await rankWalks(actor, dataset, queriesOf(dataset.graph, watched, direction), {
      beamWidth: evaluation.beamWidth,
      horizon: linkWalk.horizon,
      signal,
      onProgress: (done) => line.update(before + done),
    });
    pooled.max.push(...max);
    pooled.sum.push(...sum);
  }
  const ranks = pooled[evaluation.pooling];
  const tails = ranks.slice(0, watched.heads.length);
  line.finish(`MRR ${mrr(ranks).toFixed(3)}`);
  return {
    'eval/mrr': mrr(ranks),
    'eval/hits@1': hitsAtK(ranks, 1),
    'eval/hits@3': hitsAtK(ranks, 3),
    'eval/hits@10': hitsAtK(ranks, 10),
    'eval/tail_mrr': mrr(tails),
    'eval/max_mrr': mrr(pooled.max),
    'eval/sum_mrr': mrr(pooled.sum),
  };
}

/** Evaluates the best checkpoint on all of valid and writes `evaluations/valid-best`. */
export async function evaluateBestLinks(session: LinkSession): Promise<void> {
  const { run, settings, progress, signal, data } = session;
  const { dataset, valid } = data;
  const { beamWidth, resamples, examples } = settings.evaluation;
  const { horizon } = settings.linkWalk;
  const actor = walkerOf(session);
  try {
    actor.parameters.import(readCheckpoint(resolveCheckpoint(run.folder, 'best').file).tensors);
    const directions = directionsOf(settings);
    const line = progress('evaluate the best on valid', valid.heads.length * directions.length, 'queries');
    const evaluation = await evaluateLinkRanker(
      walkRanker(actor, dataset.graph, { name: 'walker', beamWidth, horizon }),
      dataset,
      valid,
      {
        about: {
          ...{
            agent: 'walker',
            dataset: settings.data.dataset,
            split: 'valid',
            run: settings.name,
            checkpoint: 'best',
          },
          ...{ horizon, beamWidth },
          ...(valid.heads.length < dataset.valid.heads.length && { limit: valid.heads.length }),
          hashes: { graph: dataset.graph.hash, dataset: linksHash(dataset.manifest) },
        },
        ...{ directions, resamples, horizon, examples, signal },
        onProgress: (done) => line.update(done),
      },
    );
    line.finish();
    await saveRunLinkEvaluation(run.folder, 'valid-best', evaluation);
  } finally {
    actor.dispose();
  }
}

const directionsOf = ({ linkWalk }: TrainSettings): readonly AskedDirection[] =>
  linkWalk.bothDirections ? ['tail', 'head'] : ['tail'];
