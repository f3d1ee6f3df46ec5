/**
 * The recommended head: a trunk over the dialogue and the walk so far meets each edge by two dot products (relation,
 * tail) and by a small MLP that also reads the edge's features.
 *
 *   x = trunk([text ; E[start] ; E[current] ; R[last] ; R[previous path] ; scalars])
 *   logit(r, t) = (Gt·x · E[t] + Gr·x · R[r]) / √d + w·relu(W2·relu(As·x + Ar·R[r] + At·E[t] + Af·f)) + v·f
 */
import type { WalkerSettings } from '../settings.js';
import { featureRows } from './batch-rows.js';
import type { HeadShape } from './head.js';
import type { EmbeddedNetwork, Starts } from './network.js';

export function candidateNetwork(
  { width, embeddingDim: d, hidden }: WalkerSettings,
  { numScalars, numEdgeFeatures }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  starts.add('trunk.1', width + 4 * d + numScalars, width, true);
  starts.add('trunk.2', width, width, true);
  starts.add('state.tail', width, d);
  starts.add('state.relation', width, d);
  starts.add('edge.state', width, hidden, true);
  starts.add('edge.tail', d, hidden);
  starts.add('edge.relation', d, hidden);
  starts.add('edge.hidden', hidden, hidden, true);
  starts.add('edge.out', hidden, 1);
  if (numEdgeFeatures > 0) {
    starts.add('edge.features', numEdgeFeatures, hidden);
    starts.set('edge.linear', [numEdgeFeatures, 1], new Float32Array(numEdgeFeatures));
  }
  return {
    readsFeatures: true,
    prepared: {
      entities: (tape, rows) => [tape.times(rows, 'edge.tail')],
      relations: (tape, rows) => [tape.times(rows, 'edge.relation')],
    },
    localRelations: true,
    scores({ tape, batch, text, entities, relations, local, dropped, ...rows }) {
      const inputs = tape.concat([
        text,
        tape.rows(entities, local.start),
        tape.rows(entities, local.current),
        tape.rows(relations, batch.lastRelation),
        tape.rows(relations, batch.previousPathRelation),
        tape.constant(batch.scalars, numScalars),
      ]);
      const first = dropped(tape.layer(dropped(inputs), 'trunk.1', 'relu'));
      const state = dropped(tape.layer(first, 'trunk.2', 'relu'));
      const features = numEdgeFeatures > 0 ? featureRows(tape, batch, numEdgeFeatures) : undefined;
      const edges = tape.sumOfRows(
        [
          [tape.layer(state, 'edge.state'), batch.stateOf],
          [rows.relationTerms[0]!, batch.relations],
          [rows.entityTerms[0]!, local.tails],
        ],
        { base: features && [features, tape.parameter('edge.features')], act: 'relu' },
      );
      const scale = 1 / Math.sqrt(d);
      const terms = [
        tape.dots(tape.times(state, 'state.tail'), batch.stateOf, entities, local.tails, scale),
        tape.dots(tape.times(state, 'state.relation'), batch.stateOf, relations, batch.relations, scale),
        tape.times(tape.layer(edges, 'edge.hidden', 'relu'), 'edge.out'),
        ...(features ? [tape.times(features, 'edge.linear')] : []),
      ];
      return terms.reduce((sum, term) => tape.add(sum, term));
    },
  };
}
