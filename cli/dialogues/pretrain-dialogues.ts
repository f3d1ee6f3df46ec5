/** `kgwalk pretrain` on the graph of a data set of dialogues. */
import type { RunSettings } from '../../presets/schema.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { terminalProgress } from '../../src/run/progress.js';
import { interruptSignal } from '../interrupt.js';
import { printJson, printLine } from '../output.js';
import type { PretrainFlags } from '../pretrain.js';
import { threadsOf } from '../threads.js';

/** Trains or finds the TransE table, and prints where it is and how it ranks the facts that were held out. */
export async function pretrainDialogues(settings: RunSettings, flags: PretrainFlags): Promise<void> {
  const threads = threadsOf(flags.threads);
  const { dataset, graph } = settings.data;
  if (flags.test) {
    throw new WorkbenchError('usage', `expected a data set of links with --test, got ${dataset}`, {
      hint: 'Leave --test out: a graph of dialogues has no test facts.',
    });
  }
  const { loadDialogueDataset } = await import('../../datasets/dialogues/dialogue-dataset.js');
  const { pretrainEmbeddings } = await import('../../trainers/transe/pretrain.js');
  const { dialogueTriples } = await import('../../trainers/transe/triples.js');
  const data = loadDialogueDataset(dataset);
  const walked = await data.loadGraph(graph);
  const { file, reused, metrics, history } = await pretrainEmbeddings(walked, {
    settings: settings.transe,
    seed: settings.seed,
    exclude: dialogueTriples(data, walked),
    threads,
    progress: terminalProgress(),
    signal: interruptSignal(),
  });
  if (flags.json) return printJson({ file, reused, epochs: history.length, metrics });
  printLine(`${reused ? 'kept from before' : `trained in ${history.length} epochs`}: ${file}`);
  if (metrics) {
    const shares = (['mrr', 'hits@1', 'hits@3', 'hits@10'] as const).map((key) => `${key} ${metrics[key].toFixed(3)}`);
    printLine(`held-out facts, filtered: ${shares.join('  ')}  (${metrics.n} queries)`);
  }
}
