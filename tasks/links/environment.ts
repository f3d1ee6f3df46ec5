/** `kgwalk/LinkQuery-v1` over a data set, for programs that step it themselves. */
import { splitNames } from '../../datasets/walk-sample.js';
import type { LinkQueryOptions } from '../../envs/link-query/world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { joinTriples } from '../../src/kg/graph.js';
import { openLinkScorer } from '../../agents/embeddings/link-scorers.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { splitOf } from '../flags.js';
import type { EnvironmentFlags, TaskEnvironment, Work } from '../task.js';
import { queriesOf } from '../../agents/link-ranks.js';
import { openLinkTraining } from '../../agents/link-training.js';
import { shapingOf } from '../../agents/path-walker/train.js';

const scorers = ['transe', 'bilinear'] as const;

/**
 * Walks over the edges of train, for queries of train, valid or test.
 * @throws WorkbenchError `usage` for another split, and for an encoder that is no scorer
 */
export async function linkEnvironment(
  settings: TrainSettings,
  { split: name, encoder }: EnvironmentFlags,
  { progress, signal, note }: Work,
): Promise<TaskEnvironment> {
  const split = splitOf(name, splitNames);
  const vectors = scorers.find((one) => one === encoder);
  if (encoder !== undefined && !vectors) {
    throw new WorkbenchError('usage', `expected ${scorers.join(' or ')}, got ${encoder}, at --encoder`, {
      hint: 'Entities of links have vectors of pretrained scorers, such as those of --config umls-transe; or none, and ids are shown.',
    });
  }
  const data = await openLinkTraining(settings);
  const { dataset } = data;
  const { graph } = dataset;
  const { horizon, bothDirections, shaping } = settings.linkWalk;
  const open = (name: (typeof scorers)[number]) => openLinkScorer(name, dataset, settings, { progress, signal });
  const tails = dataset[split];
  const asked = bothDirections ? joinTriples([tails, queriesOf(graph, tails, 'head')]) : tails;
  const trained = split === 'train';
  const options: LinkQueryOptions = {
    ...{ graph, horizon, queries: trained ? data.queries : asked },
    known: trained ? dataset.trainKnown : undefined,
    vectors: vectors && (await open(vectors)).table,
  };
  if (trained && shaping !== 'none') {
    options.shaping = shapingOf(shaping, (await open(settings.linkWalk.shapingScorer)).scorer, dataset, settings);
  }
  note(`${options.queries.heads.length} ${split} queries, walks of ${horizon} over ${graph.numEdges} edges of train`);
  return { options };
}
