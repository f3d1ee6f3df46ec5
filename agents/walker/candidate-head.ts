/**
 * The recommended head: a trunk over the dialogue and the walk so far meets each edge by two dot products (relation,
 * tail) and by a small MLP that also reads the edge's features.
 *
 *   x = trunk([relu(C·context) ; E[start] ; E[current] ; R[last] ; R[previous path] ; scalars])
 *   logit(r, t) = (Gt·x · E[t] + Gr·x · R[r]) / √d + w·relu(W2·relu(As·x + Ar·R[r] + At·E[t] + Af·f)) + v·f
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherRows, gatherSum, matMul, matMulConst, pairDot, readTensor, relu } from '../../src/tensor/ops.js';
import { normalValues, ParameterSet, uniformFanIn } from '../../src/tensor/parameters.js';
import { type HeadShape, type StateBatch, stateScalars, type WalkerHead } from './head.js';
import type { WalkerSettings } from './settings.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** Rows that depend on the weights alone, kept between inferences: [E | At·E] and [R | Ar·R]. */
interface RowTables {
  entities: Promise<Float32Array>;
  relations: Tensor2D;
}

/** Builds the recommended head. @param seed what its weights start from */
export function createCandidateHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed = 0): WalkerHead {
  const { embeddingDim: d, hidden } = settings;
  const { tables, numRelations, contextDim, numEdgeFeatures } = shape;
  const numEntities = tables.entities.length / tables.entityDim;
  const rowWidth = d + hidden;
  const parameters = initialise(tf, settings, shape, seed);
  const parameter = (name: string) => parameters.get(name) as unknown as Tensor2D;
  const localise = createLocalEntities(numEntities);
  const relationTexts = tf.keep(
    tf.tensor2d(padRelations(tables.relations, tables.relationDim), [numRelations + 2, tables.relationDim]),
  );
  let kept: RowTables | undefined;

  const dense = (input: Tensor2D, name: string) =>
    tf.add(matMul(tf, input, parameter(name)), parameter(`${name}.bias`)) as Tensor2D;
  const dropped = (input: Tensor2D, rng: Rng | undefined) => {
    if (!rng || settings.dropout === 0) return input;
    const keep = 1 - settings.dropout;
    const mask = new Float32Array(input.size);
    for (let i = 0; i < mask.length; i++) mask[i] = rng.uniform() < keep ? 1 / keep : 0;
    return tf.mul(input, tf.tensor2d(mask, input.shape)) as Tensor2D;
  };
  const entityRows = (statics: Tensor2D) => {
    const embedded = tf.tanh(
      tf.add(matMulConst(tf, statics, parameter('entity')), parameter('entity.bias')),
    ) as Tensor2D;
    return tf.concat([embedded, matMul(tf, embedded, parameter('edge.tail'))], 1);
  };
  const relationRows = () => {
    const embedded = tf.add(
      matMulConst(tf, relationTexts, parameter('relation')),
      parameter('relation.residual'),
    ) as Tensor2D;
    return tf.concat([embedded, matMul(tf, embedded, parameter('edge.relation'))], 1);
  };

  const score = (
    batch: StateBatch,
    rows: { entities: Tensor2D; relations: Tensor2D },
    local: ReturnType<typeof localise>,
    rng?: Rng,
  ) => {
    const columns = (table: Tensor2D, begin: number, size: number) =>
      tf.slice(table, [0, begin], [table.shape[0], size]);
    const entities = columns(rows.entities, 0, d);
    const relations = columns(rows.relations, 0, d);
    const context = relu(
      tf,
      tf.add(
        matMulConst(tf, tf.tensor2d(batch.context, [batch.numStates, contextDim]), parameter('context')),
        parameter('context.bias'),
      ),
    ) as Tensor2D;
    const inputs = tf.concat(
      [
        context,
        gatherRows(tf, entities, local.start),
        gatherRows(tf, entities, local.current),
        gatherRows(tf, relations, batch.lastRelation),
        gatherRows(tf, relations, batch.previousPathRelation),
        tf.tensor2d(batch.scalars, [batch.numStates, stateScalars.length]),
      ],
      1,
    );
    const first = dropped(relu(tf, dense(dropped(inputs, rng), 'trunk.1')), rng);
    const state = dropped(relu(tf, dense(first, 'trunk.2')), rng);

    const toTail = matMul(tf, state, parameter('state.tail'));
    const toRelation = matMul(tf, matMul(tf, state, parameter('state.relation')), tf.transpose(relations));
    const relationScores = pickScores(tf, toRelation, batch);
    const dots = tf.mul(
      tf.add(pairDot(tf, toTail, entities, batch.stateOf, local.tails), relationScores),
      1 / Math.sqrt(d),
    );

    const sums = gatherSum(
      tf,
      [dense(state, 'edge.state'), columns(rows.relations, d, hidden), columns(rows.entities, d, hidden)],
      [batch.stateOf, batch.relations, local.tails],
    );
    const features =
      numEdgeFeatures > 0 ? tf.tensor2d(batch.edgeFeatures, [batch.tails.length, numEdgeFeatures]) : undefined;
    const mixed = features ? (tf.add(sums, matMulConst(tf, features, parameter('edge.features'))) as Tensor2D) : sums;
    const second = relu(tf, dense(relu(tf, mixed), 'edge.hidden'));
    const byMlp = tf.reshape(matMul(tf, second, parameter('edge.out')), [-1]);
    const byFeatures = features ? tf.reshape(matMulConst(tf, features, parameter('edge.linear')), [-1]) : undefined;
    const logits = tf.add(dots, byMlp);
    return (byFeatures ? tf.add(logits, byFeatures) : logits) as Tensor1D;
  };

  const allEntityRows = async () => {
    const entities = new Float32Array(numEntities * rowWidth);
    const chunk = 16384;
    for (let begin = 0; begin < numEntities; begin += chunk) {
      const count = Math.min(chunk, numEntities - begin);
      const statics = tables.entities.subarray(begin * tables.entityDim, (begin + count) * tables.entityDim);
      const rows = await readTensor(tf, () => entityRows(tf.tensor2d(statics, [count, tables.entityDim])));
      entities.set(rows, begin * rowWidth);
    }
    return entities;
  };

  const weightsChanged = () => {
    kept?.relations.dispose();
    kept = undefined;
  };

  return {
    parameters,
    logits: (batch, dropout) => {
      const local = localise(batch);
      const statics = tf.tensor2d(hostRows(tables.entities, tables.entityDim, local.ids), [
        local.ids.length,
        tables.entityDim,
      ]);
      return score(batch, { entities: entityRows(statics), relations: relationRows() }, local, dropout);
    },
    infer: async (batch) => {
      kept ??= { relations: tf.tidy(() => tf.keep(relationRows())), entities: allEntityRows() };
      const { relations } = kept;
      const entities = await kept.entities;
      return readTensor(tf, () => {
        const local = localise(batch);
        const rows = tf.tensor2d(hostRows(entities, rowWidth, local.ids), [local.ids.length, rowWidth]);
        return score(batch, { entities: rows, relations }, local);
      });
    },
    weightsChanged,
    dispose: () => {
      weightsChanged();
      relationTexts.dispose();
      parameters.dispose();
    },
  };
}

/** Scores of each action's relation out of a [S, numRelations + 2] table of all of them. */
function pickScores(tf: Tf, scores: Tensor2D, batch: StateBatch): Tensor1D {
  const width = scores.shape[1];
  const flat = batch.stateOf.map((s, i) => s * width + batch.relations[i]!);
  return tf.reshape(gatherRows(tf, tf.reshape(scores, [-1, 1]), flat), [-1]);
}

/** Adds zero rows for Equal and for "none yet": what they mean is learned by the residual alone. */
function padRelations(relations: Float32Array, dim: number): Float32Array {
  const padded = new Float32Array(relations.length + 2 * dim);
  padded.set(relations);
  return padded;
}

function initialise(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed: number): ParameterSet {
  const { width, embeddingDim: d, hidden } = settings;
  const { tables, numRelations, contextDim, numEdgeFeatures } = shape;
  const parameters = new ParameterSet(tf);
  const layer = (name: string, fanIn: number, fanOut: number, bias: boolean) => {
    parameters.add(name, [fanIn, fanOut], uniformFanIn(Rng.named(seed, `walker/${name}`), fanIn, fanIn * fanOut));
    if (bias) parameters.add(`${name}.bias`, [fanOut], new Float32Array(fanOut));
  };
  layer('context', contextDim, width, true);
  layer('entity', tables.entityDim, d, true);
  layer('relation', tables.relationDim, d, false);
  parameters.add(
    'relation.residual',
    [numRelations + 2, d],
    normalValues(Rng.named(seed, 'walker/residual'), 0.02, (numRelations + 2) * d),
  );
  layer('trunk.1', width + 4 * d + stateScalars.length, width, true);
  layer('trunk.2', width, width, true);
  layer('state.tail', width, d, false);
  layer('state.relation', width, d, false);
  layer('edge.state', width, hidden, true);
  layer('edge.tail', d, hidden, false);
  layer('edge.relation', d, hidden, false);
  layer('edge.hidden', hidden, hidden, true);
  layer('edge.out', hidden, 1, false);
  if (numEdgeFeatures > 0) {
    layer('edge.features', numEdgeFeatures, hidden, false);
    parameters.add('edge.linear', [numEdgeFeatures, 1], new Float32Array(numEdgeFeatures));
  }
  return parameters;
}

/**
 * Renumbers the entities of a batch, so that only their rows enter the network: `ids` are the distinct ones, by first
 * appearance, the others places among them. Reused from batch to batch: O(actions), no clearing of the whole table.
 */
function createLocalEntities(numEntities: number) {
  const position = new Int32Array(numEntities);
  const seenIn = new Int32Array(numEntities);
  let generation = 0;
  return (batch: StateBatch) => {
    generation++;
    const ids = new Int32Array(batch.tails.length + 2 * batch.numStates);
    let count = 0;
    const renumber = (entities: Int32Array) =>
      entities.map((entity) => {
        if (seenIn[entity] !== generation) {
          seenIn[entity] = generation;
          position[entity] = count;
          ids[count++] = entity;
        }
        return position[entity]!;
      });
    const start = renumber(batch.start);
    const current = renumber(batch.current);
    const tails = renumber(batch.tails);
    return { ids: ids.slice(0, count), tails, start, current };
  };
}

/** Copies rows of a host table, float32 [ids.length, width]. */
function hostRows(table: Float32Array, width: number, ids: Int32Array): Float32Array {
  const rows = new Float32Array(ids.length * width);
  for (let i = 0; i < ids.length; i++) rows.set(table.subarray(ids[i]! * width, (ids[i]! + 1) * width), i * width);
  return rows;
}
