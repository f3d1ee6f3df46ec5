/** How connected entities are in the graph that a data set's dialogues were cut from. */
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { WalkerSettings } from './settings.js';

/**
 * int32 [numEntities]: edges of each entity in the graph `wide`, 0 for one that it lacks; undefined where the settings do not ask.
 * @throws WorkbenchError `config` for a data set without that graph
 */
export async function wideDegreesOf(
  dataset: DialogueDataset,
  { entityNames }: Graph,
  { pairFeatures }: WalkerSettings,
): Promise<Int32Array | undefined> {
  if (pairFeatures !== 'wide') return undefined;
  const { name, graphs } = dataset.manifest;
  if (!Object.hasOwn(graphs, 'wide')) {
    throw new WorkbenchError(
      'config',
      `expected a data set with the graph wide, got ${name}, which has ${Object.keys(graphs).join(', ')}, at walker.pairFeatures`,
      { hint: 'Set walker.pairFeatures=graph, or import again with opendialkg_triples_wide.txt in the folder.' },
    );
  }
  const wide = await dataset.loadGraph('wide');
  return Int32Array.from(entityNames, (entity) => wide.degree(wide.entityId(entity)));
}
