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
  /** float32 [requests, dim] = [path ; query relation ; current entity, where entities have vectors], differentiable. */
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
  const encoder = createPathEncoder(tf, parameters, { ...settings, stepDim: vectors.edgeDim }, seed);
  const sizes = { numEntities, noStep: numRelations + 1 };
  const sideBySide = (parts: Tensor2D[]) => (parts.length === 1 ? parts[0]! : tf.concat(parts, 1));
  return {
    dim: encoder.dim + vectors.edgeDim,
    states(requests) {
      const { levels, nodes } = prefixesOf(requests, sizes);
      const both = (relations: Int32Array, entities: Int32Array) =>
        vectors.entities ? [vectors.relations(relations), vectors.entities(entities)] : [vectors.relations(relations)];
      const steps = levels.map(({ relations, entities }) => sideBySide(both(relations, entities)));
      const asked = Int32Array.from(requests, ({ relation }) => relation);
      const current = Int32Array.from(requests, (request) => request.current);
      return sideBySide([gatherRows(tf, encoder.encode(steps, levels), nodes), ...both(asked, current)]);
    },
  };
}
