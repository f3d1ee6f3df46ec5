/** The triples that train dialogues walk, which are never held out from pretraining. */
import type { Dataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Triple } from '../../src/kg/path.js';

/**
 * Every triple of every path of train, whichever part of it a run reads, so that each command holds out the same facts
 * and finds the same table. Not of valid and test: facts that were held out are ranked a little lower, and none of them
 * would be a gold of theirs.
 */
export function dialogueTriples(dataset: Dataset, graph: Graph): Triple[] {
  const note = madeFromSamples('embedding', 'facts that TransE never holds out');
  return walkSamples(dataset.loadDialogues('train'), graph).flatMap((sample) => {
    note(sample);
    return sample.gold.path;
  });
}
