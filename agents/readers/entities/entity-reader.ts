/** A reader whose network scores the entities of a question's subgraph: trained towards equal shares for the answers. */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { type Subgraph, type Subgraphs, subgraphsOf } from '../../../src/kg/subgraphs.js';
import { Rng } from '../../../src/run/seeds.js';
import { HostAdamW } from '../../../src/tensor/host/host-adamw.js';
import { HostParameters } from '../../../src/tensor/host/host-parameters.js';
import { Tape, type Taped } from '../../../src/tensor/host/tape.js';
import { noAnswer, type QuestionAnswer } from '../../question-agent.js';
import type { ReaderFacts } from '../facts.js';
import type { Reader } from '../reader.js';
import type { Starts, WordInput } from '../words/inputs.js';
import type { EntityTable } from './entity-table.js';
import { answerRows, type LaidQuestions, partsOf, topicsOf } from './laid-questions.js';
import { softmaxOfReached } from './reasoning.js';
import { shareLoss } from './share-loss.js';

/** Training data of a batch. */
export interface Lesson {
  /** Generator of dropout. */
  rng: Rng;
  /** Rows of each question's answers. */
  answers: readonly (readonly number[])[];
  /** Teacher's shares after each step but the last, float32 [rows]; zeros where there are none. */
  labels?: readonly Float32Array[] | undefined;
}

/** Outputs of a network. */
export interface Computed {
  /** [rows, 1], of which those of candidates count. */
  scores: Taped;
  /** Additional losses, one number each: sums over the questions. */
  more?: readonly Taped[];
}

/** A network over the parameters that its tape knows. */
export interface EntityNetwork<Batch extends LaidQuestions> {
  prepare?: WordInput['prepare'];
  starts: Starts;
  /** Inputs from the graph. @param cut subgraph of each task */
  lay(tasks: readonly QuestionTask[], cut: readonly Subgraph[]): Batch;
  /** @param lesson in training */
  compute(tape: Tape, tasks: readonly QuestionTask[], batch: Batch, lesson?: Lesson): Computed;
  /** Rows of entities, where it learns some. */
  table?: EntityTable;
  /** Trained in the first steps; then gives targets for this network's shares. */
  teacher?: Teacher<Batch> | undefined;
}

/** A network that is trained before another and never answers itself. */
export interface Teacher<Batch extends LaidQuestions> {
  starts: Starts;
  compute(tape: Tape, tasks: readonly QuestionTask[], batch: Batch, lesson: Lesson): Computed;
  /** `Lesson.labels`: copies. */
  labels(tape: Tape, tasks: readonly QuestionTask[], batch: Batch, answers: Lesson['answers']): Float32Array[];
}

/** Entities that are computed at once: their arrays stay in the cache, and memory does not grow with the batch. */
const rowsAtOnce = 2048;

const teacherPrefix = `${optimizerPrefix}teacher/`;

function traineeOf(starts: Starts, maxGradNorm: number) {
  const parameters = new HostParameters(starts);
  return { parameters, optimizer: new HostAdamW(parameters, { maxGradNorm }), tape: new Tape(parameters) };
}

/** @throws WorkbenchError `native` without WebAssembly SIMD */
export function entityReader<Batch extends LaidQuestions>(
  { graph, settings: { entities: of, fit }, seed }: ReaderFacts,
  networkOf: (subgraphs: Subgraphs) => EntityNetwork<Batch>,
): Reader {
  const subgraphs = subgraphsOf(graph, of.most);
  const network = networkOf(subgraphs);
  const { table } = network;
  const student = { ...traineeOf(network.starts, fit.maxGradNorm), compute: network.compute.bind(network) };
  const teacher = network.teacher && {
    ...traineeOf(network.teacher.starts, fit.maxGradNorm),
    ...network.teacher,
    steps: of.teacherSteps,
  };
  const prepare: NonNullable<Reader['prepare']> = async (tasks, signal) =>
    network.prepare?.(tasks.map(maskedQuestion), signal);

  const labelsOf = (tasks: readonly QuestionTask[], laid: Batch, answers: Lesson['answers']) => {
    teacher?.tape.begin();
    return teacher?.labels(teacher.tape, tasks, laid, answers);
  };

  return {
    prepare,
    restartsAt: teacher?.steps,

    async step(batch, { step, learningRate }) {
      await prepare(batch.map(({ task }) => task));
      let [loss, right, covered] = [0, 0, 0];
      const share = 1 / batch.length;
      const taught = teacher && step < teacher.steps ? teacher : student;
      const { tape, optimizer } = taught;
      try {
        const gradNorm = await optimizer.step(async (goForward) => {
          let part = 0;
          for (const { samples, cut } of partsOf(subgraphs, batch, rowsAtOnce)) {
            const tasks = samples.map(({ task }) => task);
            const laid = network.lay(tasks, cut);
            const rng = Rng.named(seed, 'reader/dropout', step, part++);
            const answers = samples.map(({ gold }, q) => answerRows(gold, laid, q));
            const labels = taught === student ? labelsOf(tasks, laid, answers) : undefined;
            const { values, back } = await goForward(() => {
              tape.begin();
              const { scores, more = [] } = taught.compute(tape, tasks, laid, { rng, answers, labels });
              return tape.outputs([scores, ...more]);
            });
            const rows = laid.entities.length;
            const ofScores = values.subarray(0, rows);
            const one = shareLoss(ofScores, laid.bounds, laid.candidates, answers, share);
            const grad = new Float32Array(values.length).fill(share);
            grad.set(one.grad);
            back(grad);
            loss += share * values.subarray(rows).reduce((sum, more) => sum + more, one.loss);
            right += share * one.right;
            samples.forEach(({ gold }, q) => {
              const held = answers[q]!.filter((row) => laid.candidates[row] === 1).length;
              covered += (share * held) / Math.max(1, gold.answers.length);
            });
          }
          table?.check();
        }, learningRate);
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
      const { tape } = student;
      tape.begin();
      const { values } = network.compute(tape, [task], batch).scores;
      const shares = new Float32Array(values.length);
      softmaxOfReached(values, batch.bounds, batch.candidates, shares);
      return rankedAnswer(batch.entities, shares, of.setShare, reads);
    },

    async state() {
      const { steps, tensors } = await student.optimizer.exportState(optimizerPrefix);
      const own = { ...(await student.parameters.export()), ...table?.tensors(), ...tensors };
      if (!teacher) return { steps, tensors: own };
      const before = await teacher.optimizer.exportState(teacherPrefix);
      const weights = Object.entries(await teacher.parameters.export());
      return {
        steps: before.steps + steps,
        tensors: {
          ...own,
          ...Object.fromEntries(weights.map(([name, tensor]) => [teacherPrefix + name, tensor])),
          ...before.tensors,
        },
      };
    },

    restore(tensors, steps) {
      student.parameters.import(tensors);
      table?.import(tensors, steps !== undefined);
      if (steps === undefined) return;
      const taught = Math.min(steps, teacher?.steps ?? 0);
      student.optimizer.importState(optimizerPrefix, steps - taught, tensors);
      if (!teacher) return;
      const named = teacher.parameters.names.map((name) => [name, tensors[teacherPrefix + name]] as const);
      teacher.parameters.import(
        Object.fromEntries(named.flatMap(([name, tensor]) => (tensor ? [[name, tensor]] : []))),
      );
      teacher.optimizer.importState(teacherPrefix, taught, tensors);
    },

    dispose() {
      for (const one of [student, teacher]) {
        one?.optimizer.dispose();
        one?.parameters.dispose();
      }
    },
  };
}

/**
 * The entities whose share is at least `setShare` of the best one's, best first, equal ones in the order of `entities`. Nothing is
 * walked, so there is neither a chain nor a fact behind it.
 * @param entities int32, distinct @param shares of each, summing to 1; 0 where it cannot be an answer
 */
export function rankedAnswer(
  entities: Int32Array,
  shares: Float32Array,
  setShare: number,
  graphReads: number,
): QuestionAnswer {
  const best = shares.reduce((most, share) => Math.max(most, share), 0);
  if (best === 0) return noAnswer('nothing reached');
  const places = Array.from(shares.keys()).filter((place) => shares[place]! > 0 && shares[place]! >= setShare * best);
  places.sort((a, b) => shares[b]! - shares[a]! || a - b);
  return {
    entities: places.map((place) => entities[place]!),
    literals: [],
    evidence: [],
    confidence: Math.min(1, best),
    degraded: false,
    stop: 'ranked',
    cost: { encodes: 1, graphReads },
  };
}
