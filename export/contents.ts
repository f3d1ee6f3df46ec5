/** Contents of a page, read from a run; `page/` makes an agent of them again. */
import { dialogueMethods } from '../agents/dialogue-agents.js';
import { loadWalkerRun } from '../agents/dialogue-walker/load-walker.js';
import { dialogueWalker } from '../agents/dialogue-walker/train.js';
import { encodeTasks } from '../agents/dialogue-walker/vectors.js';
import { policySources } from '../agents/dialogue-walker/walker-parts.js';
import { loadExactWalker } from '../agents/exact-walker/agent.js';
import { questionMethods } from '../agents/question-agents.js';
import { loadRelationWalkers, type LoadedRelationWalker, walkingOf } from '../agents/relation-walker/agent.js';
import { relationWalker } from '../agents/relation-walker/train.js';
import { optimizerPrefix } from '../checkpoints/checkpoint.js';
import { listDatasets } from '../datasets/dataset.js';
import { loadLinkDataset } from '../datasets/links/link-dataset.js';
import { askedQuestion } from '../datasets/questions/asked-question.js';
import { loadQuestionDataset } from '../datasets/questions/question-dataset.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import type { EncoderSettings } from '../src/encoder/settings.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import { NameIndex } from '../src/kg/name-index.js';
import { modelFile } from '../src/llm/model-files.js';
import { kernelBytes } from '../src/nn/simd/kernels.js';
import type { StoredTensors } from '../src/nn/parameters.js';
import { SimdExecutor } from '../src/nn/simd/executor.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { RunInfo } from '../src/run/records.js';
import { openRun } from '../src/run/run-folder.js';
import { askedWalk } from '../tasks/dialogues/ask.js';
import { datasetOf } from '../tasks/named-runs.js';
import { type AnyTask, taskOfConfig } from '../tasks/index.js';
import type { AskedFields } from '../tasks/task.js';
import { validExamples } from '../tasks/valid-examples.js';
import { evaluationSettings } from '../trainers/run-settings.js';
import type { Fields, PageAbout } from './contract.js';
import { llamaPart } from './llama-file.js';
import type { DialoguePart } from './page/agents.js';
import type { PageParts } from './page/main.js';
import { rounded } from './pack.js';
import { type TextsPart, textKey } from './page/texts.js';

/** Which run, and where its encoder is, if not where its settings say. */
export interface ExportOptions {
  run: string;
  checkpoint: string;
  encoder?: string | undefined;
}

/** Samples of valid among which examples are chosen, and examples. */
const [mostDrawn, mostExamples] = [300, 60];

type Opened = Pick<PageParts, 'graph' | 'agent' | 'texts' | 'model'> & { kind: string; encoder?: string };
type Open = (run: RunInfo, options: ExportOptions, examples: readonly Fields[]) => Promise<Opened>;

/**
 * All parts of the page of a run.
 * @throws WorkbenchError `usage` for a run of another kind, and those of opening the run
 */
export async function pageParts(options: ExportOptions): Promise<PageParts> {
  const run = openRun(options.run);
  const task = await taskOfConfig(run.config);
  const open = openerOf(task, run);
  const examples = await examplesOf(task, run);
  const { kind, encoder, ...parts } = await open(run, options, examples);
  const { entities, relationNames, tails } = parts.graph;
  const dataset = datasetOf(run)!;
  const licence = listDatasets().find((known) => known.name === dataset.split('/')[0])?.licence;
  const about: PageAbout = {
    ...{ run: run.id, kind, examples },
    facts: {
      'data set': dataset,
      ...(licence !== undefined && { licence }),
      checkpoint: options.checkpoint,
      graph: `${entities.ends.length} entities, ${relationNames.length} relations, ${tails.length} edges`,
      ...(encoder !== undefined && { 'text encoder': encoder }),
    },
    fields: task.name === 'dialogues' ? ['question', 'start'] : task.ask!.words,
    texts: encoder === undefined ? '' : textsSentence(encoder, parts),
  };
  return { about, ...parts, kernels: new Uint8Array(kernelBytes()) };
}

function textsSentence(encoder: string, { model, agent }: Pick<PageParts, 'model' | 'agent'>): string {
  if (encoder.startsWith('hashed:')) return 'Any text can be asked: its vector is computed here as it is in Node.';
  const examples = 'The vectors of the examples are those that Node computed';
  if (model) return `${examples}; that of any other text is computed here and differs by rounding.`;
  const other = agent.task === 'dialogues' ? 'from another start' : 'about another [entity]';
  return `${examples}. ${encoder} is not in this page: no other text can be asked, but each of these ${other}.`;
}

/** @throws WorkbenchError `usage` for a run that no page holds */
function openerOf({ name }: AnyTask, { id, config }: RunInfo): Open {
  const { exactWalker, stateText, walker } = config as Record<string, Record<string, unknown> | undefined>;
  const isUsual = stateText?.encode !== 'per-step' && walker?.decoder !== 'free';
  if (name === 'dialogues' && dialogueMethods.of(config) === dialogueWalker && isUsual) return openDialogues;
  if (name === 'questions' && questionMethods.of(config) === relationWalker) return openQuestions;
  if (name === 'links' && exactWalker?.kind === 'chains') return openLinks;
  throw unfit(`${id}, which is another kind`);
}

const unfit = (got: string) =>
  new WorkbenchError('usage', `expected a run that a page can hold, got ${got}`, {
    hint: 'Pages hold dialogue walkers that read the dialogue once and choose among edges, relation walkers on questions, and exact walkers of kind chains on links.',
  });

const openDialogues: Open = async ({ folder, config }, { checkpoint, encoder: modelPath }, examples) => {
  const { beamWidth, twoHopBonus } = evaluationSettings.parse(config.evaluation ?? {});
  const walker = await loadWalkerRun(folder, {
    ...{ checkpoint, beamWidth, twoHopBonus, backend: 'simd' },
    ...(modelPath !== undefined && { modelPath }),
  });
  try {
    const { parts, graph, encoder } = walker;
    const { settings, tensors, tables, vocabulary, vectors, walkedRows } = parts;
    const sources = await policySources(parts, graph);
    const agent: DialoguePart = {
      task: 'dialogues',
      parts: {
        ...{ settings, tensors, vocabulary, walkedRows, beamWidth, twoHopBonus },
        tables: tables && { ...tables, entities: rounded(tables.entities) },
        vectors: { ...vectors, entities: rounded(vectors.entities) },
      },
      sources: {
        train: sources.train.map(counted),
        linked: sources.linked && { ...sources.linked, samples: sources.linked.samples.map(counted) },
        wideDegrees: sources.wideDegrees,
      },
    };
    const recorder = recording(encoder, settings.encoder);
    const tasks = examples.map(({ question, start }) => askedWalk(graph, question!, start!));
    await encodeTasks(recorder.encoder, tasks, { settings: settings.encoder, walker: settings.walker });
    const kind = 'a dialogue walker: it walks from an entity after a message';
    return { kind, graph: parts.graph, agent, ...(await recorder.parts(modelPath)) };
  } finally {
    await walker.close();
  }
};

/** A sample as counts read it. */
const counted = ({ task: { id, dialogueId, earlierPaths }, gold }: WalkSample): WalkSample => ({
  task: { id, dialogueId, earlierPaths, messages: [], sender: 'user', start: -1, startName: '' },
  gold,
});

const openQuestions: Open = async ({ folder, config }, { checkpoint, encoder: modelPath }, examples) => {
  const walker = (await loadRelationWalkers([{ folder, checkpoint }], { modelPath })) as LoadedRelationWalker;
  try {
    const { parts, graph, encoder } = walker;
    const dataset = loadQuestionDataset((config.data as { dataset: string }).dataset);
    const { topicsReturn } = dataset.manifest;
    const aliases = dataset.aliases(graph);
    const recorder = recording(encoder, config.encoder as EncoderSettings);
    const { reader } = walkingOf(parts, new SimdExecutor(), graph, recorder.encoder);
    const names = new NameIndex(graph, aliases);
    for (const { question } of examples) await reader.of(askedQuestion(question!, graph, { names }).task);
    const kind = 'a relation walker: it walks from the topic of a question over whole sets of entities';
    const agent = {
      task: 'questions' as const,
      parts: { ...parts, tensors: weightsOf(parts.tensors) },
      topicsReturn,
      aliases,
    };
    return { kind, graph: graph.shared(), agent, ...(await recorder.parts(modelPath)) };
  } finally {
    await walker.close();
  }
};

/** Tensors without the state of training. */
const weightsOf = (tensors: StoredTensors): StoredTensors =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => !name.startsWith(optimizerPrefix)));

const openLinks: Open = async ({ id, folder, config }, { checkpoint, encoder: modelPath }) => {
  const dataset = await loadLinkDataset((config.data as { dataset: string }).dataset);
  const { graph, labels } = dataset;
  const { walker } = await loadExactWalker({ folder, checkpoint }, { dataset, modelPath });
  const { tensors } = await walker.state();
  const agent = { task: 'links' as const, name: id, dataset: dataset.manifest.name, tensors };
  const kind = 'an exact walker over chains: it ranks what answers a relation of an entity';
  return { kind, graph: graph.shared(), agent: { ...agent, ...(labels !== graph.entityNames && { labels }) } };
};

/** An encoder whose vectors are kept. */
function recording(encoder: StateEncoder, { normalize, model, pooling }: EncoderSettings) {
  const { name, dim } = encoder;
  const known = new Map<string, Float32Array>();
  const texts: TextsPart = { name, dim, normalize: normalize ?? true, known };
  return {
    encoder: {
      ...encoder,
      async encode(...[asked, options]: Parameters<StateEncoder['encode']>) {
        const encoded = await encoder.encode(asked, options);
        const { matrix, rows } = encoded;
        rows.forEach((row, i) => {
          known.set(textKey(asked[i]!, options?.maxTokens), matrix.slice(row * dim, (row + 1) * dim));
        });
        return encoded;
      },
    } satisfies StateEncoder,
    /** @param modelPath instead of the model of the settings */
    async parts(modelPath: string | undefined) {
      if (name.startsWith('hashed:')) known.clear();
      const isFile = name.endsWith('.gguf') && pooling !== 'mean';
      const llama = isFile ? await llamaPart(modelFile(modelPath ?? model!)) : undefined;
      return { texts, encoder: name, ...(llama && { model: llama }) };
    },
  };
}

/** Questions of the valid split, each once. */
async function examplesOf(task: AnyTask, run: RunInfo): Promise<AskedFields[]> {
  if (!task.ask) throw unfit(`${run.id}, which plays episodes`);
  const { examples } = await validExamples(task, run, mostDrawn);
  // Some of each subset: they stand in the order of the data set.
  const step = Math.max(1, examples.length / mostExamples);
  return examples.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step));
}
