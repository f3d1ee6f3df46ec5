/** The TransE table that untrained agents look at. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import type { Graph } from '../../src/kg/graph.js';
import type { RunInfo } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-folder.js';

/** The table of the run they are compared with, else one that fits and was kept, else a new one, which takes minutes. */
export async function transeTable(
  graph: Graph,
  dataset: DialogueDataset,
  run: RunInfo | undefined,
): Promise<EmbeddingTable> {
  const { pretrainEmbeddings, readTable, runTableFile } = await import('../../trainers/transe/pretrain.js');
  const file = run && join(runFiles(run.folder).embeddings, runTableFile);
  if (file !== undefined && existsSync(file)) return readTable(file, graph).table;
  const { dialogueTriples } = await import('../../trainers/transe/triples.js');
  const { transeSettings } = await import('../../trainers/transe/settings.js');
  const { terminalProgress } = await import('../../src/run/progress.js');
  const { interruptSignal } = await import('../interrupt.js');
  const { table } = await pretrainEmbeddings(graph, {
    settings: transeSettings.parse(run?.config.transe ?? {}),
    seed: (run?.config.seed as number | undefined) ?? 0,
    exclude: dialogueTriples(dataset, graph),
    progress: terminalProgress(),
    signal: interruptSignal(),
  });
  return table;
}
