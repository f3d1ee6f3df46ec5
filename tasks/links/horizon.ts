/** Steps of walks by how far the answers of valid lie: dense graphs are crossed in three, sparse ones are not. */
import { exactWalkerKind } from '../../agents/exact-walker/agent.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { sharesWithin } from './distances.js';

/** Longest walk that is chosen. */
const mostHops = 6;

/**
 * Settings with `linkWalk.horizon` raised until `exactWalker.reach` of valid's answers lie within it, at most to 6 or what the kind of walker takes.
 * @param note called with the shares that decided
 * @throws WorkbenchError `data` for a data set that is not there
 */
export async function settledHorizon(settings: TrainSettings, note: (line: string) => void): Promise<TrainSettings> {
  const { linkWalk, exactWalker, data } = settings;
  if (!exactWalker) return settings;
  const most = Math.min(mostHops, exactWalkerKind(exactWalker.kind).mostHops);
  if (exactWalker.reach === 0 || linkWalk.horizon >= most) return settings;
  const { graph, valid } = await loadLinkDataset(data.dataset);
  const within = sharesWithin(graph, valid, most);
  let { horizon } = linkWalk;
  while (horizon < most && within[most]! > 0 && within[horizon]! < exactWalker.reach) horizon++;
  const shares = within.map((share, hops) => `${(100 * share).toFixed(1)} % within ${hops}`).slice(linkWalk.horizon);
  note(`walks of ${horizon} hops: of the answers of valid lie ${shares.join(', ')}`);
  return { ...settings, linkWalk: { ...linkWalk, horizon } };
}
