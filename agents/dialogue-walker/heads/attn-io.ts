/**
 * Attention flow over a graph: each state sends its mass along the out-edges of where it stands, by a softmax of each head of
 * attention, whose mean is the probability of an edge. `attn-io` is the same over entities that their in-edges have mixed.
 *
 *   h_v = G[v] + W_d·text        G = E here
 *   logit(r, t) = ln mean_heads softmax over out-edges of LeakyReLU(W_q·h_v · (W_k·h_t + W_k·R[r]) / √d)
 *
 * @source Jung, Son and Lyu 2020 (AttnIO), EMNLP; its ablation without in-flow
 */
import type { Tape, Taped } from '../../../src/nn/tape.js';
import type { WalkerSettings } from '../settings.js';
import { attentionHeads, ownersOf } from './attention.js';
import type { HeadShape } from './head.js';
import { inEdgesOf } from './inflow.js';
import type { EmbeddedNetwork, Scene, Starts } from './network.js';

/** The network without in-flow. */
export function attnFlowNetwork(settings: WalkerSettings, _: HeadShape, starts: Starts): EmbeddedNetwork {
  const { entities, relations, scores } = outflow(settings, starts);
  return { prepared: { entities, relations }, scores };
}

function outflow({ width, embeddingDim: d, attentionHeads: count }: WalkerSettings, starts: Starts) {
  const heads = attentionHeads(count, d);
  starts.add('outflow.text', width, d);
  starts.add('outflow.query', d, heads.width);
  starts.add('outflow.key', d, heads.width);
  return {
    entities: (tape: Tape, rows: Taped) => [tape.times(rows, 'outflow.query'), tape.times(rows, 'outflow.key')],
    relations: (tape: Tape, rows: Taped) => [tape.times(rows, 'outflow.key')],
    /** [N, 1]: ln of each edge's share; those of a state sum to 1. */
    scores({ tape, batch, text, local, dropped, entityTerms, relationTerms }: Scene): Taped {
      const said = tape.times(dropped(text), 'outflow.text');
      const queries = tape.sumOfRows([[entityTerms[0]!, local.current]], {
        base: [said, tape.parameter('outflow.query')],
      });
      const scores = heads.scores(
        tape,
        [queries, batch.stateOf],
        [
          [entityTerms[1]!, local.tails],
          [relationTerms[0]!, batch.relations],
          [tape.times(said, 'outflow.key'), batch.stateOf],
        ],
      );
      const shares = tape.segmentLogSoftmax(tape.activated('leaky', scores), batch.offsets, batch.logWeights);
      const ofMean = tape.constant(new Float32Array(shares.rows).fill(-Math.log(count)), 1);
      return tape.add(tape.logSumExp(shares), ofMean);
    },
  };
}

/**
 * The network with in-flow: entities are first mixed with the ends of edges into them, then mass flows out as in `attn-flow`.
 *
 *   α = softmax over edges j → i of LeakyReLU(V_q·E[i] · (V_k·E[j] + V_m·R[r]) / √d), by heads
 *   G[i] = W_h · [Σ α·(V_m·E[j] + V_m·R[r]) of each head, side by side]
 *
 * The dialogue does not enter G, as in the released code, where what is said is added afterwards: so G is one table of all
 * entities, made once for each state of the weights.
 * @source Jung, Son and Lyu 2020 (AttnIO), EMNLP; rajbsk/kg-cruse (its re-implementation)
 */
export function attnIoNetwork(settings: WalkerSettings, shape: HeadShape, starts: Starts): EmbeddedNetwork {
  const { embeddingDim: d, attentionHeads: count, inEdges } = settings;
  const heads = attentionHeads(count, d);
  const out = outflow(settings, starts);
  starts.add('inflow.query', d, heads.width);
  starts.add('inflow.key', d, heads.width);
  starts.add('inflow.message', d, heads.width);
  starts.add('inflow.out', heads.width, d);
  return {
    prepared: {
      entities: (tape, rows) => ['query', 'key', 'message'].map((name) => tape.times(rows, `inflow.${name}`)),
      relations: (tape, rows) => [...out.relations(tape, rows), tape.times(rows, 'inflow.message')],
    },
    inflow: {
      edgesInto: inEdgesOf(shape.rows, shape.numRelations, inEdges),
      rows(tape, { entityTerms, relationTerms }, { offsets, heads: ends, relations }) {
        const [queries, keys, messages] = entityTerms as [Taped, Taped, Taped];
        const relationMessages = relationTerms[1]!;
        const owners = ownersOf(offsets);
        const scores = heads.scores(
          tape,
          [queries, owners],
          [
            [keys, ends],
            [relationMessages, relations],
          ],
        );
        const shares = tape.segmentLogSoftmax(tape.activated('leaky', scores), offsets);
        const values = [[messages, ends] as const, [relationMessages, relations] as const];
        const mixed = heads.sums(tape, shares, owners, values, offsets.length - 1);
        return out.entities(tape, tape.times(mixed, 'inflow.out'));
      },
    },
    scores: out.scores,
  };
}
