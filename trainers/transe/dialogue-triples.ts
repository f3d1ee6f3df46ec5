/** The triples that dialogues walk, which are never held out from pretraining. */
import type { Dataset } from '../../datasets/registry.js';
import { walkSamples } from '../../datasets/walk-samples.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Triple } from '../../src/kg/path.js';

/**
 * Every triple of every path of every split. All splits, so that each command holds out the same facts and finds the
 * same table; which facts stay in a graph that agents may read anyway tells nothing of the answers.
 */
export function dialogueTriples(dataset: Dataset, graph: Graph): Triple[] {
  return (['train', 'valid', 'test'] as const).flatMap((split) =>
    walkSamples(dataset.loadDialogues(split), graph).flatMap(({ gold }) => gold.path),
  );
}
