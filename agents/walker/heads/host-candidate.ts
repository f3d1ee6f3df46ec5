/**
 * Candidate head on SIMD kernels: the network of `candidate.ts` with the same parameter names, initial weights and shapes, so that
 * checkpoints fit both. Texts, entities and relations that a batch holds several times are computed once.
 */
import { Rng } from '../../../src/run/seeds.js';
import { type HostOutputs, HostParameters } from '../../../src/tensor/host/host-parameters.js';
import { Tape, type Taped } from '../../../src/tensor/host/tape.js';
import { type HostTensor, normalValues, uniformFanIn } from '../../../src/tensor/parameters.js';
import type { WalkerSettings } from '../settings.js';
import { distinctRows, renumbering } from './batch-rows.js';
import { candidateLayers } from './candidate.js';
import type { HeadShape, StateBatch, WalkerHead } from './head.js';

interface Tables {
  entities: Taped;
  relations: Taped;
  tailTerms: Taped;
  relationTerms: Taped;
}

/** Row of each state or edge in the tables. */
type Indexes = Pick<StateBatch, 'start' | 'current' | 'tails' | 'lastRelation' | 'previousPathRelation' | 'relations'>;

/** @throws WorkbenchError `native` without WebAssembly SIMD */
export function createHostCandidateHead(
  settings: WalkerSettings,
  shape: HeadShape,
  seed = 0,
): WalkerHead<HostParameters, HostOutputs> {
  const { tables, numRelations } = shape;
  const parameters = new HostParameters(initialWeights(settings, shape, seed));
  const [training, tabulating, inferring] = [true, false, false].map((records) => new Tape(parameters, records)) as [
    Tape,
    Tape,
    Tape,
  ];
  const entities = frozenTable(parameters.arena.hold(tables.entities), tables.entityDim);
  // Rows of zeros for Equal and for "none yet".
  const padded = parameters.arena.float32((numRelations + 2) * tables.relationDim);
  padded.set(tables.relations);
  const relations = frozenTable(padded, tables.relationDim);
  const allRelations = Int32Array.from({ length: numRelations + 2 }, (_, relation) => relation);
  const localEntities = renumbering(entities.rows);
  const localRelations = renumbering(numRelations + 2);
  let whole: Tables | undefined;

  const infer = (batch: StateBatch) => {
    if (!whole) {
      tabulating.begin();
      whole = tablesOf(tabulating, settings, entities, relations, allRelations);
    }
    inferring.begin();
    return Promise.resolve(scoresOf(inferring, settings, shape, batch, whole, batch).values.slice());
  };

  return {
    parameters,
    logits(batch, dropout) {
      training.begin();
      const entity = localEntities(batch.start, batch.current, batch.tails);
      const relation = localRelations(batch.lastRelation, batch.previousPathRelation, batch.relations);
      const [frozen, frozenRelations] = [training.rows(entities, entity.ids), training.rows(relations, relation.ids)];
      const local = tablesOf(training, settings, frozen, frozenRelations, relation.ids);
      const [start, current, tails] = entity.indices as [Int32Array, Int32Array, Int32Array];
      const [lastRelation, previousPathRelation, own] = relation.indices as [Int32Array, Int32Array, Int32Array];
      const indexes = { start, current, tails, lastRelation, previousPathRelation, relations: own };
      return training.outputs([scoresOf(training, settings, shape, batch, local, indexes, dropout)]);
    },
    infer,
    rank: infer,
    weightsChanged: () => (whole = undefined),
    dispose: () => parameters.dispose(),
  };
}

const frozenTable = (values: Float32Array, width: number): Taped => ({ rows: values.length / width, width, values });

function tablesOf(
  tape: Tape,
  { embeddingDim: d, hidden }: WalkerSettings,
  frozenEntities: Taped,
  frozenRelations: Taped,
  relationIds: Int32Array,
): Tables {
  const entities = tape.dense(frozenEntities, 'entity', d, 'entity.bias', 'tanh');
  const relations = tape.add(
    tape.product(frozenRelations, tape.parameter('relation', d)),
    tape.rows(tape.parameter('relation.residual', d), relationIds),
  );
  return {
    entities,
    relations,
    tailTerms: tape.product(entities, tape.parameter('edge.tail', hidden)),
    relationTerms: tape.product(relations, tape.parameter('edge.relation', hidden)),
  };
}

/** Scores of the edges of a batch: [edges, 1]. */
function scoresOf(
  tape: Tape,
  { width, embeddingDim: d, hidden, dropout: rate }: WalkerSettings,
  { contextDim, numScalars, numEdgeFeatures }: HeadShape,
  batch: StateBatch,
  { entities, relations, tailTerms, relationTerms }: Tables,
  indexes: Indexes,
  rng?: Rng,
): Taped {
  const relu = (x: Taped, name: string, units: number) => tape.dense(x, name, units, `${name}.bias`, 'relu');
  const drop = (x: Taped) => (rng && rate > 0 ? tape.multiply(x, dropoutMask(tape, x, rate, rng)) : x);
  let texts!: Float32Array;
  const { texts: count, textOf } = distinctRows(batch.context, contextDim, (length) => (texts = tape.buffer(length)));
  const context = relu({ rows: count, width: contextDim, values: texts }, 'context', width);
  const inputs = drop(
    tape.concat([
      tape.rows(context, textOf),
      tape.rows(entities, indexes.start),
      tape.rows(entities, indexes.current),
      tape.rows(relations, indexes.lastRelation),
      tape.rows(relations, indexes.previousPathRelation),
      tape.constant(batch.scalars, numScalars),
    ]),
  );
  const state = drop(relu(drop(relu(inputs, 'trunk.1', width)), 'trunk.2', width));
  const features = numEdgeFeatures > 0 ? tape.constant(batch.edgeFeatures, numEdgeFeatures) : undefined;
  const edges = tape.reluOfSums(
    [
      [tape.dense(state, 'edge.state', hidden), batch.stateOf],
      [relationTerms, indexes.relations],
      [tailTerms, indexes.tails],
    ],
    features && [features, tape.parameter('edge.features', hidden)],
  );
  const dotsWith = (name: string, table: Taped, rows: Int32Array) =>
    tape.dots(tape.product(state, tape.parameter(name, d)), batch.stateOf, table, rows, 1 / Math.sqrt(d));
  const terms = [
    dotsWith('state.tail', entities, indexes.tails),
    dotsWith('state.relation', relations, indexes.relations),
    tape.product(relu(edges, 'edge.hidden', hidden), tape.parameter('edge.out', 1)),
  ];
  if (features) terms.push(tape.product(features, tape.parameter('edge.linear', 1)));
  return terms.reduce((sum, term) => tape.add(sum, term));
}

/** Draws of the tensor network, in its order. */
function dropoutMask(tape: Tape, { rows, width, values: { length } }: Taped, rate: number, rng: Rng): Taped {
  const values = tape.buffer(length);
  for (let i = 0; i < length; i++) values[i] = rng.uniform() < 1 - rate ? 1 / (1 - rate) : 0;
  return { rows, width, values };
}

/** Initial weights of the tensor network. */
function initialWeights(settings: WalkerSettings, shape: HeadShape, seed: number): Record<string, HostTensor> {
  const { width, embeddingDim: d } = settings;
  const { contextDim, numRelations, numEdgeFeatures, tables } = shape;
  const weights: Record<string, HostTensor> = {};
  const layer = (name: string, rows: number, columns: number, biased = false) => {
    const data = uniformFanIn(Rng.named(seed, `walker/${name}`), rows, rows * columns);
    weights[name] = { shape: [rows, columns], data };
    if (biased) weights[`${name}.bias`] = { shape: [columns], data: new Float32Array(columns) };
  };
  layer('context', contextDim, width, true);
  layer('entity', tables.entityDim, d, true);
  layer('relation', tables.relationDim, d);
  const residual = normalValues(Rng.named(seed, 'walker/residual'), 0.02, (numRelations + 2) * d);
  weights['relation.residual'] = { shape: [numRelations + 2, d], data: residual };
  for (const one of candidateLayers(settings, shape)) layer(...one);
  if (numEdgeFeatures > 0) {
    weights['edge.linear'] = { shape: [numEdgeFeatures, 1], data: new Float32Array(numEdgeFeatures) };
  }
  return weights;
}
