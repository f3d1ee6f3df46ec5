/**
 * What heads over embedded relations and tails share: the text's vector, the tables' rows of a batch, dropout, edge features,
 * and rows that are kept between inferences. A head adds its own network over them.
 *
 *   E[e] = tanh(A · frozen(e) + a)         R[r] = B · frozen(r) + residual(r)
 *   text = relu(C · context + c), or x = what a word encoder makes, or relu(C · context + D · x + c)
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { WalkTask } from '../../../datasets/walk-sample.js';
import { joined } from '../../../src/tensor/categorical.js';
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, matMul, matMulConst, readTensor, relu } from '../../../src/tensor/ops.js';
import { normalValues } from '../../../src/tensor/parameters.js';
import type { WalkerSettings } from '../settings.js';
import { createWordEncoder } from '../words/word-encoder.js';
import { hostRows, renumbering } from './batch-rows.js';
import type { HeadShape, StateBatch, WalkerHead } from './head.js';
import { allInflowRows } from './inflow.js';
import {
  allEntities,
  drawnAims,
  type Layers,
  layersOf,
  localEntities,
  type MakeNetwork,
  type Scene,
} from './network.js';

type Tensor = tfTypes.Tensor;
type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** Tables that a network reads; it has no weights for the others. */
export interface Reads {
  /** Default true; else rows have no width. */
  entities?: boolean;
  /** Default true; else rows are zeros. */
  relations?: boolean;
}

/** Builds a head around a network. @param seed what the weights start from @param reads what of the tables it reads */
export function createEmbeddedHead(
  tf: Tf,
  settings: WalkerSettings,
  shape: HeadShape,
  make: MakeNetwork,
  seed = 0,
  reads: Reads = {},
): WalkerHead {
  const { embeddingDim: d } = settings;
  const { entities: readsEntities = true, relations: readsRelations = true } = reads;
  const { tables, numRelations } = shape;
  const numEntities = tables.entities.length / tables.entityDim;
  const layers = layersOf(tf, seed);
  const { parameters, weight } = layers;
  const said = textOf(tf, settings, shape, layers, seed);
  if (readsEntities) layers.add('entity', tables.entityDim, d, true);
  if (readsRelations) {
    layers.add('relation', tables.relationDim, d);
    const residual = normalValues(Rng.named(seed, 'walker/residual'), 0.02, (numRelations + 2) * d);
    parameters.add('relation.residual', [numRelations + 2, d], residual);
  }
  const network = make(tf, settings, shape, layers, seed);
  const features = network.readsFeatures ? undefined : featureScores(tf, settings, shape, layers);
  const rowWidth = readsEntities ? d + (network.prepared?.width ?? 0) : 0;
  const localise = network.writes ? allEntities(numEntities) : localEntities(numEntities, network.others);
  const { inflow, writes } = network;
  const renumberFlow = inflow && renumbering(numEntities);
  const relationTexts = tf.keep(
    tf.tensor2d(padRelations(tables.relations, tables.relationDim), [numRelations + 2, tables.relationDim]),
  );
  let kept: { entities: Promise<Float32Array>; relations: Tensor2D } | undefined;

  const entityRows = (statics: Tensor2D) => {
    if (!readsEntities) return tf.zeros([statics.shape[0], 0]) as Tensor2D;
    const embedded = tf.tanh(tf.add(matMulConst(tf, statics, weight('entity')), weight('entity.bias'))) as Tensor2D;
    return network.prepared ? (tf.concat([embedded, network.prepared.entities(embedded)], 1) as Tensor2D) : embedded;
  };
  const relationRows = () => {
    if (!readsRelations) return tf.zeros<tfTypes.Rank.R2>([numRelations + 2, d]);
    const embedded = tf.add(
      matMulConst(tf, relationTexts, weight('relation')),
      weight('relation.residual'),
    ) as Tensor2D;
    return network.prepared ? (tf.concat([embedded, network.prepared.relations(embedded)], 1) as Tensor2D) : embedded;
  };
  const droppedBy = (rng: Rng | undefined) => (rows: Tensor2D) => {
    if (!rng || settings.dropout === 0) return rows;
    const keep = 1 - settings.dropout;
    const mask = new Float32Array(rows.size);
    for (let i = 0; i < mask.length; i++) mask[i] = rng.uniform() < keep ? 1 / keep : 0;
    return tf.mul(rows, tf.tensor2d(mask, rows.shape)) as Tensor2D;
  };
  type Rows = Pick<Scene, 'entities' | 'relations' | 'local'>;
  const sceneOf = (batch: StateBatch, rows: Rows, rng?: Rng, words = said.words?.(batch)): Scene => {
    return { batch, text: said.text(batch, words), ...rows, dropped: droppedBy(rng) };
  };
  const scoreOf = (scene: Scene) => {
    const logits = network.scores(scene);
    return features ? (tf.add(logits, features(scene.batch)) as Tensor1D) : logits;
  };
  const score = (batch: StateBatch, rows: Rows, rng?: Rng) => scoreOf(sceneOf(batch, rows, rng));

  const rowsOf = (ids: Int32Array) =>
    entityRows(tf.tensor2d(hostRows(tables.entities, tables.entityDim, ids), [ids.length, tables.entityDim]));
  const allEntityRows = async (relations: Tensor2D) => {
    if (rowWidth === 0) return new Float32Array(0);
    const entities = new Float32Array(numEntities * rowWidth);
    const chunk = 16384;
    for (let begin = 0; begin < numEntities; begin += chunk) {
      const count = Math.min(chunk, numEntities - begin);
      const statics = tables.entities.subarray(begin * tables.entityDim, (begin + count) * tables.entityDim);
      const rows = await readTensor(tf, () => entityRows(tf.tensor2d(statics, [count, tables.entityDim])));
      entities.set(rows, begin * rowWidth);
    }
    return inflow ? allInflowRows(tf, inflow, { values: entities, width: rowWidth }, relations) : entities;
  };
  let heard = new WeakMap<WalkTask, Float32Array>();
  /** float32 [dialogues, width]: what words make, read once a task until weights change. */
  const wordsOnce = async (batch: StateBatch) => {
    const { tasks } = batch.words!;
    const known = heard;
    if (!tasks.every((task) => known.has(task))) {
      const read = await readTensor(tf, () => said.words!(batch));
      tasks.forEach((task, i) => known.set(task, read.slice(i * settings.width, (i + 1) * settings.width)));
    }
    return joined(tasks.map((task) => known.get(task)!));
  };
  const infer = async (batch: StateBatch, words?: Float32Array, outputsOf: (scene: Scene) => Tensor = scoreOf) => {
    if (!kept) {
      const rows = tf.tidy(() => tf.keep(relationRows()));
      kept = { relations: rows, entities: allEntityRows(rows) };
    }
    const { relations } = kept;
    const all = await kept.entities;
    const width = inflow?.width ?? rowWidth;
    return readTensor(tf, () => {
      const local = localise(batch);
      const entities = tf.tensor2d(hostRows(all, width, local.ids), [local.ids.length, width]);
      const read = words && tf.tensor2d(words, [words.length / settings.width, settings.width]);
      return outputsOf(sceneOf(batch, { entities, relations, local }, undefined, read));
    });
  };
  const ranked = async (batch: StateBatch, outputsOf?: (scene: Scene) => Tensor) =>
    infer(batch, said.words && (await wordsOnce(batch)), outputsOf);
  const weightsChanged = () => {
    kept?.relations.dispose();
    kept = undefined;
    heard = new WeakMap();
  };

  return {
    parameters,
    logits: (batch, dropout) => {
      const local = localise(batch);
      const relations = relationRows();
      if (!inflow) return score(batch, { entities: rowsOf(local.ids), relations, local }, dropout);
      const into = inflow.edgesInto(local.ids, dropout);
      const { ids, places } = renumberFlow!(local.ids, into.heads);
      const entities = inflow.rows(rowsOf(ids), relations, { ...into, heads: places[1]! });
      return score(batch, { entities, relations, local }, dropout);
    },
    marginLosses:
      network.margins &&
      ((batch, golds, drawing, dropout) => {
        const { entities, ...aims } = drawnAims(golds, shape, drawing);
        const local = localise(batch, entities);
        const rows = { entities: rowsOf(local.ids), relations: relationRows(), local };
        return network.margins!(sceneOf(batch, rows, dropout), aims);
      }),
    infer: (batch) => infer(batch),
    rank: said.words && ((batch) => ranked(batch)),
    writer: writes && {
      relations: (batch) => ranked(batch, writes.relations),
      tails: (batch, pairs) => ranked(batch, (scene) => writes.tails(scene, pairs)),
    },
    weightsChanged,
    dispose: () => {
      weightsChanged();
      relationTexts.dispose();
      parameters.dispose();
    },
  };
}

interface Said {
  /** Encoding of its words: float32 [dialogues, width]; absent where none are read. */
  words?: (batch: StateBatch) => Tensor2D;
  /** float32 [S, width]. @param words what `words` makes of the batch */
  text: (batch: StateBatch, words?: Tensor2D) => Tensor2D;
}

function textOf(
  tf: Tf,
  { text, width }: WalkerSettings,
  { contextDim, numWords, tables }: HeadShape,
  layers: Layers,
  seed: number,
): Said {
  const frozen = text !== 'words';
  if (frozen) layers.add('context', contextDim, width, true);
  const encoder =
    text === 'frozen' ? undefined : createWordEncoder(tf, layers, { numWords, starts: tables, width, seed });
  if (frozen && encoder) layers.add('context.words', width, width);
  return {
    words: encoder,
    text(batch, byDialogue) {
      const words = byDialogue && gatherRows(tf, byDialogue, batch.words!.dialogueOf);
      if (!frozen) return words!;
      const context = tf.tensor2d(batch.context, [batch.numStates, contextDim]);
      const byVectors = tf.add(matMulConst(tf, context, layers.weight('context')), layers.weight('context.bias'));
      const byWords = words && matMul(tf, words, layers.weight('context.words'));
      return relu(tf, (byWords ? tf.add(byVectors, byWords) : byVectors) as Tensor2D);
    },
  };
}

/** Term of edge features in each logit: w · relu(W f + b) + v · f. Absent where none are read. */
function featureScores(tf: Tf, { hidden }: WalkerSettings, { numEdgeFeatures }: HeadShape, layers: Layers) {
  if (numEdgeFeatures === 0) return undefined;
  const { parameters, weight } = layers;
  layers.add('features.hidden', numEdgeFeatures, hidden, true);
  layers.add('features.out', hidden, 1);
  parameters.add('features.linear', [numEdgeFeatures, 1], new Float32Array(numEdgeFeatures));
  return (batch: StateBatch) => {
    const features = tf.tensor2d(batch.edgeFeatures, [batch.tails.length, numEdgeFeatures]);
    const inner = tf.add(matMulConst(tf, features, weight('features.hidden')), weight('features.hidden.bias'));
    const byLayer = matMul(tf, relu(tf, inner) as Tensor2D, weight('features.out'));
    return tf.reshape(tf.add(byLayer, matMulConst(tf, features, weight('features.linear'))), [-1]) as Tensor1D;
  };
}

/** Adds zero rows for Equal and for "none yet": what they mean is learned by the residual alone. */
function padRelations(relations: Float32Array, dim: number): Float32Array {
  const padded = new Float32Array(relations.length + 2 * dim);
  padded.set(relations);
  return padded;
}
