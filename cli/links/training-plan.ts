/** The work of training a walker of link queries, phase by phase, without doing it. */
import type { LinkManifest } from '../../datasets/links/link-manifest.js';
import type { RunSettings } from '../../presets/schema.js';
import type { TrainingPlan } from '../training-plan.js';

/** @throws WorkbenchError `data` for a data set that was not imported, is of another kind or was altered */
export async function linkPlan(settings: RunSettings): Promise<TrainingPlan> {
  const { loadLinkDataset } = await import('../../datasets/links/link-dataset.js');
  const { manifest, train, valid } = await loadLinkDataset(settings.data.dataset);
  const { linkWalk, transe, bilinear, clone, ppo } = settings;
  const { entities, relations } = manifest.graph;
  const queries = train.heads.length * (linkWalk.bothDirections ? 2 : 1);
  const asked = linkWalk.bothDirections ? 'for tails and heads' : 'for tails';
  const walks = ppo.updates * ppo.samplesPerUpdate * ppo.explorations;
  return {
    data: `${queries} train queries ${asked}, ${valid.heads.length} valid triples on graph train of ${entities} entities and ${relations} relations`,
    notes: notesOf(manifest),
    transe: transe.enabled ? `${transe.epochs} epochs at most over ${train.heads.length} triples` : 'off',
    bilinear: bilinear.enabled
      ? `${bilinear.model}, ${bilinear.epochs} epochs at most over ${train.heads.length} triples`
      : 'off',
    clone: clone.enabled ? `${clone.epochs} epochs over shortest paths of the train queries` : 'off',
    ppo: ppo.enabled
      ? `${ppo.updates} updates of ${ppo.samplesPerUpdate} queries, ${ppo.explorations} walks each: ${walks * linkWalk.horizon} steps`
      : 'off',
    texts: [],
  };
}

/** What there is to know before a score on valid or test is trusted; nothing where nothing is amiss. */
function notesOf({ splits, overlaps, drawn }: LinkManifest): string[] {
  const { valid, test } = splits;
  const pairs: [string, number, number][] = [
    ['have an entity that train lacks, and rank last', valid.triplesOfUnseenEntities, test.triplesOfUnseenEntities],
    ['have a relation that train lacks', valid.triplesOfUnseenRelations, test.triplesOfUnseenRelations],
    ['stand in train, too', overlaps.trainValid, overlaps.trainTest],
    ['are pairs that train links the other way round', valid.reversedInTrain, test.reversedInTrain],
  ];
  return [
    ...(drawn ? [`valid and test were drawn by the import, ${100 * drawn.share} % of the triples each`] : []),
    ...pairs.flatMap(([what, ofValid, ofTest]) =>
      ofValid + ofTest > 0 ? [`${ofValid} triples of valid and ${ofTest} of test ${what}`] : [],
    ),
  ];
}
