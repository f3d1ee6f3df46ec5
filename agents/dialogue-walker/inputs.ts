/** Inputs of a walker's network, built the same way for training and for answering. */
import type { FrozenTables, HeadShape } from './heads/head.js';
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { LinkedTurns } from './linked-turns.js';
import type { WalkRules } from '../../envs/dialogue-walk/rules.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { EnvSettings } from '../../envs/settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Executor } from '../../src/nn/executor.js';
import type { StoredTensors } from '../../src/nn/parameters.js';
import type { FrozenVectors } from './features/dialogue-scratch.js';
import { Featurizer } from './features/featurizer.js';
import { WalkCounts } from './features/edge-features.js';
import { PairFeatures } from './features/pair-features.js';
import { frozenTables, noTables, readsEdgeFeatures, readsTables } from './vectors.js';
import { createWalkerHead } from './heads/registry.js';
import { type Vocabulary, vocabularyOf, WordReader } from './words/said-words.js';
import type { Policy, StateReader } from './policy.js';
import type { WalkerSettings } from './settings.js';

/** Shared inputs of policies over one graph, encoder and train split. */
export interface WalkerInputs {
  settings: WalkerSettings;
  /** The whole graph: of its names, relations and edges tables are made. */
  graph: Graph;
  /** The edges of it that walks may take: what the featurizer reads. */
  walks: WalkGraph;
  tables: FrozenTables;
  featurizer: Featurizer;
  vocabulary?: Vocabulary | undefined;
  /** Reads states one by one, instead of the dialogue's texts. */
  reader?: StateReader | undefined;
  /** Places of the longest action list, staying counted, where they are what is scored (`pathAware: false`). */
  maxActions?: number | undefined;
}

/** Default: every edge may be walked; tables and vocabulary are made now, where the network reads any. */
interface WalkerInputOptions
  extends
    Pick<WalkerInputs, 'settings' | 'graph' | 'vocabulary' | 'reader' | 'maxActions'>,
    Partial<Pick<WalkerInputs, 'walks'>> {
  rules: WalkRules;
  train: readonly WalkSample[];
  /** Unannotated turns of train, where the network is cloned on some. */
  linked?: LinkedTurns | undefined;
  /** Asked for when a setting names TransE. */
  transe?: FrozenVectors | undefined;
  /** Edges of each entity in a wider graph, with `pairFeatures: wide`. */
  wideDegrees?: Int32Array | undefined;
  tables?: FrozenTables | undefined;
}

/** Prepares tables, counts and features. @param vectors of the names of the graph */
export async function inputsOf(vectors: FrozenVectors, options: WalkerInputOptions): Promise<WalkerInputs> {
  const { settings, graph, walks = { graph }, rules, train, linked, reader } = options;
  const tables = readsTables(settings)
    ? (options.tables ?? (await frozenTables(graph, vectors, options.transe, settings)))
    : noTables;
  const edgeFeatures = readsEdgeFeatures(settings);
  const counted = linked?.inCounts ? [...train, ...linked.samples] : train;
  const counts = edgeFeatures && settings.trainCounts ? new WalkCounts(walks.graph, counted) : undefined;
  const pairs =
    edgeFeatures && settings.pairFeatures !== 'none'
      ? new PairFeatures({
          graph: walks.graph,
          vectors,
          horizon: rules.horizon,
          wideDegrees: options.wideDegrees,
          counted: settings.trainCounts ? counted : [],
        })
      : undefined;
  const perStep = reader !== undefined;
  const vocabulary = settings.text === 'frozen' ? undefined : (options.vocabulary ?? vocabularyOf(train));
  const featurizer = new Featurizer({
    graph: walks.graph,
    rules,
    vectors,
    edgeFeatures,
    perStep,
    linkedTurns: linked !== undefined,
    featureBytes: settings.featureMemory * 2 ** 20,
    counts,
    pairs,
    words: vocabulary && new WordReader(vocabulary),
  });
  const maxActions = settings.pathAware ? undefined : options.maxActions;
  return { settings, graph, walks, tables, featurizer, vocabulary, reader, maxActions };
}

/** A policy with fresh weights; several may share the inputs. @param seed absent where weights are imported */
export function createPolicy(executor: Executor, inputs: WalkerInputs, seed?: number): Policy {
  const { settings, featurizer, reader } = inputs;
  return { head: createWalkerHead(executor, settings, networkShape(inputs), seed), featurizer, reader };
}

/** Shape of networks over these inputs. */
export function networkShape({ graph, tables, featurizer, vocabulary, maxActions }: WalkerInputs): HeadShape {
  const { contextDim, numScalars, numEdgeFeatures, parts } = featurizer;
  const { numEntities, numRelations } = graph;
  const { horizon } = parts.rules;
  const numWords = vocabulary ? vocabulary.length + 1 : 0;
  const sizes = { contextDim, numScalars, numEdgeFeatures, horizon, numEntities, numRelations, numWords };
  return { ...sizes, rows: parts.graph, tables, maxActions };
}

/** A policy with the weights of a checkpoint. @throws WorkbenchError `data` for weights of other settings */
export function restoredPolicy(executor: Executor, inputs: WalkerInputs, tensors: StoredTensors): Policy {
  const policy = createPolicy(executor, inputs);
  try {
    policy.head.parameters.import(tensors);
  } catch (error) {
    policy.head.dispose();
    throw error;
  }
  return policy;
}

/**
 * sha256 (hex) over the edge policy, its longest list and the edges that may be walked, in their order: weights of slots mean
 * something for this order alone.
 * @param walked the graph whose rows are the action lists
 * @returns undefined for a network that reads the edges themselves
 */
export function slotOrder(
  { walker, env }: { walker: Pick<WalkerSettings, 'pathAware'>; env: Pick<EnvSettings, 'edgePolicy' | 'maxOut'> },
  walked: Graph,
): string | undefined {
  if (walker.pathAware) return undefined;
  const { edgePolicy, maxOut } = env;
  return configHash({ edgePolicy, maxOut, graph: walked.hash });
}

/**
 * How connected entities are in the graph that a data set's dialogues were cut from.
 * @returns int32 [numEntities]: edges of each entity in the graph `wide`, 0 for one that it lacks; undefined where the settings do not ask.
 * @throws WorkbenchError `config` for a data set without that graph
 */
export async function wideDegreesOf(
  dataset: DialogueDataset,
  { entityNames }: Graph,
  { pairFeatures }: WalkerSettings,
): Promise<Int32Array | undefined> {
  if (pairFeatures !== 'wide') return undefined;
  const { name, graphs } = dataset.manifest;
  if (!Object.hasOwn(graphs, 'wide')) {
    throw new WorkbenchError(
      'config',
      `expected a data set with the graph wide, got ${name}, which has ${Object.keys(graphs).join(', ')}, at walker.pairFeatures`,
      { hint: 'Set walker.pairFeatures=graph, or import again with opendialkg_triples_wide.txt in the folder.' },
    );
  }
  const wide = await dataset.loadGraph('wide');
  return Int32Array.from(entityNames, (entity) => wide.degree(wide.entityId(entity)));
}
