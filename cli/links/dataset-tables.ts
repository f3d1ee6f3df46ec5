/** What an import and the statistics of a data set of links look like in a terminal. */
import type { LinkManifest } from '../../datasets/links/link-dataset.js';
import type { LinkStatistics } from '../../datasets/links/link-statistics.js';
import type { Spread } from '../../src/metrics/ranks.js';
import { printLine, printTable } from '../output.js';

/** Relations that the table shows; JSON has all. */
const shownRelations = 15;

/** What was imported, and what there is to know before a score on it is trusted. */
export function printLinkImport({ name, licence, ...facts }: LinkManifest): void {
  printLine(`imported ${name} · licence: ${licence}`);
  printFacts(facts);
}

/** Sizes, hubs, answers a query, relations. */
export function printLinkStatistics({ dataset, degree, answers, relations, ...facts }: LinkStatistics): void {
  printLine(`${dataset} · links`);
  printFacts(facts);
  printLine(`out-edges of an entity, inverses counted (mean / median / p95 / max): ${spread(degree)}`);
  printLine();
  printTable(
    (['valid', 'test'] as const).flatMap((split) => [
      { 'known answers': `${split}, tails`, 'mean / median / p95 / max': spread(answers[split].tail) },
      { 'known answers': `${split}, heads`, 'mean / median / p95 / max': spread(answers[split].head) },
    ]),
  );
  printLine();
  printTable(
    relations.slice(0, shownRelations).map(({ tailsPerHead, headsPerTail, kind, ...counts }) => ({
      ...counts,
      'tails a head': tailsPerHead.toFixed(2),
      'heads a tail': headsPerTail.toFixed(2),
      kind: kind ?? 'not in train',
    })),
  );
  const more = relations.length - shownRelations;
  if (more > 0) printLine(`… and ${more} relations more (--json shows all)`);
}

type Facts = Pick<LinkManifest, 'splits' | 'overlaps' | 'graph' | 'names'> & {
  drawn?: LinkManifest['drawn'] | null | undefined;
};

function printFacts({ drawn, splits, overlaps, graph, names }: Facts): void {
  printLine();
  printTable(
    (['train', 'valid', 'test'] as const).map((split) => {
      const { triples, duplicates, inverseLines } = splits[split];
      return { split, triples, 'repeated lines left out': duplicates, 'lines of inverses': inverseLines };
    }),
  );
  printLine();
  const rows: [string, (split: LinkManifest['splits']['test']) => number][] = [
    ['entities not in train', (split) => split.unseenEntities],
    ['  triples with one', (split) => split.triplesOfUnseenEntities],
    ['relations not in train', (split) => split.unseenRelations],
    ['  triples with one', (split) => split.triplesOfUnseenRelations],
    ['train links the pair the other way round', (split) => split.reversedInTrain],
    ['  by the same relation', (split) => split.symmetricInTrain],
  ];
  printTable(rows.map(([label, cell]) => ({ '': label, valid: cell(splits.valid), test: cell(splits.test) })));
  printLine();
  if (drawn) printLine(`valid and test were drawn: ${100 * drawn.share} % of the triples each, seed ${drawn.seed}`);
  const { trainValid, trainTest, validTest } = overlaps;
  if (trainValid + trainTest + validTest > 0) {
    printLine(
      `in two splits: ${trainValid} in train and valid, ${trainTest} in train and test, ${validTest} in valid and test`,
    );
  }
  printLine(
    `graph train: ${graph.entities} entities, ${graph.relations} relations, ${graph.edges} edges, inverses (~relation) among them`,
  );
  const others = names.shared > 0 || names.unused > 0;
  printLine(
    names.named === 0
      ? 'no names: entities are shown by their ids'
      : `names: ${names.named} entities, ${names.unnamed} are shown by their ids` +
          (others ? `; ${names.shared} share theirs, ${names.unused} of no entity here` : ''),
  );
}

const spread = ({ mean, median, p95, max }: Spread) => `${mean.toFixed(1)} / ${median} / ${p95} / ${max}`;
