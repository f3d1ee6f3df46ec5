/** A reader whose network scores the entities of a question's subgraph: trained towards equal shares for the answers. */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { type Subgraph, type Subgraphs, subgraphsOf } from '../../../src/kg/subgraphs.js';
import { Rng } from '../../../src/run/seeds.js';
import { explainedLater } from '../../../src/tensor/diverged.js';
import { HostAdamW } from '../../../src/tensor/host/host-adamw.js';
import { HostParameters } from '../../../src/tensor/host/host-parameters.js';
import { Tape, type Taped } from '../../../src/tensor/host/tape.js';
import { noAnswer } from '../../question-agent.js';
import type { ReaderFacts } from '../facts.js';
import type { Reader, ReaderKind } from '../reader.js';
import type { Starts, WordInput } from '../words/inputs.js';
import { wordsOf } from '../words/vocabulary.js';
import type { EntityTable } from './entity-table.js';
import { answerRows, type LaidQuestions, partsOf, topicsOf } from './laid-questions.js';
import { rankedAnswer } from './ranked-answer.js';
import { softmaxOfReached } from './reasoning.js';
import { shareLoss } from './share-loss.js';

/** A network over the parameters that its tape knows. */
export interface EntityNetwork<Batch extends LaidQuestions> {
  prepare?: WordInput['prepare'];
  starts: Starts;
  /** What it reads of the graph. @param cut subgraph of each task */
  lay(tasks: readonly QuestionTask[], cut: readonly Subgraph[]): Batch;
  /** [rows, 1], of which those of candidates count. @param rng of dropout, in training */
  scores(tape: Tape, tasks: readonly QuestionTask[], batch: Batch, rng?: Rng): Taped;
  /** Rows of entities, where it learns some. */
  table?: EntityTable;
}

/** Words that are encoded of some questions. */
export const encodedWords: NonNullable<ReaderKind['texts']> = ({ settings: { words, maxWords } }, tasks) =>
  words === 'trained' ? [] : [...new Set(tasks.flatMap((task) => wordsOf(maskedQuestion(task), maxWords)))];

/** Entities that are computed at once: their arrays stay in the cache, and memory does not grow with the batch. */
const rowsAtOnce = 2048;

/** @throws WorkbenchError `native` without WebAssembly SIMD */
export function entityReader<Batch extends LaidQuestions>(
  { graph, settings: { entities: of, fit }, seed }: ReaderFacts,
  networkOf: (subgraphs: Subgraphs) => EntityNetwork<Batch>,
): Reader {
  const subgraphs = subgraphsOf(graph, of.most);
  const network = networkOf(subgraphs);
  const { table } = network;
  const parameters = new HostParameters(network.starts);
  const optimizer = new HostAdamW(parameters, { maxGradNorm: fit.maxGradNorm });
  const tape = new Tape(parameters);
  const prepare: NonNullable<Reader['prepare']> = async (tasks, signal) =>
    network.prepare?.(tasks.map(maskedQuestion), signal);
  const record = (tasks: readonly QuestionTask[], batch: Batch, rng?: Rng) => {
    tape.begin();
    return network.scores(tape, tasks, batch, rng);
  };

  return {
    prepare,

    async step(batch, { step, learningRate }) {
      await prepare(batch.map(({ task }) => task));
      let [loss, right, covered] = [0, 0, 0];
      const share = 1 / batch.length;
      try {
        const gradNorm = await explainedLater(
          () => ({ place: { step: step + 1 }, loss }),
          () =>
            optimizer.step(async (goForward) => {
              let part = 0;
              for (const { samples, cut } of partsOf(subgraphs, batch, rowsAtOnce)) {
                const tasks = samples.map(({ task }) => task);
                const laid = network.lay(tasks, cut);
                const rng = Rng.named(seed, 'reader/dropout', step, part++);
                const { values, back } = await goForward(() => tape.outputs([record(tasks, laid, rng)]));
                const answers = samples.map(({ gold }, q) => answerRows(gold, laid, q));
                const one = shareLoss(values, laid.bounds, laid.candidates, answers, share);
                back(one.slope);
                loss += share * one.loss;
                right += share * one.right;
                samples.forEach(({ gold }, q) => {
                  const held = answers[q]!.filter((row) => laid.candidates[row] === 1).length;
                  covered += (share * held) / Math.max(1, gold.answers.length);
                });
              }
              table?.check();
            }, learningRate),
        );
        table?.move(of.learningRate * (learningRate / fit.learningRate));
        return { loss, gradNorm, figures: { 'train/right': right, 'train/covered': covered } };
      } finally {
        table?.clear();
      }
    },

    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      await prepare([task], signal);
      const topics = topicsOf(task);
      trace({ event: 'start', entities: topics });
      const subgraph = subgraphs.around(topics);
      const reads = subgraph.tails.length;
      trace({ event: 'graph', operation: `subgraph of ${subgraph.entities.length} entities`, reads });
      if (reads === 0) return noAnswer('no topic');
      const batch = network.lay([task], [subgraph]);
      const { values } = record([task], batch);
      const shares = new Float32Array(values.length);
      softmaxOfReached(values, batch.bounds, batch.candidates, shares);
      return rankedAnswer(batch.entities, shares, of.setShare, reads);
    },

    async state() {
      const { steps, tensors } = await optimizer.exportState(optimizerPrefix);
      return { steps, tensors: { ...(await parameters.export()), ...table?.tensors(), ...tensors } };
    },

    restore(tensors, steps) {
      parameters.import(tensors);
      table?.import(tensors, steps !== undefined);
      if (steps !== undefined) optimizer.importState(optimizerPrefix, steps, tensors);
    },

    dispose() {
      optimizer.dispose();
      parameters.dispose();
    },
  };
}
