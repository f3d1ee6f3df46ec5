/** Imports triples whose links are to be predicted, from files the user has. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { sha256File, writeFileAtomic } from '../../src/run/files.js';
import { silentProgress } from '../../src/run/progress.js';
import { graphFileName, manifestFileName } from '../dialogues/dialogue-dataset.js';
import { splitNames } from '../walk-sample.js';
import { datasetFolder, replaceFolder } from '../imported-dataset.js';
import type { ImportOptions } from '../opendialkg/import.js';
import { drawnSplits, findLinkFiles, type LinkFiles, readSplits, type ReadSplits } from './read-splits.js';
import {
  labelFileName,
  linkGraphName,
  type LinkManifest,
  linkManifestSchema,
  tripleFileName,
  writeTripleFile,
} from './link-dataset.js';
import { LinkReader, readEntityLabels, type ReadTriples } from './read-triples.js';

/** As of every importer, and whether splits may share triples. */
export interface LinkImportOptions extends ImportOptions {
  /** Keep triples that stand in two splits, and count them, rather than refuse the data. Default false. */
  allowOverlap?: boolean;
}

/**
 * Reads train, valid and test, or one file of which valid and test are drawn (`findLinkFiles`, `drawSplits`), and names where there
 * are any; checks everything, then writes `<home>/datasets/<name>/`: `dataset.json`, `graph-train.bin`, `triples-<split>.bin`, `labels.jsonl`.
 * @throws WorkbenchError `data` for broken lines, no triple in a split, fewer than two entities in train, and splits that overlap; `usage` for
 *   a bad name, `failure` when the disk refuses
 */
export async function importLinks(options: LinkImportOptions): Promise<LinkManifest> {
  const { from, name = 'triples', home, allowOverlap = false, progress = silentProgress } = options;
  const folder = datasetFolder(name, home);
  const files = findLinkFiles(from);
  const line = progress('import', 3, 'steps');
  try {
    const reader = new LinkReader();
    const splits = await readSplits(reader, files, allowOverlap);
    line.update(1, 'triples read');
    const graph = reader.graphOf(linkGraphName, splits.train.triples.columns(), [basename(files.train)]);
    const named = files.names === undefined ? noLabels : await readEntityLabels(files.names, reader.entities);
    line.update(2, 'graph built');
    const manifest = await replaceFolder(folder, async (temporary) => {
      writeGraphFile(join(temporary, graphFileName(linkGraphName)), graph);
      for (const split of splitNames)
        writeTripleFile(join(temporary, tripleFileName(split)), splits[split].triples.columns());
      if (named.labels.size > 0) {
        const lines = [...named.labels].map((label) => Buffer.from(`${JSON.stringify(label)}\n`));
        writeFileAtomic(join(temporary, labelFileName), lines);
      }
      const written: Record<string, string> = {};
      for (const file of readdirSync(temporary).sort()) written[file] = await sha256File(join(temporary, file));
      const description = linkManifestSchema.parse({
        schemaVersion: 1,
        kind: 'links',
        name,
        format: 'triples',
        licence: 'as its source says',
        ...(files.valid === undefined && { drawn: drawnSplits }),
        splits: describeSplits(graph, splits),
        overlaps: splits.overlaps,
        graph: describeGraph(graph),
        names: { ...countNames(named.labels, graph.numEntities), unused: named.unused },
        sources: await describeSources(files),
        files: written,
      });
      writeFileAtomic(join(temporary, manifestFileName), `${JSON.stringify(description, null, 2)}\n`);
      return description;
    });
    line.update(3, 'written');
    return manifest;
  } finally {
    line.finish();
  }
}

const noLabels = { labels: new Map<number, string>(), unused: 0 };

function describeSplits(graph: Graph, splits: ReadSplits): LinkManifest['splits'] {
  const read = ({ triples, duplicates, inverseLines }: ReadTriples) => ({
    triples: triples.size,
    duplicates,
    inverseLines,
  });
  const judged = (split: ReadTriples) => ({ ...read(split), ...countJudged(graph, split.triples.columns()) });
  return { train: read(splits.train), valid: judged(splits.valid), test: judged(splits.test) };
}

function describeGraph({ numEntities, numRelations, numEdges, madeFrom, hash }: Graph): LinkManifest['graph'] {
  return { entities: numEntities, relations: numRelations / 2, edges: numEdges, madeFrom: [...madeFrom], hash };
}

async function describeSources({ train, valid, test, names }: LinkFiles): Promise<LinkManifest['sources']> {
  const sources: LinkManifest['sources'] = [];
  for (const file of [train, valid, test, names]) {
    if (file === undefined) continue;
    sources.push({ file: basename(file), bytes: statSync(file).size, sha256: await sha256File(file) });
  }
  return sources;
}

/** What the manifest says of triples that are judged, beside how they were read. */
type JudgedCounts = Omit<LinkManifest['splits']['test'], 'triples' | 'duplicates' | 'inverseLines'>;

/** @param graph of the training triples and their inverses, plain relations first */
function countJudged(graph: Graph, { heads, relations, tails }: TripleColumns): JudgedCounts {
  const plain = graph.numRelations / 2;
  const usedRelations = new Set(graph.relations);
  const unseen = { entities: new Set<number>(), relations: new Set<number>() };
  const counts = { ofEntities: 0, ofRelations: 0, reversed: 0, symmetric: 0 };
  for (let i = 0; i < heads.length; i++) {
    const [head, relation, tail] = [heads[i]!, relations[i]!, tails[i]!];
    const lacking = [head, tail].filter((entity) => graph.degree(entity) === 0);
    for (const entity of lacking) unseen.entities.add(entity);
    if (lacking.length > 0) counts.ofEntities++;
    if (!usedRelations.has(relation)) {
      unseen.relations.add(relation);
      counts.ofRelations++;
    }
    if (leadsTo(graph, tail, head, plain)) counts.reversed++;
    if (graph.edgeIndex(tail, relation, head) >= 0) counts.symmetric++;
  }
  return {
    unseenEntities: unseen.entities.size,
    triplesOfUnseenEntities: counts.ofEntities,
    unseenRelations: unseen.relations.size,
    triplesOfUnseenRelations: counts.ofRelations,
    reversedInTrain: counts.reversed,
    symmetricInTrain: counts.symmetric,
  };
}

/** @param labels by entity */
function countNames(labels: ReadonlyMap<number, string>, numEntities: number): Omit<LinkManifest['names'], 'unused'> {
  const bearers = new Map<string, number>();
  for (const label of labels.values()) bearers.set(label, (bearers.get(label) ?? 0) + 1);
  const shared = [...bearers.values()].filter((count) => count > 1).reduce((sum, count) => sum + count, 0);
  return { named: labels.size, unnamed: numEntities - labels.size, shared };
}

/** Whether a training triple of any relation leads from one entity to the other. Looks at the edges of the one with fewer. */
function leadsTo({ offsets, relations, tails }: Graph, from: number, to: number, plain: number): boolean {
  const forward = offsets[from + 1]! - offsets[from]! <= offsets[to + 1]! - offsets[to]!;
  const [at, end] = forward ? [from, to] : [to, from];
  for (let edge = offsets[at]!; edge < offsets[at + 1]!; edge++) {
    if (tails[edge] === end && relations[edge]! < plain === forward) return true;
  }
  return false;
}
