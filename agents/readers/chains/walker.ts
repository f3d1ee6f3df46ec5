/**
 * The relation walker's network under the chain objective: what it reads of the question and of the relations chosen before, trained by
 * the exact gradient in the place of PPO's. Scores are of all relations and STOP, without a mask; behind as many relations as the horizon
 * has a chain ends by itself.
 *
 *   x = relu(Q′ relu(Q q + b) + first[r_1] + second[r_2] … + step[t] + b′)        scores = O x + b″
 *
 * @source `agents/relation-walker/network.ts`: the same network and starts
 */
import type { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { orthogonalValues } from '../../../src/nn/parameters.js';
import { oneHots, orthogonalLayer, trunkScores } from '../../relation-walker/network.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import { questionBasis, questionInput, type RngOf, type InitialWeights } from '../words/inputs.js';
import { chainReader } from './chain-reader.js';
import { noInstructions } from './independent.js';
import type { ChainNetwork } from './network.js';
import { logSoftmaxRows } from './objective.js';

function walkerNetwork(facts: ReaderFacts, basis: ReaderBasis): ChainNetwork {
  const { graph, horizon, settings } = facts;
  const { hidden, hops, fit } = settings;
  const stop = graph.numRelations;
  const numActions = stop + 1;
  const shape = { numRelations: stop, horizon };
  const question = questionInput(facts, basis);

  const scored = (tape: SimdTape, ofTexts: HostTaped, textOf: Int32Array, chains: readonly Int32Array[]): HostTaped =>
    trunkScores(tape, shape, [ofTexts, textOf], { rows: tape.parameter('trunk.tables', hidden), from: 0 }, chains);
  const textsRead = (tape: SimdTape, texts: readonly string[], dropout?: Rng) => {
    const q = tape.dropout(question.read(tape, texts, dropout), fit.dropout, dropout);
    const read = tape.relu(tape.dense(q, 'question', hidden));
    return tape.dense(read, 'trunk.question', hidden, 'trunk.bias');
  };

  return {
    prepare: question.prepare,
    initialWeights: (rngOf) => ({
      ...question.initialWeights(rngOf),
      ...orthogonalLayer('question', question.dim, hidden, Math.SQRT2, rngOf),
      ...trunkStarts(hidden, oneHots(shape), rngOf),
      ...orthogonalLayer('out', hidden, numActions, 0.01, rngOf),
    }),
    record(tape, { texts, textOf, chains }, dropout) {
      const placeOf = new Map<string, number>();
      const states: { text: number; chain: Int32Array }[] = [];
      const place = (text: number, chain: Int32Array) => {
        const key = `${text}:${chain.join()}`;
        let known = placeOf.get(key);
        if (known === undefined) {
          placeOf.set(key, (known = states.length));
          states.push({ text, chain });
        }
        return known;
      };
      const chosen = chains.map(({ relations, offsets }, at) => {
        const text = textOf[at]!;
        const choices: number[] = [];
        const ends = offsets.map((end, c) => {
          if (c === 0) return 0;
          const chain = relations.slice(offsets[c - 1], end);
          chain.forEach((relation, t) => choices.push(place(text, chain.subarray(0, t)), relation));
          if (chain.length < horizon && hops !== 'given') choices.push(place(text, chain), stop);
          return choices.length / 2;
        });
        return { choices: Int32Array.from(choices), offsets: ends };
      });
      const textRows = Int32Array.from(states, ({ text }) => text);
      const ofText = textsRead(tape, texts, dropout);
      const behind = states.map(({ chain }) => chain);
      return { parts: [scored(tape, ofText, textRows, behind)], choicesOf: (question) => chosen[question]! };
    },
    scores(tape, text) {
      const read = textsRead(tape, [text]).values.slice();
      const known = new Map<string, Float64Array>();
      const behind = (chain: Int32Array) => {
        const key = chain.join();
        let logs = known.get(key);
        if (!logs) {
          tape.begin();
          const { values } = scored(tape, tape.constant(read, hidden), Int32Array.of(0), [chain]);
          known.set(key, (logs = logSoftmaxRows(values, Int32Array.of(0, numActions))));
        }
        return logs;
      };
      return {
        relations: behind,
        end: (chain) => (chain.length < horizon ? behind(chain)[stop]! : 0),
        mostEnd: () => 0,
      };
    },
  };
}

/** One orthogonal matrix, as the walker's: its first rows read the question, the others are the tables of one-hots. */
function trunkStarts(hidden: number, tables: number, rngOf: RngOf): InitialWeights {
  const all = orthogonalValues(rngOf('trunk'), hidden + tables, hidden, Math.SQRT2);
  return {
    'trunk.question': { shape: [hidden, hidden], data: all.slice(0, hidden * hidden) },
    'trunk.tables': { shape: [tables, hidden], data: all.slice(hidden * hidden) },
    'trunk.bias': { shape: [hidden], data: new Float32Array(hidden) },
  };
}

/** The relation walker's network, trained without walking. */
export const walkerChains: ReaderKind = {
  title: 'relation walker, chain objective',
  networkSize: ({ fit, hidden }, textDim) => ({ rows: fit.batchSize, inputs: textDim, units: hidden }),
  problems: (settings) => [
    ...noInstructions(settings),
    settings.order === 'backward' &&
      'expected reader.order=forward with reader.kind=walker-chains, which reads the relations chosen before, got backward',
  ],
  basis: questionBasis,
  create: (facts, basis) => chainReader(facts, walkerNetwork(facts, basis)),
};
