/**
 * The rows that the plain head and the critic read of a batch: the text vector of each state, what tells the step, and
 * where the walk is.
 */
import { roundedToBfloat16 } from '../../src/tensor/ops.js';
import type { HeadShape } from './head.js';
import type { WalkerSettings } from './settings.js';
import { stateScalars, type StateBatch } from './state-batch.js';

/** Makes rows of one width from batches. */
export interface StateRows {
  readonly dim: number;
  /** float32 [numStates, dim]. */
  of(batch: StateBatch): Float32Array;
}

/** What of a network's shape the rows go by. */
export type StateRowShape = Pick<HeadShape, 'contextDim' | 'horizon' | 'tables'>;

/**
 * One row is [text vector ; start ; current ; relations ; scalars ; one-hot of the step], of which all but the text vector
 * are there by the settings.
 * @param withRelations whether the relation walked last and that of the path before are among the vectors of the place
 */
export function createStateRows(
  settings: WalkerSettings,
  { contextDim, horizon, tables }: StateRowShape,
  withRelations: boolean,
): StateRows {
  const { entities, entityDim, relations, relationDim } = tables;
  const placeDim = settings.placeVectors
    ? 2 * entityDim + (withRelations ? 2 * relationDim : 0) + stateScalars.length
    : 0;
  const oneHot = settings.stepEncoding === 'concat' ? horizon : 0;
  const dim = contextDim + placeDim + oneHot;
  const positions =
    settings.stepEncoding === 'additive-sin'
      ? Array.from({ length: horizon }, (_, step) => stepVector(step, contextDim))
      : undefined;

  const writeText = (text: Float32Array, step: number) => {
    if (settings.stateNorm === 'layer') normalize(text);
    const position = positions?.[step];
    if (position) for (let i = 0; i < contextDim; i++) text[i]! += position[i]!;
  };
  const writePlace = (batch: StateBatch, s: number, rows: Float32Array, begin: number) => {
    let at = begin;
    const write = (table: Float32Array, row: number, width: number) => {
      // Staying and "none yet" are beyond the table: zero, so that only the tail speaks for them.
      rows.set(table.subarray(row * width, (row + 1) * width), at);
      at += width;
    };
    write(entities, batch.start[s]!, entityDim);
    write(entities, batch.current[s]!, entityDim);
    if (withRelations) {
      write(relations, batch.lastRelation[s]!, relationDim);
      write(relations, batch.previousPathRelation[s]!, relationDim);
    }
    write(batch.scalars, s, stateScalars.length);
  };

  return {
    dim,
    of(batch) {
      const rows = new Float32Array(batch.numStates * dim);
      for (let s = 0; s < batch.numStates; s++) {
        const at = s * dim;
        const step = batch.scalars[s * stateScalars.length + hop]!;
        const text = rows.subarray(at, at + contextDim);
        text.set(batch.context.subarray(s * contextDim, (s + 1) * contextDim));
        writeText(text, step);
        if (settings.placeVectors) writePlace(batch, s, rows, at + contextDim);
        if (oneHot > 0) rows[at + contextDim + placeDim + step] = 1;
      }
      return settings.precision === 'bf16' ? roundedToBfloat16(rows) : rows;
    },
  };
}

const hop = stateScalars.indexOf('hop');

/**
 * sin and cos of the step at falling frequencies, side by side; zeros at the first step.
 * @source Vaswani et al. 2017, section 3.5; the zeros are of LLM-ARK's code
 */
function stepVector(step: number, dim: number): Float32Array {
  if (step === 0) return new Float32Array(dim);
  return Float32Array.from({ length: dim }, (_, i) => {
    const angle = step / 10_000 ** ((i - (i % 2)) / dim);
    return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

/** To mean 0 and variance 1, in place. @source Ba et al. 2016, arXiv:1607.06450, without gain and bias */
function normalize(values: Float32Array): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  for (let i = 0; i < values.length; i++) values[i] = (values[i]! - mean) * scale;
}
