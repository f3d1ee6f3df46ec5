/** States of walks as vectors: what was walked, where the walk stands, and what is asked. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from '../../src/tensor/backend.js';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import { createPathEncoder } from './path-encoder.js';
import { prefixesOf } from './prefixes.js';
import type { LinkRequest } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import type { LinkVectors } from './vectors.js';
import { gatherRows } from '../../src/tensor/ops.js';

type Tensor2D = tfTypes.Tensor2D;

/** Makes states. */
export interface StateNetwork {
  readonly dim: number;
  /** float32 [requests, dim] = [path ; current entity ; query relation], differentiable. */
  states(requests: readonly LinkRequest[]): Tensor2D;
}

/** What state vectors are made of. */
export interface StateNetworkOptions {
  settings: Pick<LinkWalkerSettings, 'pathEncoder' | 'pathDim'>;
  vectors: LinkVectors;
  numEntities: number;
  numRelations: number;
}

/** Adds the path encoder's weights to the parameters. @param seed of their start; zeros without it */
export function createStateNetwork(
  tf: Tf,
  parameters: ParameterSet,
  { settings, vectors, numEntities, numRelations }: StateNetworkOptions,
  seed?: number,
): StateNetwork {
  const { dim } = vectors;
  const encoder = createPathEncoder(tf, parameters, { ...settings, stepDim: 2 * dim }, seed);
  const sizes = { numEntities, noStep: numRelations + 1 };
  return {
    dim: encoder.dim + 2 * dim,
    states(requests) {
      const { levels, nodes } = prefixesOf(requests, sizes);
      const steps = levels.map(({ relations, entities }) =>
        tf.concat2d([vectors.relations(relations), vectors.entities(entities)], 1),
      );
      const paths = gatherRows(tf, encoder.encode(steps, levels), nodes);
      const current = vectors.entities(Int32Array.from(requests, (request) => request.current));
      const asked = vectors.relations(Int32Array.from(requests, ({ relation }) => relation));
      return tf.concat2d([paths, current, asked], 1);
    },
  };
}
