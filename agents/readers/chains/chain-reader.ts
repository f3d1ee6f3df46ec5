/** A reader whose network scores chains of relations: trained by the chain objective, answers by the best chain that leads somewhere. */
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { questionRoot } from '../../../envs/relation-walk/relation-walk-env.js';
import { goldSet } from '../../../envs/relation-walk/rules.js';
import { Rng } from '../../../src/run/seeds.js';
import { distinctTexts } from '../../../src/encoder/state-encoder.js';
import { chainAnswer, noAnswer } from '../../question-agent.js';
import type { ReaderFacts } from '../facts.js';
import { type Reader, type ReaderStep, TrainState } from '../reader.js';
import { bestChain } from './decode.js';
import { ChainFinder, type FeasibleChains } from './feasible.js';
import { type ChainNetwork, type ChainScores, rowsOf } from './network.js';
import { chainLoss } from './objective.js';

/** Texts whose scores are kept between questions. */
const mostKept = 4096;

/** @throws WorkbenchError `native` without WebAssembly SIMD */
export function chainReader(facts: ReaderFacts, network: ChainNetwork): Reader {
  const { graph, frontiers, horizon, seed, settings } = facts;
  const { fit, widest } = settings;
  const given = settings.hops === 'given';
  const initialWeights = network.initialWeights((name) => Rng.named(seed, `reader/${name}`));
  const trainState = new TrainState(initialWeights, fit.maxGradNorm);
  const { parameters, optimizer, tape } = trainState;
  const finder = new ChainFinder(graph);
  const kept = new Map<string, ChainScores>();
  let version = parameters.version;
  const lengthOf = ({ hops }: QuestionTask) => (given ? hops : undefined);

  const scoresOf = (text: string): ChainScores => {
    if (version !== parameters.version || kept.size >= mostKept) kept.clear();
    version = parameters.version;
    let scores = kept.get(text);
    if (!scores) {
      tape.begin();
      kept.set(text, (scores = network.scores(tape, text)));
    }
    return scores;
  };

  return {
    prepare: (tasks, signal) => network.prepare(tasks.map(maskedQuestion), signal),

    async step(batch, { step, learningRate }): Promise<ReaderStep> {
      const texts = batch.map(({ task }) => maskedQuestion(task));
      await network.prepare(texts);
      // By text and id, so that sums do not depend on the order in which questions come.
      const questions = batch
        .map(({ task, gold }, i) => {
          const feasible = finder.find(task, goldSet(gold), { horizon, widest, length: lengthOf(task) });
          const [known] = settings.supervision === 'chain' ? gold.chains : [];
          return { task, text: texts[i]!, feasible: known ? alone(feasible, known) : feasible };
        })
        .filter(({ feasible }) => feasible.f1.length > 0)
        .sort((a, b) => compare(a.text, b.text) || compare(a.task.id, b.task.id));
      const cut = batch.length === 0 ? 0 : questions.filter(({ feasible }) => feasible.cut).length / batch.length;
      if (questions.length === 0) return { loss: 0, gradNorm: 0, figures: { 'train/cut': cut } };
      const { distinct, rows: textOf } = distinctTexts(questions.map(({ text }) => text));
      const chains = questions.map(({ feasible }) => feasible);
      tape.begin();
      const batchOf = { texts: distinct, textOf: [...textOf], chains };
      const recorded = network.record(tape, batchOf, Rng.named(seed, 'reader/dropout', step));
      const outputs = tape.outputs(recorded.parts);
      const chosen = questions.map(({ feasible: { f1 } }, i) => ({ ...recorded.choicesOf(i), f1 }));
      const { loss, expectedF1, grad } = chainLoss(outputs.values, rowsOf(recorded.parts), chosen);
      optimizer.zeroGrad();
      outputs.backward(grad);
      const gradNorm = await optimizer.step(learningRate);
      return { loss, gradNorm, figures: { 'train/expected_f1': expectedF1, 'train/cut': cut } };
    },

    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      const text = maskedQuestion(task);
      await network.prepare([text], signal);
      const root = questionRoot(frontiers, task);
      trace({ event: 'start', entities: root.topics });
      const { found, tried } = bestChain(root, scoresOf(text), { horizon, length: lengthOf(task) });
      if (!found) return noAnswer('no chain');
      const { node, logProb } = found;
      for (const relation of node.relations) {
        trace({ event: 'graph', operation: `follow ${graph.relationNames[relation]!}`, reads: 1 });
      }
      const stop = node.relations.length < horizon ? 'stop' : 'depth';
      trace({ event: 'stop', reason: stop });
      return chainAnswer(graph, node, { stop, confidence: Math.exp(logProb), cost: { encodes: 1, graphReads: tried } });
    },

    state: () => trainState.state(),
    restore: (tensors, steps) => trainState.restore(tensors, steps),
    dispose: () => parameters.dispose(),
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The same chains, of which the given one earns alone; as they are where it is not among them. */
function alone(feasible: FeasibleChains, chain: readonly number[]): FeasibleChains {
  const { relations, offsets } = feasible;
  const f1 = feasible.f1.map((_, c) => {
    const isSame =
      offsets[c + 1]! - offsets[c]! === chain.length && chain.every((one, i) => relations[offsets[c]! + i] === one);
    return Number(isSame);
  });
  return f1.includes(1) ? { ...feasible, f1 } : feasible;
}
