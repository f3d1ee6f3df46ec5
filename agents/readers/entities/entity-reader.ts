/** A reader whose network scores the entities of a question's subgraph: trained towards equal shares for the answers. */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import { maskedQuestion, type QuestionSample, type QuestionTask } from '../../../datasets/question.js';
import { type Subgraph, type Subgraphs, subgraphsOf } from '../../../src/kg/subgraphs.js';
import { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import type { StoredTensors } from '../../../src/nn/parameters.js';
import { noAnswer, type QuestionAnswer, type QuestionSession } from '../../question-agent.js';
import type { ReaderFacts } from '../facts.js';
import { type Reader, type ScheduledStep, type ReaderStep, TrainState } from '../reader.js';
import type { ReaderSettings } from '../settings.js';
import type { InitialWeights, WordInput } from '../words/inputs.js';
import type { EntityTable } from './entity-table.js';
import { answerRows, type LaidQuestions, partsOf, topicsOf } from './laid-questions.js';
import { softmaxOfReached } from './reasoning.js';
import { shareLoss } from './share-loss.js';

interface Lesson {
  rng: Rng;
  /** Rows of each question's answers. */
  answers: readonly (readonly number[])[];
  /** Teacher's shares after each step but the last, float32 [rows]; zeros where there are none. */
  labels?: readonly Float32Array[] | undefined;
  /** The questions with their golds, in the first `pretrain.steps`. */
  pretraining?: readonly QuestionSample[] | undefined;
}

export interface Computed {
  /** [rows, 1], of which those of candidates count. */
  scores: HostTaped;
  /** Additional losses, one number each: sums over the questions. */
  more?: readonly HostTaped[];
}

/** A network over the parameters that its tape knows. */
export interface EntityNetwork<Batch extends LaidQuestions> {
  prepare?: WordInput['prepare'];
  initialWeights: InitialWeights;
  /** Inputs from the graph. @param cut subgraph of each task */
  lay(tasks: readonly QuestionTask[], cut: readonly Subgraph[]): Batch;
  /** @param lesson in training */
  compute(tape: SimdTape, tasks: readonly QuestionTask[], batch: Batch, lesson?: Lesson): Computed;
  /** Rows of entities, where it learns some. */
  table?: EntityTable;
  /** Trained in the first steps; then gives targets for this network's shares. */
  teacher?: Teacher<Batch> | undefined;
}

/** A network that is trained before another and never answers itself. */
export interface Teacher<Batch extends LaidQuestions> {
  initialWeights: InitialWeights;
  compute(tape: SimdTape, tasks: readonly QuestionTask[], batch: Batch, lesson: Lesson): Computed;
  /** `Lesson.labels`: copies. */
  labels(tape: SimdTape, tasks: readonly QuestionTask[], batch: Batch, answers: Lesson['answers']): Float32Array[];
}

/** Entities that are computed at once: their arrays stay in the cache, and memory does not grow with the batch. */
const rowsAtOnce = 2048;

const teacherPrefix = `${optimizerPrefix}teacher/`;

/** @throws WorkbenchError `native` without WebAssembly SIMD */
export const entityReader = <Batch extends LaidQuestions>(
  facts: ReaderFacts,
  networkOf: (subgraphs: Subgraphs) => EntityNetwork<Batch>,
): Reader => {
  const subgraphs = subgraphsOf(facts.graph, facts.settings.entities.most);
  return new EntityReader(facts, subgraphs, networkOf(subgraphs));
};

class EntityReader<Batch extends LaidQuestions> implements Reader {
  readonly restartsAt?: number;
  readonly #student: TrainState;
  readonly #teacher: (TrainState & { of: Teacher<Batch> }) | undefined;
  readonly #settings: ReaderSettings;
  readonly #seed: number;

  constructor(
    { settings, seed }: ReaderFacts,
    readonly subgraphs: Subgraphs,
    readonly network: EntityNetwork<Batch>,
  ) {
    const { maxGradNorm } = settings.fit;
    this.#settings = settings;
    this.#seed = seed;
    this.#student = new TrainState(network.initialWeights, maxGradNorm);
    const of = network.teacher;
    if (!of) return;
    this.#teacher = Object.assign(new TrainState(of.initialWeights, maxGradNorm), { of });
    this.restartsAt = settings.entities.teacherSteps;
  }

  async prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void> {
    await this.network.prepare?.(tasks.map(maskedQuestion), signal);
  }

  async step(batch: readonly QuestionSample[], { step, learningRate }: ScheduledStep): Promise<ReaderStep> {
    await this.prepare(batch.map(({ task }) => task));
    const { network, subgraphs } = this;
    const { table } = network;
    const { entities: of, fit, pretrain } = this.#settings;
    const teacher = this.#teacher && step < of.teacherSteps ? this.#teacher : undefined;
    const { tape, optimizer } = teacher ?? this.#student;
    const figures = { 'train/right': 0, 'train/covered': 0 };
    const share = 1 / batch.length;
    let loss = 0;
    try {
      optimizer.zeroGrad();
      let part = 0;
      for (const { samples, cut } of partsOf(subgraphs, batch, rowsAtOnce)) {
        const tasks = samples.map(({ task }) => task);
        const laid = network.lay(tasks, cut);
        const rng = Rng.named(this.#seed, 'reader/dropout', step, part++);
        const answers = samples.map(({ gold }, q) => answerRows(gold, laid, q));
        const labels = teacher ? undefined : this.#labels(tasks, laid, answers);
        const lesson = { rng, answers, labels, pretraining: step < pretrain.steps ? samples : undefined };
        tape.begin();
        const { scores, more = [] } = (teacher?.of ?? network).compute(tape, tasks, laid, lesson);
        const { values, backward } = tape.outputs([scores, ...more]);
        const rows = laid.entities.length;
        const one = shareLoss(values.subarray(0, rows), laid.bounds, laid.candidates, answers, share);
        const grad = new Float32Array(values.length).fill(share);
        grad.set(one.grad);
        backward(grad);
        loss += share * values.subarray(rows).reduce((sum, more) => sum + more, one.loss);
        figures['train/right'] += share * one.right;
        samples.forEach(({ gold }, q) => {
          const held = answers[q]!.filter((row) => laid.candidates[row] === 1).length;
          figures['train/covered'] += (share * held) / Math.max(1, gold.answers.length);
        });
      }
      table?.check();
      const gradNorm = await optimizer.step(learningRate);
      table?.move(of.learningRate * (learningRate / fit.learningRate));
      return { loss, gradNorm, figures };
    } finally {
      table?.clear();
    }
  }

  #labels(tasks: readonly QuestionTask[], laid: Batch, answers: Lesson['answers']) {
    this.#teacher?.tape.begin();
    return this.#teacher?.of.labels(this.#teacher.tape, tasks, laid, answers);
  }

  async answer(task: QuestionTask, { trace, signal }: Pick<QuestionSession, 'trace' | 'signal'>) {
    if (task.form !== 'entities') return noAnswer('form');
    await this.prepare([task], signal);
    const topics = topicsOf(task);
    trace({ event: 'start', entities: topics });
    const subgraph = this.subgraphs.around(topics);
    const reads = subgraph.tails.length;
    trace({ event: 'graph', operation: `subgraph of ${subgraph.entities.length} entities`, reads });
    if (reads === 0) return noAnswer('no topic');
    const batch = this.network.lay([task], [subgraph]);
    const { tape } = this.#student;
    tape.begin();
    const { values } = this.network.compute(tape, [task], batch).scores;
    const shares = new Float32Array(values.length);
    softmaxOfReached(values, batch.bounds, batch.candidates, shares);
    return rankedAnswer(batch.entities, shares, this.#settings.entities.setShare, reads);
  }

  async state() {
    const { steps, tensors } = await this.#student.state();
    const own = { ...tensors, ...this.network.table?.tensors() };
    const teacher = this.#teacher;
    if (!teacher) return { steps, tensors: own };
    const before = await teacher.optimizer.exportState(teacherPrefix);
    const weights = Object.entries(await teacher.parameters.export());
    const named = Object.fromEntries(weights.map(([name, tensor]) => [teacherPrefix + name, tensor]));
    return { steps: before.steps + steps, tensors: { ...own, ...named, ...before.tensors } };
  }

  restore(tensors: StoredTensors, steps?: number): void {
    const teacher = this.#teacher;
    const taught = Math.min(steps ?? 0, this.restartsAt ?? 0);
    this.#student.restore(tensors, steps === undefined ? undefined : steps - taught);
    this.network.table?.import(tensors, steps !== undefined);
    if (steps === undefined || !teacher) return;
    const named = Object.entries(tensors).flatMap(([name, tensor]) =>
      name.startsWith(teacherPrefix) ? [[name.slice(teacherPrefix.length), tensor]] : [],
    );
    teacher.parameters.import(Object.fromEntries(named));
    teacher.optimizer.importState(teacherPrefix, taught, tensors);
  }

  dispose(): void {
    this.#student.parameters.dispose();
    this.#teacher?.parameters.dispose();
  }
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
  const indices = Array.from(shares.keys()).filter((index) => shares[index]! > 0 && shares[index]! >= setShare * best);
  indices.sort((a, b) => shares[b]! - shares[a]! || a - b);
  const ranked = indices.map((index) => entities[index]!);
  return { ...noAnswer('ranked'), entities: ranked, confidence: Math.min(1, best), cost: { encodes: 1, graphReads } };
}
