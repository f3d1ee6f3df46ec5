/** Interface of networks that read a question and score chains of relations. */
import type { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import type { Numbers } from '../../../src/nn/executor.js';
import type { Dropping, Taped } from '../../../src/nn/tape.js';
import type { RngOf, InitialWeights } from '../words/inputs.js';
import type { Chains } from './feasible.js';
import type { ReaderSettings } from '../settings.js';
import { type ChosenChains, logSoftmaxRows } from './objective.js';

/** Scores on a tape, and how chains choose among them. */
interface RecordedScores {
  /** One behind the other; each row is a choice. */
  parts: readonly HostTaped[];
  /** Choices of each chain of a question; rows are counted through all parts. */
  choicesOf(question: number): Omit<ChosenChains, 'f1'>;
}

interface ChainBatch {
  /** Distinct masked questions. */
  texts: readonly string[];
  /** Place among them of each question. */
  textOf: readonly number[];
  chains: readonly Chains[];
}

/** Log-probabilities of one question's chains, relation by relation, as the search for the best one asks for them. */
export interface ChainScores {
  /** True where relations are read from the last one back, so that `relations` needs the length. */
  backward?: boolean;
  /** Log-probabilities of the next relation after a chain: [numRelations] or more. @param length of the whole chain, where `backward` */
  relations(chain: Int32Array, length: number): ArrayLike<number>;
  /** Log-probability of ending after a chain. */
  end(chain: Int32Array): number;
  /** No chain of this many relations or more has a larger `end`. */
  mostEnd(length: number): number;
}

/** A network over the parameters that its tape knows. It reads the question and relations, never an entity. */
export interface ChainNetwork {
  prepare(texts: readonly string[], signal?: AbortSignal): Promise<void>;
  initialWeights(rngOf: RngOf): InitialWeights;
  /** @param dropout of training */
  record(tape: SimdTape, batch: ChainBatch, dropout?: Rng): RecordedScores;
  scores(tape: SimdTape, text: string): ChainScores;
}

export interface ChainShape {
  numRelations: number;
  /** Relations of a chain at most. */
  horizon: number;
}

/** Offsets of the rows of some parts: int32 [rows + 1]. */
export function rowsOf(parts: readonly HostTaped[]): Int32Array {
  const begins = [0];
  for (const { rows, width } of parts) for (let row = 0; row < rows; row++) begins.push(begins.at(-1)! + width);
  return Int32Array.from(begins);
}

/** Scores of texts that do not depend on the relations chosen before. */
export interface FactoredScores<N extends Numbers = Float32Array> {
  /** [texts, numRelations] for the first relation, the second …; or for the last, the one before … */
  steps: readonly Taped<N>[];
  /** [texts, horizon]: one relation, two …; absent where hops are given. */
  hops?: Taped<N> | undefined;
}

export interface FactoredParts extends Pick<ChainNetwork, 'prepare' | 'initialWeights'> {
  compute(tape: SimdTape, texts: readonly string[], dropout?: Dropping): FactoredScores;
}

/**
 * A network whose chains are drawn relation by relation, each by itself: p(c) = softmax(g)_h · Π_t softmax(l_t)_{r_t}. It goes through a
 * text once.
 * @param shape.order `backward`: the network's first step is the last relation of a chain
 */
export function factoredNetwork(
  { horizon, order }: Pick<ChainShape, 'horizon'> & { order: ReaderSettings['order'] },
  parts: FactoredParts,
): ChainNetwork {
  const backward = order === 'backward';
  const { compute } = parts;
  const recorded = ({ steps, hops }: FactoredScores, { texts, textOf, chains }: ChainBatch): RecordedScores => ({
    parts: hops ? [...steps, hops] : steps,
    choicesOf(question) {
      const { relations, offsets } = chains[question]!;
      const text = textOf[question]!;
      const count = offsets.length - 1;
      const choices = new Int32Array(2 * (relations.length + (hops ? count : 0)));
      let at = 0;
      const choose = (step: number, choice: number) => {
        choices[at++] = step * texts.length + text;
        choices[at++] = choice;
      };
      const ends = new Int32Array(count + 1);
      for (let c = 0; c < count; c++) {
        const [begin, end] = [offsets[c]!, offsets[c + 1]!];
        for (let i = begin; i < end; i++) choose(backward ? end - 1 - i : i - begin, relations[i]!);
        if (hops) choose(horizon, end - begin - 1);
        ends[c + 1] = at / 2;
      }
      return { choices, offsets: ends };
    },
  });
  return {
    prepare: parts.prepare,
    initialWeights: parts.initialWeights,
    record: (tape, batch, dropout) => recorded(compute(tape, batch.texts, dropout), batch),
    scores(tape, text) {
      const { steps, hops } = compute(tape, [text]);
      const logsOf = ({ values, width }: HostTaped) => logSoftmaxRows(values, Int32Array.of(0, width));
      const relations = steps.map(logsOf);
      const ends = hops ? logsOf(hops) : new Float64Array(horizon);
      return {
        backward,
        relations: (chain, length) => relations[backward ? length - 1 - chain.length : chain.length]!,
        end: (chain) => ends[chain.length - 1]!,
        mostEnd: (length) => ends.subarray(Math.max(length, 1) - 1).reduce((a, b) => Math.max(a, b), -Infinity),
      };
    },
  };
}
