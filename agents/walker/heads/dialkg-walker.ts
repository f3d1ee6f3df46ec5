/**
 * DialKG Walker: a decoder that mixes a relation out of all there are and steps on; an edge is scored by the decoder's state
 * with its tail and by the mixed relation with its own. The state follows from the dialogue alone: what was walked decides
 * which edges there are, not how they are scored.
 *
 *   x = W [text ; E[start]] + w        a_t = σ(A h_{t−1} + B x)        r_t = Σ_k a_t[k] R[k]        z_t = h_{t−1} + r_t
 *   i_t = σ(u·h_{t−1} + u'·c_{t−1})    c_t = (1 − i_t) c_{t−1} + i_t tanh(C z_t + D h_{t−1})
 *   o_t = σ(o·z_t + o'·h_{t−1} + o"·c_t)                               h_t = o_t tanh(c_t)
 *   logit(r, n) = h_t · E[n] + r_t · R[r] (+ λ F x · E[n] at the last step)
 *   by margins: ℓ(h_t, E[v_t]) + ℓ(r_t, R[r_t]) (+ ℓ(F x, E[v_T]) at the last step)
 *
 * The last step is that of the horizon. With two steps every walk comes to it, since a walk of one edge stays there; with three
 * or more a walk that stays earlier ends before it, and the relevance of its end entity is not counted.
 *
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, matMul } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';
import {
  type EmbeddedNetwork,
  goldTails,
  type Layers,
  marginLoss,
  pickRelations,
  rowsOfHop,
  type Scene,
} from './network.js';

type Tensor2D = tfTypes.Tensor2D;

export function dialkgNetwork(
  tf: Tf,
  { width, embeddingDim: d, zeroShot }: WalkerSettings,
  { horizon, numRelations }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  // Staying is a separate relation.
  const mixed = numRelations + 1;
  layers.add('dialkg.context', width + d, d, true);
  layers.add('dialkg.mix.context', d, mixed);
  layers.add('dialkg.mix.state', d, mixed);
  layers.add('dialkg.in.state', d, 1);
  layers.add('dialkg.in.memory', d, 1);
  layers.add('dialkg.memory.input', d, d);
  layers.add('dialkg.memory.state', d, d);
  layers.add('dialkg.out.input', d, 1);
  layers.add('dialkg.out.state', d, 1);
  layers.add('dialkg.out.memory', d, 1);
  if (zeroShot > 0) layers.add('dialkg.zero-shot', d, d);
  const by = (rows: Tensor2D, name: string) => matMul(tf, rows, layers.weight(`dialkg.${name}`));
  const sigmoidOf = (...terms: Tensor2D[]) => tf.sigmoid(terms.reduce((sum, term) => tf.add(sum, term)));

  const walk = (context: Tensor2D, all: Tensor2D) => {
    const hops: { state: Tensor2D; relation: Tensor2D }[] = [];
    const wanted = by(context, 'mix.context');
    let state: Tensor2D = tf.zeros([context.shape[0], d]);
    let memory = state;
    for (let hop = 0; hop < horizon; hop++) {
      const relation = matMul(tf, sigmoidOf(wanted, by(state, 'mix.state')), all);
      const input = tf.add(state, relation) as Tensor2D;
      const taken = sigmoidOf(by(state, 'in.state'), by(memory, 'in.memory'));
      const next = tf.tanh(tf.add(by(input, 'memory.input'), by(state, 'memory.state')));
      memory = tf.add(memory, tf.mul(taken, tf.sub(next, memory))) as Tensor2D;
      const shown = sigmoidOf(by(input, 'out.input'), by(state, 'out.state'), by(memory, 'out.memory'));
      state = tf.mul(shown, tf.tanh(memory)) as Tensor2D;
      hops.push({ state, relation });
    }
    return hops;
  };

  const aimsOf = ({ batch, text, entities, relations, local, dropped }: Scene) => {
    const start = gatherRows(tf, entities, local.start);
    const context = layers.dense(dropped(tf.concat([text, start], 1)), 'dialkg.context');
    const hops = walk(context, columns(tf, tf.slice(relations, [0, 0], [mixed, -1]), 0, d));
    const at = (part: 'state' | 'relation') => {
      const rows = hops.map((hop) => hop[part]);
      return rowsOfHop(tf, rows, batch);
    };
    return { context, state: at('state'), relation: at('relation') };
  };

  return {
    scores(scene) {
      const { batch, entities, relations, local } = scene;
      const { context, state, relation } = aimsOf(scene);
      const towards = zeroShot > 0 ? tf.add(state, endsOf(context, batch)) : state;
      return tf.add(
        pairDot(tf, towards as Tensor2D, entities, batch.stateOf, local.tails),
        pickRelations(tf, matMul(tf, relation, tf.transpose(relations)), batch),
      );
    },
    margins(scene, aims) {
      const { batch, entities, relations, local } = scene;
      const { context, state, relation } = aimsOf(scene);
      const tails = goldTails(scene, aims);
      const walked = aims.golds.map((i) => batch.relations[i]!);
      const towards = (rows: Tensor2D) => marginLoss(tf, rows, entities, tails, local.others);
      const losses = tf.add(towards(state), marginLoss(tf, relation, relations, walked, aims.relations));
      if (zeroShot === 0) return losses as tfTypes.Tensor1D;
      return tf.add(losses, tf.mul(towards(by(context, 'zero-shot')), lastSteps(batch, 1)));
    },
  };

  /** λ F x in states before their last step, zeros in others. */
  function endsOf(context: Tensor2D, batch: StateBatch): Tensor2D {
    return tf.mul(by(context, 'zero-shot'), tf.expandDims(lastSteps(batch, zeroShot), 1)) as Tensor2D;
  }

  /** float32 [S]: the value in states before their last step, else 0. */
  function lastSteps(batch: StateBatch, value: number): tfTypes.Tensor1D {
    const last = (_: unknown, s: number) => (hopOf(batch, s) === horizon - 1 ? value : 0);
    return tf.tensor1d(Float32Array.from({ length: batch.numStates }, last));
  }
}
