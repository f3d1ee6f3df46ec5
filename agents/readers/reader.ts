/** The contract of readers: question agents that are fitted to questions and answers, step by step, without walking by PPO. */
import { optimizerPrefix } from '../../checkpoints/checkpoint.js';
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { QuestionSample, QuestionTask } from '../../datasets/question.js';
import type { NetworkSize } from '../../src/nn/open-executor.js';
import { AdamW } from '../../src/nn/adamw.js';
import { SimdExecutor } from '../../src/nn/simd/executor.js';
import { SimdParameters, SimdTape } from '../../src/nn/simd/tape.js';
import type { HostTensor, StoredTensors } from '../../src/nn/parameters.js';
import type { QuestionAnswer, QuestionSession } from '../question-agent.js';
import type { ReaderBasis, ReaderFacts } from './facts.js';
import type { ReaderSettings } from './settings.js';

/** Position of a step in training. Random choices depend on it and the seed alone, so that resuming needs weights alone. */
export interface ScheduledStep {
  /** From 0. */
  step: number;
  learningRate: number;
}

/** Metrics of a step. */
export interface ReaderStep {
  /** Mean over the questions of the batch. */
  loss: number;
  /** Global norm of the gradient before it is clipped. */
  gradNorm: number;
  /** More for the curves, under `train/…`. */
  figures?: Readonly<Record<string, number>>;
}

/** Checkpointed state of a reader. */
interface ReaderState {
  /** Steps that its optimizer has done. */
  steps: number;
  /** Weights, and optimizer state under names that begin with `optimizerPrefix`. */
  tensors: Record<string, Tensor>;
}

/** A reader in training, or ready to answer. */
export interface Reader {
  /**
   * Work that is cheaper for many questions at once, such as encoding texts: called with all of train and valid before the first step, and
   * with those of an evaluation; `step` and `answer` do without where it was not called.
   */
  prepare?(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /**
   * One step down the gradient of the loss on some questions of train.
   * @param batch not empty; the sum over it does not depend on its order but for rounding
   * @throws Diverged for numbers that are not finite; nothing has changed then
   */
  step(batch: readonly QuestionSample[], scheduled: ScheduledStep): Promise<ReaderStep>;
  /** Step from which the learning rate schedule restarts, since another network is trained from there. */
  restartsAt?: number;
  /** Reads the task alone. @returns as every question agent */
  answer(task: QuestionTask, session: Pick<QuestionSession, 'trace' | 'signal'>): Promise<QuestionAnswer>;
  /** Copy of the whole training state. Once restored, the next steps give equal bytes. */
  state(): Promise<ReaderState>;
  /**
   * @param steps of the optimizer; undefined where it will answer only: tensors under `optimizerPrefix` may be missing then
   * @throws WorkbenchError `data` where a tensor is missing or of another shape
   */
  restore(tensors: StoredTensors, steps?: number): void;
  dispose(): void;
}

/** A network on a tape with its optimizer. @throws WorkbenchError `native` without WebAssembly SIMD */
export class TrainState {
  readonly parameters: SimdParameters;
  readonly optimizer: AdamW;
  readonly tape: SimdTape;

  /** @param executor to share the memory of; default its own */
  constructor(
    initialWeights: Readonly<Record<string, HostTensor>>,
    maxGradNorm: number,
    executor = new SimdExecutor(),
  ) {
    this.parameters = new SimdParameters(initialWeights, executor);
    this.optimizer = new AdamW(this.parameters, { maxGradNorm });
    this.tape = new SimdTape(this.parameters);
  }

  /** `Reader.state` of this network alone. */
  async state(): Promise<ReaderState> {
    const { steps, tensors } = await this.optimizer.exportState(optimizerPrefix);
    return { steps, tensors: { ...(await this.parameters.export()), ...tensors } };
  }

  /** Load of weights and, with `steps`, moments. */
  restore(tensors: StoredTensors, steps?: number): void {
    this.parameters.import(tensors);
    if (steps !== undefined) this.optimizer.importState(optimizerPrefix, steps, tensors);
  }
}

/** A kind of reader: a line in `load-reader.ts`. */
export interface ReaderKind {
  /** Its row's name in tables, such as `NSM chains`. */
  title: string;
  /** The largest product of a step, computed on the host. */
  networkSize(settings: ReaderSettings, textDim: number): NetworkSize;
  /** Settings that contradict each other, a line each; false where they do not. */
  problems?(settings: ReaderSettings): (string | false)[];
  /** True where the number of relations is given. Default: with `reader.hops=given`. */
  hopsGiven?(settings: ReaderSettings): boolean;
  /**
   * Makes what must be known of train; notes what it reads by `madeFromSamples`.
   * @param train the only questions that a reader may learn from
   */
  basis(facts: ReaderFacts, train: readonly QuestionSample[], signal?: AbortSignal): Promise<ReaderBasis>;
  /** A reader with fresh weights, drawn by the seed. @throws WorkbenchError `data` for a basis of another kind or graph */
  create(facts: ReaderFacts, basis: ReaderBasis): Reader | Promise<Reader>;
}
