/** What whoever trains on a data set of links, or reads a score on it, should know. */
import type { LinkManifest } from './link-manifest.js';

/** One line a thing; none where nothing is amiss. */
export function linkNotes({ splits, overlaps, drawn }: Pick<LinkManifest, 'splits' | 'overlaps' | 'drawn'>): string[] {
  const { valid, test } = splits;
  const counted: [string, number, number][] = [
    ['have an entity that train lacks, and rank last', valid.triplesOfUnseenEntities, test.triplesOfUnseenEntities],
    ['have a relation that train lacks', valid.triplesOfUnseenRelations, test.triplesOfUnseenRelations],
    ['stand in train, too', overlaps.trainValid, overlaps.trainTest],
    ['are pairs that train links the other way round', valid.reversedInTrain, test.reversedInTrain],
  ];
  return [
    ...(drawn ? [`valid and test were drawn by the import, ${100 * drawn.share} % of the triples each`] : []),
    ...counted.flatMap(([what, ofValid, ofTest]) =>
      ofValid + ofTest > 0 ? [`of valid ${ofValid} and of test ${ofTest} triples ${what}`] : [],
    ),
  ];
}
