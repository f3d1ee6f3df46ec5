/** `kgwalk pretrain` and `embeddings import` on dialogues: TransE over a graph, and the graph whose entities have vectors. */
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { shownMetrics } from '../../src/embedding/rank-links.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { pretrainEmbeddings } from '../../agents/embeddings/transe/pretrain.js';
import { dialogueTriples } from '../../agents/embeddings/transe/triples.js';
import { type PretrainFlags, type Shown, ShownPage, type TaskVectors, type Work } from '../task.js';

/** TransE over a graph of dialogues. */
export const dialogueVectors: TaskVectors = {
  pretrain,
  graphOf: async (dataset, graph) => ({ graph: await loadDialogueDataset(dataset).loadGraph(graph) }),
};

/** Trains or finds the TransE table; where it is and how it ranks the facts that were held out. */
async function pretrain(
  settings: TrainSettings,
  { threads, test }: PretrainFlags,
  { progress, signal }: Work,
): Promise<Shown> {
  const { dataset, graph } = settings.data;
  if (test) {
    throw new WorkbenchError('usage', `expected a data set of links with --test, got ${dataset}`, {
      hint: 'Leave --test out: a graph of dialogues has no test facts.',
    });
  }
  const data = loadDialogueDataset(dataset);
  const walked = await data.loadGraph(graph);
  const { file, reused, metrics, history } = await pretrainEmbeddings(walked, {
    settings: settings.transe,
    seed: settings.seed,
    exclude: dialogueTriples(data, walked),
    threads,
    progress,
    signal,
  });
  const page = new ShownPage({ file, reused, epochs: history.length, metrics });
  page.line(`${reused ? 'kept from before' : `trained in ${history.length} epochs`}: ${file}`);
  if (metrics) page.line(`held-out facts, filtered: ${shownMetrics(metrics)}`);
  return page;
}
