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
  type EmbeddedNetwork,
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
  const { parameters } = layers;
  const said = textOf(tf, settings, shape, layers, seed);
  if (readsEntities) layers.add('entity', tables.entityDim, d, true);
  if (readsRelations) {
    layers.add('relation', tables.relationDim, d);
    const residual = normalValues(Rng.named(seed, 'walker/residual'), 0.02, (numRelations + 2) * d);
    parameters.add('relation.residual', [numRelations + 2, d], residual);
  }
  const network = make(tf, settings, shape, layers, seed);
  const features = network.readsFeatures ? undefined : featureScores(tf, settings, shape, layers);
  const localise = network.writes ? allEntities(numEntities) : localEntities(numEntities, network.others);
  const { inflow, writes } = network;
  const renumberFlow = inflow && renumbering(numEntities);
  const rows = embeddedRows(tf, d, shape, layers, network, reads);
  let kept: { entities: Promise<Float32Array>; relations: Tensor2D } | undefined;

  type Rows = Pick<Scene, 'entities' | 'relations' | 'local'>;
  const sceneOf = (batch: StateBatch, rows: Rows, rng?: Rng, words = said.words?.(batch)): Scene => {
    return { batch, text: said.text(batch, words), ...rows, dropped: dropping(tf, settings.dropout, rng) };
  };
  const scoreOf = (scene: Scene) => {
    const logits = network.scores(scene);
    return features ? (tf.add(logits, features(scene.batch)) as Tensor1D) : logits;
  };
  const score = (batch: StateBatch, rows: Rows, rng?: Rng) => scoreOf(sceneOf(batch, rows, rng));

  const heard = said.words && readOnce(tf, settings.width, said.words);
  const infer = async (batch: StateBatch, words?: Float32Array, outputsOf: (scene: Scene) => Tensor = scoreOf) => {
    if (!kept) {
      const relations = tf.tidy(() => tf.keep(rows.relations()));
      kept = { relations, entities: rows.allEntities(relations) };
    }
    const { relations } = kept;
    const all = await kept.entities;
    const { width } = rows;
    return readTensor(tf, () => {
      const local = localise(batch);
      const entities = tf.tensor2d(hostRows(all, width, local.ids), [local.ids.length, width]);
      const read = words && tf.tensor2d(words, [words.length / settings.width, settings.width]);
      return outputsOf(sceneOf(batch, { entities, relations, local }, undefined, read));
    });
  };
  const ranked = async (batch: StateBatch, outputsOf?: (scene: Scene) => Tensor) =>
    infer(batch, await heard?.of(batch), outputsOf);
  const weightsChanged = () => {
    kept?.relations.dispose();
    kept = undefined;
    heard?.forget();
  };

  return {
    parameters,
    logits: (batch, dropout) => {
      const local = localise(batch);
      const relations = rows.relations();
      if (!inflow) return score(batch, { entities: rows.entities(local.ids), relations, local }, dropout);
      const into = inflow.edgesInto(local.ids, dropout);
      const { ids, indices } = renumberFlow!(local.ids, into.heads);
      const entities = inflow.rows(rows.entities(ids), relations, { ...into, heads: indices[1]! });
      return score(batch, { entities, relations, local }, dropout);
    },
    marginLosses:
      network.margins &&
      ((batch, golds, drawing, dropout) => {
        const { entities, ...aims } = drawnAims(golds, shape, drawing);
        const local = localise(batch, entities);
        const own = { entities: rows.entities(local.ids), relations: rows.relations(), local };
        return network.margins!(sceneOf(batch, own, dropout), aims);
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
      rows.dispose();
      parameters.dispose();
    },
  };
}

/** Rows of the tables, embedded; those of no width or zeros that the network does not read. */
function embeddedRows(
  tf: Tf,
  d: number,
  { tables, numRelations }: HeadShape,
  { weight }: Layers,
  { prepared, inflow }: EmbeddedNetwork,
  { entities: readsEntities = true, relations: readsRelations = true }: Reads,
) {
  const { entityDim, relationDim } = tables;
  const ownWidth = readsEntities ? d + (prepared?.width ?? 0) : 0;
  const texts = tf.keep(tf.tensor2d(padRelations(tables.relations, relationDim), [numRelations + 2, relationDim]));
  const withPrepared = (embedded: Tensor2D, by: ((rows: Tensor2D) => Tensor2D) | undefined) =>
    by ? (tf.concat([embedded, by(embedded)], 1) as Tensor2D) : embedded;
  const entities = (statics: Float32Array, count: number) => {
    if (!readsEntities) return tf.zeros<tfTypes.Rank.R2>([count, 0]);
    const product = matMulConst(tf, tf.tensor2d(statics, [count, entityDim]), weight('entity'));
    return withPrepared(tf.tanh(tf.add(product, weight('entity.bias'))) as Tensor2D, prepared?.entities);
  };
  return {
    width: inflow?.width ?? ownWidth,
    entities: (ids: Int32Array) => entities(hostRows(tables.entities, entityDim, ids), ids.length),
    relations: () => {
      if (!readsRelations) return tf.zeros<tfTypes.Rank.R2>([numRelations + 2, d]);
      const embedded = tf.add(matMulConst(tf, texts, weight('relation')), weight('relation.residual')) as Tensor2D;
      return withPrepared(embedded, prepared?.relations);
    },
    /** float32 [numEntities, width] */
    async allEntities(relations: Tensor2D): Promise<Float32Array> {
      if (ownWidth === 0) return new Float32Array(0);
      const numEntities = tables.entities.length / entityDim;
      const all = new Float32Array(numEntities * ownWidth);
      const chunk = 16384;
      for (let begin = 0; begin < numEntities; begin += chunk) {
        const count = Math.min(chunk, numEntities - begin);
        const statics = tables.entities.subarray(begin * entityDim, (begin + count) * entityDim);
        all.set(await readTensor(tf, () => entities(statics, count)), begin * ownWidth);
      }
      return inflow ? allInflowRows(tf, inflow, { values: all, width: ownWidth }, relations) : all;
    },
    dispose: () => texts.dispose(),
  };
}

/** float32 [dialogues, width]: words of dialogues, read once a task until they are forgotten. */
function readOnce(tf: Tf, width: number, words: (batch: StateBatch) => Tensor2D) {
  let heard = new WeakMap<WalkTask, Float32Array>();
  return {
    async of(batch: StateBatch): Promise<Float32Array> {
      const { tasks } = batch.words!;
      const known = heard;
      if (!tasks.every((task) => known.has(task))) {
        const read = await readTensor(tf, () => words(batch));
        tasks.forEach((task, i) => known.set(task, read.slice(i * width, (i + 1) * width)));
      }
      return joined(tasks.map((task) => known.get(task)!));
    },
    forget: () => (heard = new WeakMap()),
  };
}

/** Drops units by a generator, none without. */
const dropping = (tf: Tf, rate: number, rng: Rng | undefined) => (rows: Tensor2D) => {
  if (!rng || rate === 0) return rows;
  const keep = 1 - rate;
  const mask = new Float32Array(rows.size);
  for (let i = 0; i < mask.length; i++) mask[i] = rng.uniform() < keep ? 1 / keep : 0;
  return tf.mul(rows, tf.tensor2d(mask, rows.shape)) as Tensor2D;
};

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
