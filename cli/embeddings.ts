/** `kgwalk embeddings import`: entity and relation vectors trained elsewhere. */
import type { Command } from 'commander';
import { printJson, printLine, printNote } from './output.js';

interface ImportFlags {
  dataset: string;
  graph?: string;
  model: string;
  norm?: string;
  entities: string;
  entityNames: string;
  relations: string;
  relationNames: string;
  json?: boolean;
}

/** Adds `embeddings` to `program`. */
export function register(program: Command): void {
  program
    .command('embeddings')
    .description('import pretrained entity and relation vectors')
    .command('import')
    .description(
      'import vectors for the entities and relations of a data set, for transe.imported=NAME or bilinear.imported=NAME, and show how they rank its facts',
    )
    .argument('<name>', 'what they will be called')
    .requiredOption('--dataset <name>', 'data set of dialogues or links')
    .option('--graph <name>', 'graph of the data set; default: its main graph')
    .requiredOption('--model <model>', 'what their scores are: transe, distmult or complex')
    .option('--norm <n>', 'under transe: the distance they were trained for, 1 or 2; default 2')
    .requiredOption('--entities <file.npy>', 'entity matrix, one row per entity')
    .requiredOption('--entity-names <file>', 'whose row is whose: a line a row')
    .requiredOption('--relations <file.npy>', 'relation matrix, one row per relation')
    .requiredOption('--relation-names <file>', 'the same for relations')
    .option('--json', 'print JSON')
    .action(importEmbeddings);
}

async function importEmbeddings(name: string, options: ImportFlags): Promise<void> {
  const { dataset, graph: graphName, entities, entityNames, relations, relationNames, json } = options;
  const { WorkbenchError } = await import('../src/run/errors.js');
  const { importTable, importedModels } = await import('../trainers/embeddings/import-table.js');
  const { shownMetrics } = await import('../src/embedding/rank-links.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { loadTask } = await import('../tasks/index.js');
  const model = importedModels.find((one) => one === options.model);
  if (!model) {
    throw new WorkbenchError('usage', `expected ${importedModels.join(', ')}, got ${options.model}, at --model`);
  }
  const norm = ([1, 2] as const).find((one) => String(one) === (options.norm ?? '2'));
  if (!norm || (options.norm !== undefined && model !== 'transe')) {
    throw new WorkbenchError('usage', `expected 1 or 2 with --model transe, got ${options.norm}, at --norm`);
  }
  const task = await loadTask(datasetKind(dataset));
  if (!task.embeddedGraph) {
    throw new WorkbenchError(
      'usage',
      `expected a data set of dialogues or links, got one of ${task.name}: ${dataset}`,
      {
        hint: 'Walkers over questions read no vectors of entities.',
      },
    );
  }
  const graph = await task.embeddedGraph(dataset, graphName);
  const done = await importTable({
    ...{ name, model, norm, graph },
    entities: { vectors: entities, names: entityNames },
    relations: { vectors: relations, names: relationNames },
  });
  if (json) return printJson(done);
  const { file, dim, missing, others, metrics } = done;
  printLine(`${name}: ${model}, ${dim} numbers a row, kept at ${file}`);
  printLine(`${graph.numEntities - missing} of ${graph.numEntities} entities have a row, ${others} rows are of others`);
  printLine(`facts of the graph, filtered: ${shownMetrics(metrics)}`);
  printNote('Near 0 the names are not those of the rows.');
  printNote(
    `They are read by --set ${model === 'transe' ? 'transe' : 'bilinear'}.imported=${name} in train and pretrain.`,
  );
}
