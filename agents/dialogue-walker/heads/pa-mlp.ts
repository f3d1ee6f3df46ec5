/**
 * The plain head of LLM-ARK: g = W3·tanh(W2·tanh(W1·s)) over states, of which an edge scorer makes logits:
 * logit(r, t) = g · [R[r] ; E[t]], or one a place.
 * @source LLM-ARK (Huang 2024), section 3.3; no biases, orthogonal starts with gain 1 and 0.01
 */
import { roundedToBfloat16 } from '../../../src/nn/bfloat16.js';
import type { Activation, Executor, Numbers, Rows, Scope } from '../../../src/nn/executor.js';
import { type HostTensor, orthogonalValues, Parameters } from '../../../src/nn/parameters.js';
import { type Places, Tape, type Taped } from '../../../src/nn/tape.js';
import { Rng } from '../../../src/run/seeds.js';
import { heldRows } from './batch-rows.js';
import { type Edges, type EdgeScorer, edgeScorerOf, vectorIds } from './edge-scorers.js';
import { createStateRows, type HeadShape, type StateBatch, type WalkerHead } from './head.js';
import type { WalkerSettings } from '../settings.js';

/** Edges that go through the network at once: each is one number, so that what grows is the states. */
export const edgesAtOnce = 2 ** 20;

/** Builds the plain head. @param seed what its weights start from; absent where others are imported into it */
export function createPaMlpHead(
  executor: Executor,
  settings: WalkerSettings,
  shape: HeadShape,
  seed?: number,
): WalkerHead {
  const { width, precision } = settings;
  const rows = createStateRows(settings, shape, true);
  const round = roundingOf(precision);
  const tables = paddedTables(shape, precision);
  const scorer = edgeScorerOf(settings, { ...shape, tables }, round, seed);
  const parameters = new Parameters(executor, paMlpStarts({ stateDim: rows.dim, width, scorer }, seed));
  const [training, inferring] = [new Tape(parameters), new Tape(parameters, false)];
  const logits = (tape: Tape, states: Taped, edges: Edges) =>
    tape.outputs([paMlpLogits(tape, states, scorer, edges, precision)]);
  const outputs = (tape: Tape, batch: StateBatch) => {
    tape.begin();
    return logits(tape, tape.constant(rows.of(batch), rows.dim), batch);
  };
  const held = executor.scope();
  return {
    parameters,
    precision,
    maxScoresPerBatch: edgesAtOnce,
    logits: (batch) => outputs(training, batch),
    ...(executor.queue &&
      settings.pathAware && {
        hold: (batch) => {
          held.begin();
          const all = heldRows(held, rows.of(batch), rows.dim);
          const edges = heldEdges(held, batch);
          return (states) => {
            training.begin();
            const { offsets, ...picked } = edges.of(training, states);
            return { offsets, logits: () => logits(training, training.rows(all, states), picked) };
          };
        },
      }),
    infer: (batch) => outputs(inferring, batch).read(),
    weightsChanged: () => {},
    dispose: () => parameters.dispose(),
  };
}

/** Edges of states that stay where the network is computed. @returns makes those of some of the states */
export function heldEdges(
  scope: Scope<Numbers, Rows>,
  { offsets, relations, tails }: Omit<Edges, 'stateOf'> & { offsets: Int32Array },
) {
  const columns = vectorIds({ relations, tails }).map((ids) => scope.rows(ids as Int32Array));
  return {
    of(tape: Tape, states: Int32Array) {
      const picked = tape.executor.queue!.pick({ offsets, columns }, states, tape.scope);
      const [ofRelations, ofTails] = picked.columns as [Places, Places];
      return { offsets: picked.offsets, stateOf: picked.segmentOf as Places, relations: ofRelations, tails: ofTails };
    },
  };
}

/** Frozen vectors; staying and "none yet" have none: zero, so that only the tail speaks for them. */
function paddedTables({ tables, numRelations }: HeadShape, precision: WalkerSettings['precision']) {
  const relations = new Float32Array((numRelations + 2) * tables.relationDim);
  relations.set(tables.relations);
  if (precision === 'f32') return { ...tables, relations };
  return { ...tables, entities: roundedToBfloat16(tables.entities), relations: roundedToBfloat16(relations) };
}

/** Rounding of each matrix of a forward pass: none for f32. */
export const roundingOf =
  (precision: 'f32' | 'bf16') =>
  (tape: Tape, x: Taped): Taped =>
    precision === 'bf16' ? tape.bfloat16(x) : x;

/** Layers without biases or, where there are any, with them: act(x · NAME + bias), each matrix rounded for bf16. */
export function layerOf(tape: Tape, precision: WalkerSettings['precision']) {
  const round = roundingOf(precision);
  return (x: Taped, name: string, act?: Activation): Taped => {
    const bias = `${name}.bias`;
    if (precision === 'f32') return tape.has(bias) ? tape.layer(x, name, act) : tape.times(x, name, act);
    const product = tape.product(x, round(tape, tape.parameter(name)));
    const sum = round(tape, tape.has(bias) ? tape.biased(product, round(tape, tape.parameter(bias))) : product);
    return act ? round(tape, tape.activated(act, sum)) : sum;
  };
}

/** Initial values. @param seed of an orthogonal start, which takes a second or so; zeros without it, for weights to be imported */
export function paMlpStarts(
  { stateDim, width, scorer }: { stateDim: number; width: number; scorer: EdgeScorer },
  seed?: number,
): Record<string, HostTensor> {
  const layer = (name: string, rows: number, columns: number, gain: number): [string, HostTensor] => {
    const data =
      seed === undefined
        ? new Float32Array(rows * columns)
        : orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain);
    return [name, { shape: [rows, columns], data }];
  };
  return Object.fromEntries([
    layer('pa.1', stateDim, width, 1),
    layer('pa.2', width, width, 1),
    ...Object.entries(scorer.initialValues),
    layer(scorer.layer.name, width, scorer.layer.width, 0.01),
  ]);
}

/** Logits of edges: [N, 1]. @param states [S, stateDim]; with bf16 rounded already, as `createStateRows` makes them */
export function paMlpLogits(
  tape: Tape,
  states: Taped,
  scorer: EdgeScorer,
  edges: Edges,
  precision: WalkerSettings['precision'] = 'f32',
): Taped {
  const layer = layerOf(tape, precision);
  const outputs = layer(layer(layer(states, 'pa.1', 'tanh'), 'pa.2', 'tanh'), scorer.layer.name);
  return roundingOf(precision)(tape, scorer.logits(tape, outputs, edges));
}
