/** `kgwalk pretrain`, `embeddings import` and `encode`: vectors that runs read. */
import type { Command } from 'commander';
import { printShown, printJson, printLine, printNote } from './output.js';
import { addThreadsOption, repeatable, minutesOf } from './options.js';
import { threadsOf } from '../tasks/flags.js';
import type { TrainFlags } from '../plans/runs.js';

interface PretrainFlags {
  set: string[];
  seed?: string;
  dataset?: string;
  graph?: string;
  threads?: string;
  test?: boolean;
  json?: boolean;
}

/** Adds `pretrain` to `program`. */
export function registerPretrain(program: Command): void {
  const command = program
    .command('pretrain')
    .description(
      'train the vectors of a graph that `train` and the baselines use: TransE; for link data also DistMult or ComplEx',
    )
    .argument('<preset>', 'name or YAML file of a preset')
    .option('--set <key=value>', 'override a setting, such as transe.dim=200; repeatable', repeatable, [])
    .option('--seed <n>', 'override the seed')
    .option('--dataset <name>', 'override data.dataset')
    .option('--graph <name>', 'override data.graph')
    .option('--test', 'for link data: print figures on test as well as on valid')
    .option('--json', 'print JSON');
  addThreadsOption(command, 'batches (transe.batchSize above 1) and validation').action(pretrain);
}

async function pretrain(preset: string, options: PretrainFlags): Promise<void> {
  const { set, seed, dataset, graph, test = false } = options;
  const { openPreset } = await import('../presets/index.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { lacks, loadTask } = await import('../tasks/index.js');
  const { terminalWork } = await import('./terminal.js');
  const flags = { seed, 'data.dataset': dataset, 'data.graph': graph };
  const given = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  const settings = await openPreset(preset, [...set, ...given]);
  const task = await loadTask(datasetKind(settings.data.dataset));
  const threads = threadsOf(options.threads);
  const { pretrain: trained } = task.vectors ?? lacks('data of dialogues or links to pretrain vectors of', task.name);
  printShown(await trained(settings, { threads, test, graph }, terminalWork()), options.json);
}

interface ImportFlags {
  dataset: string;
  graph?: string;
  model: string;
  norm?: string;
  layout?: string;
  entities: string;
  entityNames: string;
  relations: string;
  relationNames: string;
  json?: boolean;
}

/** Adds `embeddings` to `program`. */
export function registerEmbeddings(program: Command): void {
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
    .option(
      '--norm <n>',
      'under transe: the distance they were trained for, 1 or 2; default: the one that ranks better',
    )
    .option(
      '--layout <parts>',
      'under complex: halves (real parts, then imaginary ones) or pairs (both of each number in turn); default: the one that ranks better',
    )
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
  const { complexLayouts, importTable, importedModels } = await import('../agents/embeddings/import-table.js');
  const { shownMetrics } = await import('../src/embedding/rank-links.js');
  const { datasetKind } = await import('../datasets/imported-dataset.js');
  const { lacks, loadTask } = await import('../tasks/index.js');
  const model = importedModels.find((one) => one === options.model);
  if (!model) {
    throw new WorkbenchError('usage', `expected ${importedModels.join(', ')}, got ${options.model}, at --model`);
  }
  const chosen = <T extends string | number>(flag: 'norm' | 'layout', values: readonly T[], of: string) => {
    const given = options[flag];
    const value = values.find((one) => String(one) === given);
    if (given === undefined || (value !== undefined && model === of)) return value;
    throw new WorkbenchError('usage', `expected ${values.join(' or ')} with --model ${of}, got ${given}, at --${flag}`);
  };
  const norm = chosen('norm', [1, 2] as const, 'transe');
  const layout = chosen('layout', complexLayouts, 'complex');
  const task = await loadTask(datasetKind(dataset));
  const vectors = task.vectors ?? lacks('a data set of dialogues or links', `one of ${task.name}: ${dataset}`);
  const { graph, held } = await vectors.graphOf(dataset, graphName);
  const done = await importTable({
    ...{ name, model, norm, layout, graph, held },
    entities: { vectors: entities, names: entityNames },
    relations: { vectors: relations, names: relationNames },
  });
  if (json) return printJson(done);
  const { file, dim, missing, others, metrics, tried } = done;
  printLine(`${name}: ${model}, ${dim} numbers a row, kept at ${file}`);
  printLine(`${graph.numEntities - missing} of ${graph.numEntities} entities have a row, ${others} rows are of others`);
  printLine(`${held ? 'triples of valid' : 'facts of the graph'}, filtered: ${shownMetrics(metrics)}`);
  if (tried.length > 1) {
    const both = tried.map(({ choice, mrr }) => `${choice} mrr ${mrr.toFixed(3)}`).join(', ');
    printLine(`ranked both ways: ${both}; kept as ${tried[0]!.choice}. The option settles it.`);
  }
  printNote('Near 0 the names are not those of the rows.');
  printNote(
    `They are read by --set ${model === 'transe' ? 'transe' : 'bilinear'}.imported=${name} in train and pretrain.`,
  );
}

/** Adds `kgwalk encode`. */
export function registerEncode(program: Command): void {
  program
    .command('encode')
    .description('encode the texts of a training run in advance and cache their vectors')
    .argument('[preset]', 'a YAML file or the name of a built-in preset (default: opendialkg)')
    .option('--model <model>', 'text encoder, as for `kgwalk train`')
    .option('--set <key=value>', 'change a setting, such as data.graph=wide; repeatable', repeatable, [])
    .option('--seed <n>', 'the run’s seed')
    .option('--max-minutes <n>', 'stop after this many minutes and keep the vectors', minutesOf)
    .option('--json', 'print JSON')
    .action(encode);
}

type EncodeFlags = Pick<TrainFlags, 'model' | 'set' | 'seed' | 'maxMinutes' | 'json'>;

/** A trial of one step a phase, which encodes what a run encodes. */
async function encode(preset: string | undefined, flags: EncodeFlags): Promise<void> {
  const { plannedRuns } = await import('../plans/runs.js');
  const { tryRun } = await import('../tasks/train.js');
  const { terminalWork } = await import('./terminal.js');
  const [run] = await plannedRuns(preset, flags);
  const { progress, signal } = terminalWork(flags.maxMinutes);
  const { texts } = await tryRun({ ...run!, signal, encodeAll: progress });
  if (flags.json) return printJson({ texts: texts.asked, encoded: texts.missing, encoder: texts.encoder });
  printLine(`${texts.asked} texts: ${texts.missing} encoded by ${texts.encoder}, the others were cached`);
}
