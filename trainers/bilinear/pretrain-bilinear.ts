/** Bilinear table of a link data set: reuses the matching one, else trains and keeps one. */
import { checkFits, readCheckpoint, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import type { BilinearTable } from '../../src/embedding/bilinear.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import { madeFrom } from '../../src/run/provenance.js';
import {
  hashOfTriples,
  importedTable,
  keptTable,
  metricsOf,
  readVectors,
  tableHeader,
  tableTensors,
  trainingCheckpoint,
  trainingOf,
  unfit,
  type KeptTableOptions,
  type TableIdentity,
} from '../embeddings/kept-table.js';
import type { BilinearSettings } from './settings.js';
import { countQueries, createBilinear, trainBilinear } from './train-bilinear.js';

/** Kept table, and its metrics on valid if valid has triples. */
interface SavedBilinear {
  table: BilinearTable;
  metrics: LinkMetrics | undefined;
}

/**
 * The table depends only on the graph's names, train, valid, the settings and the seed.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving; `native` without WebAssembly SIMD
 */
export async function pretrainBilinear(
  identity: TableIdentity<BilinearSettings>,
  { train, valid }: { train: TripleColumns; valid: TripleColumns },
  options: KeptTableOptions,
): Promise<SavedBilinear & { file: string; reused: boolean }> {
  const { graph, settings, seed } = identity;
  if (settings.imported !== undefined) {
    return importedTable(settings.imported, graph, options.folder, (file) => readBilinear(file, graph));
  }
  const { numEntities, numRelations } = graph;
  const facts = { train: train.heads.length, valid: valid.heads.length };
  // Recorded for a reused table too: its name identifies these inputs.
  madeFrom('embedding', settings.model, { graph: graph.hash, ...facts });
  const parts = { train: hashOfTriples(train), valid: hashOfTriples(valid) };
  const key = configHash({ graph: graph.hash, bilinear: settings, seed, ...parts }).slice(0, 16);
  return keptTable(
    key,
    {
      settings,
      shown: { name: settings.model, perEpoch: countQueries({ train, numRelations }), unit: 'queries' },
      read: (file) => readBilinear(file, graph),
      resume(file) {
        const fresh = createBilinear(settings, { numEntities, numRelations, seed });
        return trainingOf(readCheckpoint(file, { finite: true }), 'bilinear', identity, fresh, file);
      },
      train: (begun, callbacks) =>
        trainBilinear({
          ...{ numEntities, numRelations, train, valid, settings, seed, ...callbacks },
          ...{ resumeFrom: begun, signal: options.signal },
        }),
      checkpoint: (state) => trainingCheckpoint('bilinear', identity, state),
      write(file, { table, metrics, state }) {
        const header = tableHeader('bilinear', identity, state.epoch, {}, metrics);
        writeCheckpoint(file, { header, tensors: tableTensors(table) });
      },
    },
    options,
  );
}

/** @throws WorkbenchError `data` for a file that is missing, damaged or of another graph */
function readBilinear(file: string, graph: Graph): SavedBilinear {
  const { header, tensors } = readCheckpoint(file, { finite: true });
  checkFits(header, { graph: graph.hash }, file);
  const { bilinear } = header.config as { bilinear?: BilinearSettings };
  if (bilinear === undefined) throw unfit('a table of DistMult or ComplEx', 'another', file);
  const { model, dim } = bilinear;
  return { table: { model, ...readVectors(tensors, graph, dim, file) }, metrics: metricsOf(header) };
}
