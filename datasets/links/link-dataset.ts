/** Data sets of links by name: what is imported, and loading it. */
import { join } from 'node:path';
import { z } from 'zod';
import { knownAnswers, withInverses, type KnownAnswers } from '../../src/embedding/known-answers.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { madeFrom } from '../../src/run/provenance/notes.js';
import { datasetFolder } from '../dataset-folder.js';
import { alteredFile, readImportedGraph, readImportedLines } from '../imported-files.js';
import { everyDataset, readManifest, type LocateOptions } from '../manifest-file.js';
import type { SplitName } from '../walk-sample.js';
import {
  labelFileName,
  linkGraphName,
  linkManifestSchema,
  tripleFileName,
  type LinkManifest,
} from './link-manifest.js';
import { readTripleFile } from './triple-file.js';

/** An imported data set of links, in memory. All of it is shared by whoever loaded it: nothing may be written to. */
export interface LinkDataset {
  readonly manifest: LinkManifest;
  readonly folder: string;
  /**
   * Edges of train and their inverses; entities and relations of all splits, so that some may have no edge. Plain relations are
   * `0 .. numRelations / 2 - 1`; the inverse of r is `r + numRelations / 2` and asks for heads.
   */
  readonly graph: Graph;
  /** Triples by the graph's ids, each once, in the order of the source; relations are plain. */
  readonly train: TripleColumns;
  readonly valid: TripleColumns;
  readonly test: TripleColumns;
  /** Display name of each entity; its id in the source where it has none. Several may share one. Made when first asked for. */
  readonly labels: readonly string[];
  /** Answers in any split, of plain and of inverse relations: what filtered ranks leave out. Made when first asked for. */
  readonly known: KnownAnswers;
  /** Answers in train alone: what a training walk may be told. Made when first asked for. */
  readonly trainKnown: KnownAnswers;
}

/**
 * @throws WorkbenchError `data` when no such data set was imported, it is of another kind, or a file is missing or altered
 */
export async function loadLinkDataset(name: string, options: LocateOptions = {}): Promise<LinkDataset> {
  const folder = datasetFolder(name, options.home);
  const manifest = readManifest(name, 'links', linkManifestSchema, options);
  const { hash, edges, madeFrom: files } = manifest.graph;
  madeFrom('edge list', `graph ${linkGraphName}`, { hash, triples: edges, files });
  const graph = await readImportedGraph(folder, linkGraphName, hash);
  const read = (split: SplitName) => {
    const name = tripleFileName(split);
    const triples = readTripleFile(folder, name, {
      sha256: manifest.files[name],
      count: manifest.splits[split].triples,
    });
    if (!isOf(graph, triples)) throw alteredFile(join(folder, name));
    return triples;
  };
  const [train, valid, test] = [read('train'), read('valid'), read('test')];
  const plain = graph.numRelations / 2;
  const labels = once(() => labelsOf(folder, manifest, graph));
  const known = once(() => withInverses(knownAnswers([train, valid, test]), plain));
  const trainKnown = once(() => withInverses(knownAnswers([train]), plain));
  return {
    ...{ manifest, folder, graph, train, valid, test },
    get labels() {
      return labels();
    },
    get known() {
      return known();
    },
    get trainKnown() {
      return trainKnown();
    },
  };
}

/** Manifests of all imported data sets of links, by name. A folder whose manifest cannot be read is left out. */
export function listLinkDatasets(options: LocateOptions = {}): LinkManifest[] {
  return everyDataset((name) => readManifest(name, 'links', linkManifestSchema, options), options);
}

function labelsOf(folder: string, { files }: LinkManifest, graph: Graph): readonly string[] {
  if (!Object.hasOwn(files, labelFileName)) return graph.entityNames;
  const labels = [...graph.entityNames];
  for (const [entity, label] of readImportedLines(folder, labelFileName, files, labelSchema)) {
    if (entity >= labels.length) throw alteredFile(join(folder, labelFileName));
    labels[entity] = label;
  }
  return labels;
}

/** Whether all ids are those of the graph's entities and plain relations: a folder may come from anywhere. */
function isOf({ numEntities, numRelations }: Graph, { heads, relations, tails }: TripleColumns): boolean {
  const within = (column: Int32Array, count: number) => column.every((id) => id >= 0 && id < count);
  return within(heads, numEntities) && within(relations, numRelations / 2) && within(tails, numEntities);
}

const labelSchema = z.tuple([z.int().min(0), z.string()]);

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
