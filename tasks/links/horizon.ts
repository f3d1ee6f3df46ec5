/** Steps of walks by how far the answers of valid lie: dense graphs are crossed in three, sparse ones are not. */
import { exactWalkerKind } from '../../agents/exact-walker/agent.js';
import { queriesOf } from '../../agents/link-ranks.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { sampledTriples } from '../../src/kg/graph.js';
import { answerDistances } from './distances.js';

/** Longest walk that is chosen. */
const mostHops = 6;
/** Triples of valid whose distance is measured. */
const measured = 500;

/**
 * Settings with `linkWalk.horizon` raised until `linkWalk.reach` of valid's answers lie within it, at most to 6 or what the kind of walker takes.
 * @param note called with the shares that decided
 * @throws WorkbenchError `data` for a data set that is not there
 */
export async function settledHorizon(settings: TrainSettings, note: (line: string) => void): Promise<TrainSettings> {
  const { linkWalk, exactWalker, data } = settings;
  const most = Math.min(mostHops, exactWalker ? exactWalkerKind(exactWalker.kind).mostHops : mostHops);
  if (linkWalk.reach === 0 || linkWalk.horizon >= most) return settings;
  const { graph, valid } = await loadLinkDataset(data.dataset);
  const drawn = sampledTriples(valid, measured, 'train/horizon');
  if (drawn.heads.length === 0) return settings;
  const distances = answerDistances(graph, queriesOf(graph, drawn, 'tail'), most);
  const within = (hops: number) => distances.filter((distance) => distance <= hops).length / distances.length;
  let { horizon } = linkWalk;
  while (horizon < most && within(horizon) < linkWalk.reach) horizon++;
  const shares = Array.from({ length: most - linkWalk.horizon + 1 }, (_, i) => linkWalk.horizon + i).map(
    (hops) => `${(100 * within(hops)).toFixed(1)} % within ${hops}`,
  );
  note(`walks of ${horizon} hops: of ${distances.length} answers of valid lie ${shares.join(', ')}`);
  return { ...settings, linkWalk: { ...linkWalk, horizon } };
}
