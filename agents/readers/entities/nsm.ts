/** NSM, GRU over words: shares of entities move over a question's subgraph as instructions say that are read from its words. */
import { maskedQuestion } from '../../../datasets/question.js';
import { distinctTexts } from '../../../src/encoder/state-encoder.js';
import { Rng } from '../../../src/run/seeds.js';
import type { ReaderKind } from '../reader.js';
import { wordBasis, wordInput } from '../words/inputs.js';
import { entityBatch } from './entity-batch.js';
import { entityReader } from './entity-reader.js';
import { instructions, type NsmShape, nsmStarts, reason } from './nsm-network.js';
import { type Asking, nsmTeacher } from './nsm-teacher.js';
import { distance, tapedLoss } from './share-loss.js';

/** Its line of the registry. */
export const nsm: ReaderKind = {
  title: 'NSM, GRU over words',
  networkSize: ({ entities }) => ({ rows: 4 * entities.most, inputs: entities.dim, units: entities.dim }),
  problems: ({ hops, fit, entities: { teacher, teacherSteps } }) => [
    hops !== null && `expected reader.hops=null with reader.kind=nsm, whose walks may stay where they are, got ${hops}`,
    teacher !== 'none' &&
      teacherSteps >= fit.steps &&
      `expected reader.entities.teacherSteps below reader.fit.steps, got ${teacherSteps} of ${fit.steps}`,
  ],
  basis: wordBasis,
  create: (facts, basis) =>
    entityReader(facts, (subgraphs) => {
      const { settings, horizon, seed } = facts;
      const { teacher, guidance } = settings.entities;
      const words = wordInput(facts, basis);
      const shape: NsmShape = {
        numRelations: subgraphs.numRelations,
        hops: horizon,
        dim: settings.entities.dim,
        wordWidth: 2 * settings.width,
      };
      const rngOf = (prefix: string) => (name: string) => Rng.named(seed, prefix + name);
      const ask: Asking = (tape, tasks, rng) => {
        const { distinct, rows } = distinctTexts(tasks.map(maskedQuestion));
        const dropout = rng && { rate: settings.fit.dropout, rng };
        return { asked: instructions(tape, words, distinct, shape, dropout), textOf: rows };
      };
      return {
        prepare: words.prepare,
        initialWeights: nsmStarts(words, shape, rngOf('reader/')),
        lay: (tasks, cut) => entityBatch(subgraphs, tasks, horizon, cut),
        compute(tape, tasks, batch, lesson) {
          const { asked, textOf } = ask(tape, tasks, lesson?.rng);
          const { scores, shares } = reason(tape, asked, textOf, batch, shape);
          const more = lesson?.labels?.map((labels, k) =>
            tapedLoss(tape, [shares[k]!], distance(shares[k]!.values, labels, guidance)),
          );
          return { scores, more };
        },
        teacher:
          teacher === 'none'
            ? undefined
            : nsmTeacher(teacher, words, shape, subgraphs.inverseOf, ask, rngOf('reader/teacher/')),
      };
    }),
};
