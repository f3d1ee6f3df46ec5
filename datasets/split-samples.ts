/** The samples of a split that a run uses: all that its dialogues hold, or a seeded subset. */
import type { Graph } from '../src/kg/graph.js';
import { drawn } from '../src/run/drawn.js';
import type { Dataset } from './registry.js';
import type { DataSettings } from './settings.js';
import type { SplitName, WalkSample } from './walk-sample.js';
import { walkSamples } from './walk-samples.js';

/** What decides which samples a split has. */
export type SplitSettings = Pick<DataSettings, 'turns' | 'maxDialogues' | 'trainSamples' | 'validSamples'>;

/**
 * Training, its evaluations and everything that is counted over train read this, so that all see the same samples. They
 * keep their ids and their order. Test is never cut.
 */
export function splitSamples(
  dataset: Pick<Dataset, 'loadDialogues'>,
  graph: Graph,
  settings: SplitSettings,
  split: SplitName,
): WalkSample[] {
  const samples = walkSamples(dataset.loadDialogues(split), graph, settings);
  const { trainSamples, validSamples } = settings;
  const counts: Record<SplitName, number | null> = { train: trainSamples, valid: validSamples, test: null };
  return drawn(samples, counts[split] ?? Infinity, `data/${split}-samples`);
}
