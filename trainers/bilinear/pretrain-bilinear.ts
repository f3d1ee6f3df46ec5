/** A bilinear table of a link data set: reuse the one that fits, else train one and keep it. */
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import { madeFrom } from '../../src/run/provenance.js';
import { silentProgress, type ProgressReporter } from '../../src/run/progress.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { keptTable } from '../embeddings/kept-table.js';
import { hashOfTriples } from '../embeddings/table-tensors.js';
import {
  bilinearCheckpoint,
  bilinearStateOf,
  readBilinear,
  writeBilinear,
  type BilinearIdentity,
  type SavedBilinear,
} from './bilinear-file.js';
import { countQueries, trainBilinear } from './train-bilinear.js';

/** Where tables are kept, and how the work is watched and stopped. */
export interface PretrainBilinearOptions {
  folder: string;
  progress?: ProgressReporter | undefined;
  /** Aborted: the epoch is finished and the state saved; the next call with equal options goes on from there. */
  signal?: AbortSignal | undefined;
}

/**
 * The table depends on the graph's names, train, valid, the settings and the seed, and on nothing else.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving; `native` where there is no WebAssembly SIMD
 */
export async function pretrainBilinear(
  identity: BilinearIdentity,
  { train, valid }: { train: TripleColumns; valid: TripleColumns },
  { folder, progress = silentProgress, signal }: PretrainBilinearOptions,
): Promise<SavedBilinear & { file: string; reused: boolean }> {
  const { graph, settings, seed } = identity;
  const facts = { train: train.heads.length, valid: valid.heads.length };
  // Said of a table that is reused too: its name says that it was made from these.
  madeFrom('embedding', settings.model, { graph: graph.hash, ...facts });
  const parts = { train: hashOfTriples(train), valid: hashOfTriples(valid) };
  const key = configHash({ graph: graph.hash, bilinear: settings, seed, ...parts }).slice(0, 16);
  return keptTable(folder, key, {
    read: (file) => readBilinear(file, graph),
    resume: (file) => bilinearStateOf(readCheckpoint(file, { finite: true }), identity, file),
    async train(file, begun, save) {
      const { numEntities, numRelations } = graph;
      const count = countQueries({ train, numRelations });
      const shown = progress(settings.model, settings.epochs * count, 'queries', (begun?.epoch ?? 0) * count);
      let note = '';
      const result = await trainBilinear({
        ...{ numEntities, numRelations, train, valid, settings, seed, signal },
        resumeFrom: begun,
        onProgress: (done) => shown.update(done, note),
        onEpoch({ epoch, loss, metrics }, state) {
          note = `loss ${loss.toFixed(3)}${metrics ? ` · MRR ${metrics.mrr.toFixed(3)}` : ''}`;
          if (epoch % settings.evalEvery === 0 && epoch < settings.epochs) save(bilinearCheckpoint(identity, state));
        },
      });
      shown.finish(note);
      if (result.stopped) {
        save(bilinearCheckpoint(identity, result.state));
        throwIfStopped(signal);
      }
      const { table, metrics, state } = result;
      writeBilinear(file, identity, state.epoch, { table, metrics });
    },
  });
}
