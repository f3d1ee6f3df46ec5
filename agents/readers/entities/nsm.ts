/** NSM, GRU over words: shares of entities move over a question's subgraph as instructions say that are read from its words. */
import { maskedQuestion } from '../../../datasets/question.js';
import { distinctTexts } from '../../../src/encoder/state-encoder.js';
import { Rng } from '../../../src/run/seeds.js';
import type { ReaderKind } from '../reader.js';
import { wordBasis, wordInput } from '../words/inputs.js';
import { entityBatch } from './entity-batch.js';
import { encodedWords, entityReader } from './entity-reader.js';
import { instructions, type NsmShape, nsmStarts, reason } from './nsm-network.js';

/** Its line of the registry. */
export const nsm: ReaderKind = {
  title: 'NSM, GRU over words',
  networkSize: ({ entities }) => ({ rows: 4 * entities.most, inputs: entities.dim, units: entities.dim, onHost: true }),
  problems: ({ hops }) =>
    hops === null
      ? []
      : [`expected reader.hops=null with reader.kind=nsm, whose walks may stay where they are, got ${hops}`],
  texts: encodedWords,
  basis: wordBasis,
  create: (facts, basis) =>
    Promise.resolve(
      entityReader(facts, (subgraphs) => {
        const { settings, horizon, seed } = facts;
        const words = wordInput(facts, basis);
        const shape: NsmShape = {
          numRelations: subgraphs.numRelations,
          hops: horizon,
          dim: settings.entities.dim,
          wordWidth: 2 * settings.width,
        };
        return {
          prepare: words.prepare,
          starts: nsmStarts(words, shape, (name) => Rng.named(seed, `reader/${name}`)),
          lay: (tasks, cut) => entityBatch(subgraphs, tasks, horizon, cut),
          scores(tape, tasks, batch, rng) {
            const { distinct, rows } = distinctTexts(tasks.map(maskedQuestion));
            const dropout = rng && { rate: settings.fit.dropout, rng };
            return reason(tape, instructions(tape, words, distinct, shape, dropout), rows, batch, shape);
          },
        };
      }),
    ),
};
