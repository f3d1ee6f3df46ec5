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
import type { Tape, Taped } from '../../../src/nn/tape.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';
import { type EmbeddedNetwork, goldTails, marginLoss, rowsOfHop, type Scene, type Starts } from './network.js';

export function dialkgNetwork(
  { width, embeddingDim: d, zeroShot }: WalkerSettings,
  { horizon, numRelations }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  // Staying is a separate relation.
  const mixed = numRelations + 1;
  starts.add('dialkg.context', width + d, d, true);
  starts.add('dialkg.mix.context', d, mixed);
  starts.add('dialkg.mix.state', d, mixed);
  starts.add('dialkg.in.state', d, 1);
  starts.add('dialkg.in.memory', d, 1);
  starts.add('dialkg.memory.input', d, d);
  starts.add('dialkg.memory.state', d, d);
  starts.add('dialkg.out.input', d, 1);
  starts.add('dialkg.out.state', d, 1);
  starts.add('dialkg.out.memory', d, 1);
  if (zeroShot > 0) starts.add('dialkg.zero-shot', d, d);
  const by = (tape: Tape, rows: Taped, name: string) => tape.times(rows, `dialkg.${name}`);

  const walk = (tape: Tape, context: Taped, all: Taped) => {
    const sum = (...parts: (readonly [rows: Taped, name: string])[]) =>
      parts.map(([rows, name]) => by(tape, rows, name)).reduce((terms, term) => tape.add(terms, term));
    const hops: { state: Taped; relation: Taped }[] = [];
    const wanted = by(tape, context, 'mix.context');
    let state = tape.zeros(context.rows, d);
    let memory = state;
    for (let hop = 0; hop < horizon; hop++) {
      const relation = tape.product(tape.sigmoid(tape.add(wanted, by(tape, state, 'mix.state'))), all);
      const input = tape.add(state, relation);
      const taken = tape.sigmoid(sum([state, 'in.state'], [memory, 'in.memory']));
      const next = tape.tanh(sum([input, 'memory.input'], [state, 'memory.state']));
      memory = tape.add(memory, scaledRows(tape, tape.add(next, memory, -1), taken));
      const shown = tape.sigmoid(sum([input, 'out.input'], [state, 'out.state'], [memory, 'out.memory']));
      state = scaledRows(tape, tape.tanh(memory), shown);
      hops.push({ state, relation });
    }
    return hops;
  };

  const aimsOf = ({ tape, batch, text, entities, relations, local, dropped }: Scene) => {
    const start = tape.rows(entities, local.start);
    const context = tape.layer(dropped(tape.concat([text, start])), 'dialkg.context');
    const hops = walk(tape, context, tape.slice(relations, 0, mixed));
    const at = (part: 'state' | 'relation') =>
      rowsOfHop(
        tape,
        hops.map((hop) => hop[part]),
        batch,
      );
    return { context, state: at('state'), relation: at('relation') };
  };

  return {
    scores(scene) {
      const { tape, batch, entities, relations, local } = scene;
      const { context, state, relation } = aimsOf(scene);
      const ends = zeroShot > 0 && scaledRows(tape, by(tape, context, 'zero-shot'), lastSteps(tape, batch, zeroShot));
      return tape.add(
        tape.dots(ends ? tape.add(state, ends) : state, batch.stateOf, entities, local.tails),
        tape.dots(relation, batch.stateOf, relations, batch.relations),
      );
    },
    margins(scene, aims) {
      const { tape, batch, entities, relations, local } = scene;
      const { context, state, relation } = aimsOf(scene);
      const tails = goldTails(scene, aims);
      const walked = aims.golds.map((i) => batch.relations[i]!);
      const towards = (rows: Taped) => marginLoss(tape, rows, entities, tails, local.others);
      const losses = tape.add(towards(state), marginLoss(tape, relation, relations, walked, aims.relations));
      if (zeroShot === 0) return losses;
      return tape.add(losses, tape.multiply(towards(by(tape, context, 'zero-shot')), lastSteps(tape, batch, 1)));
    },
  };

  /** [S, 1]: the value in states before their last step, else 0. */
  function lastSteps(tape: Tape, batch: StateBatch, value: number): Taped {
    const last = (_: unknown, s: number) => (hopOf(batch, s) === horizon - 1 ? value : 0);
    return tape.constant(Float32Array.from({ length: batch.numStates }, last), 1);
  }
}

/** Each row times its number in `by`, [rows, 1]. */
function scaledRows(tape: Tape, rows: Taped, by: Taped): Taped {
  const each = Int32Array.from({ length: rows.rows }, (_, i) => i);
  return tape.weightedSums(by, rows, each, each, rows.rows);
}
