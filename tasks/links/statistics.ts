/** Text of an import and of the statistics of a link data set. */
import { apartLine, extractionLines, type LinkManifest, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { linkStatistics as statisticsOf } from '../../datasets/links/link-statistics.js';
import { spreadText as spread } from '../../src/metrics/ranks.js';
import { noteLines, type Shown, ShownPage } from '../task.js';

const shownRelations = 15;

/** Imported triples, and facts to check before trusting a score on them. */
export function linksImported(manifest: LinkManifest): Shown {
  const { name, licence, notes = [], ...facts } = manifest;
  const page = new ShownPage(manifest);
  page.line(`imported ${name} · licence: ${licence}`);
  addFacts(page, facts);
  noteLines(notes).forEach((line) => page.line(line));
  return page;
}

/** Sizes, hubs, answers a query, relations. */
export async function linkStatistics(name: string): Promise<Shown> {
  const statistics = statisticsOf(await loadLinkDataset(name));
  const { dataset, degree, answers, relations, ...facts } = statistics;
  const page = new ShownPage(statistics);
  page.line(`${dataset} · links`);
  addFacts(page, facts);
  page.line(`out-edges of an entity, inverses counted (mean / median / p95 / max): ${spread(degree)}`);
  page.table(
    (['valid', 'test'] as const).flatMap((split) => [
      { 'known answers': `${split}, tails`, 'mean / median / p95 / max': spread(answers[split].tail) },
      { 'known answers': `${split}, heads`, 'mean / median / p95 / max': spread(answers[split].head) },
    ]),
  );
  page.table(
    relations.slice(0, shownRelations).map(({ tailsPerHead, headsPerTail, kind, ...counts }) => ({
      ...counts,
      'tails a head': tailsPerHead.toFixed(2),
      'heads a tail': headsPerTail.toFixed(2),
      kind: kind ?? 'not in train',
    })),
  );
  const more = relations.length - shownRelations;
  if (more > 0) page.line(`… and ${more} relations more (--json shows all)`);
  return page;
}

type Facts = Pick<LinkManifest, 'splits' | 'overlaps' | 'graph' | 'names'> & {
  drawn?: LinkManifest['drawn'] | null | undefined;
  apart?: LinkManifest['apart'] | null | undefined;
  extracted?: LinkManifest['extracted'] | null | undefined;
};

function addFacts(page: ShownPage, { drawn, apart, extracted, splits, overlaps, graph, names }: Facts): void {
  page.table(
    (['train', 'valid', 'test'] as const).map((split) => {
      const { triples, duplicates, inverseLines } = splits[split];
      return { split, triples, 'repeated lines left out': duplicates, 'lines of inverses': inverseLines };
    }),
  );
  page.line();
  const rows: [string, (split: LinkManifest['splits']['test']) => number][] = [
    ['entities not in train', (split) => split.unseenEntities],
    ['  triples with one', (split) => split.triplesOfUnseenEntities],
    ['relations not in train', (split) => split.unseenRelations],
    ['  triples with one', (split) => split.triplesOfUnseenRelations],
    ['train links the pair the other way round', (split) => split.reversedInTrain],
    ['  by the same relation', (split) => split.symmetricInTrain],
  ];
  page.table(rows.map(([label, cell]) => ({ '': label, valid: cell(splits.valid), test: cell(splits.test) })));
  page.line();
  if (drawn) page.line(`valid and test were drawn: ${100 * drawn.share} % of the triples each, seed ${drawn.seed}`);
  if (apart) page.line(apartLine(apart));
  for (const line of extracted ? extractionLines(extracted) : []) page.line(line);
  const { trainValid, trainTest, validTest } = overlaps;
  if (trainValid + trainTest + validTest > 0) {
    page.line(
      `in two splits: ${trainValid} in train and valid, ${trainTest} in train and test, ${validTest} in valid and test`,
    );
  }
  page.line(
    `graph train: ${graph.entities} entities, ${graph.relations} relations, ${graph.edges} edges, inverses (~relation) among them`,
  );
  const others = names.shared > 0 || names.unused > 0;
  page.line(
    names.named === 0
      ? 'no names: entities are shown by their ids'
      : `names: ${names.named} entities, ${names.unnamed} are shown by their ids` +
          (others ? `; ${names.shared} share theirs, ${names.unused} of no entity here` : ''),
  );
}

/** A data set in a list. */
export function listedLinks({ name, splits, licence }: LinkManifest): Record<string, string> {
  const { train, valid, test } = splits;
  return { name, holds: `links ${train.triples} / ${valid.triples} / ${test.triples}`, graphs: 'train', licence };
}
