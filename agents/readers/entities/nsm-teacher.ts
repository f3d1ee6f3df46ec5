/**
 * Teacher of NSM: one walk from the topics to the answers and one from the answers back, by the instructions in reverse. The
 * student is trained towards the entities in between on which both agree.
 *
 *   teacher: L_there + 0.1 · L_back + 0.01 · Σ_k JS(p_k ‖ p′_k)        p′_k: of the walk back, where k steps are left
 *   student: L + guidance · Σ_k KL(½ (p_k + p′_k) ‖ share_k)           k = 1 .. steps − 1
 *
 * Parallel: two networks. Hybrid: the backward walk has separate steps but shares the instructions, the relations and the initial
 * states.
 * @source He et al. 2021, arXiv:2101.03737, sections 4.3 and 4.4
 */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import type { RngOf, WordInput } from '../words/inputs.js';
import { type EntityBatch, walkedBack } from './entity-batch.js';
import type { Teacher } from './entity-reader.js';
import { type NsmShape, nsmStarts, reason, walkStarts } from './nsm-network.js';
import { disagreement, shareLoss, tapedLoss } from './share-loss.js';

const [backWeight, agreementWeight] = [0.1, 0.01];

/** Prefix of parameters of the backward walk. */
const prefix = 'back/';

/** Instructions by step, [texts, dim], and the row of each question, int32 [questions]. */
export type Asking = (
  tape: SimdTape,
  tasks: readonly QuestionTask[],
  rng?: Rng,
) => { asked: HostTaped[]; textOf: Int32Array };

/** @param inverseOf of the subgraphs @param ask by the parameters of a network that begins with `nsmStarts` */
export function nsmTeacher(
  form: 'parallel' | 'hybrid',
  words: Pick<WordInput, 'initialWeights'>,
  shape: NsmShape,
  inverseOf: Int32Array,
  ask: Asking,
  rngOf: RngOf,
): Teacher<EntityBatch> {
  const ownStarts = (own: RngOf) => (form === 'parallel' ? nsmStarts(words, shape, own) : walkStarts(shape, own));
  const walks = (
    tape: SimdTape,
    tasks: readonly QuestionTask[],
    batch: EntityBatch,
    answers: readonly (readonly number[])[],
    rng?: Rng,
  ) => {
    const { asked, textOf } = ask(tape, tasks, rng);
    const there = reason(tape, asked, textOf, batch, shape);
    const homewards = walkedBack(batch, inverseOf, sharesOf(answers, batch));
    const back = tape.under(prefix, () =>
      form === 'parallel'
        ? reason(tape, ask(tape, tasks, rng).asked.reverse(), textOf, homewards, shape)
        : reason(tape, [...asked].reverse(), textOf, homewards, shape, there),
    );
    // Pairs of shares, there and back, after each step but the last.
    const pairs = there.shares.map((share, k) => [share, back.shares.at(-1 - k)!] as const);
    return { scores: there.scores, home: back.scores, reached: homewards.candidates, pairs };
  };
  return {
    initialWeights: {
      ...nsmStarts(words, shape, rngOf),
      ...Object.fromEntries(
        Object.entries(ownStarts((name) => rngOf(prefix + name))).map(([name, start]) => [prefix + name, start]),
      ),
    },
    compute(tape, tasks, batch, lesson) {
      const { scores, home, reached, pairs } = walks(tape, tasks, batch, lesson.answers, lesson.rng);
      const topics = rowsWhere(batch, (row) => batch.initialWeights[row]! > 0);
      const { loss, grad } = shareLoss(home.values, batch.bounds, reached, topics, backWeight);
      const supervised = supervisedRows(lesson.answers, batch);
      return {
        scores,
        more: [
          tapedLoss(tape, [home], { loss: backWeight * loss, grads: [grad] }),
          ...pairs.map(([p, q]) =>
            tapedLoss(tape, [p, q], disagreement(p.values, q.values, supervised, agreementWeight)),
          ),
        ],
      };
    },
    labels(tape, tasks, batch, answers) {
      const supervised = supervisedRows(answers, batch);
      return walks(tape, tasks, batch, answers).pairs.map(([p, q]) =>
        Float32Array.from(supervised, (one, row) => (one === 0 ? 0 : (p.values[row]! + q.values[row]!) / 2)),
      );
    },
  };
}

/** float32 [rows]: equal shares of the answers that are reached. */
function sharesOf(answers: readonly (readonly number[])[], { candidates }: EntityBatch): Float32Array {
  const shares = new Float32Array(candidates.length);
  for (const rows of answers) {
    const held = rows.filter((row) => candidates[row] === 1);
    for (const row of held) shares[row] = 1 / held.length;
  }
  return shares;
}

/** uint8 [rows]: 1 for those of a question that has an answer which is reached. */
function supervisedRows(answers: readonly (readonly number[])[], { bounds, candidates }: EntityBatch): Uint8Array {
  const supervised = new Uint8Array(candidates.length);
  answers.forEach((rows, q) => {
    if (rows.some((row) => candidates[row] === 1)) supervised.fill(1, bounds[q], bounds[q + 1]);
  });
  return supervised;
}

const rowsWhere = ({ bounds }: EntityBatch, wanted: (row: number) => boolean): number[][] =>
  Array.from({ length: bounds.length - 1 }, (_, q) =>
    Array.from({ length: bounds[q + 1]! - bounds[q]! }, (__, i) => bounds[q]! + i).filter(wanted),
  );
