/**
 * Question network of EmbedKGQA: the vector of a new relation and, with relation matching, the logit of each relation on the
 * path.
 *
 *   e = W₃·relu(W₂·relu(W₁·x + b₁) + b₂) + b₃ [dim],   m = M·x + b [relations]
 *
 * @source Saxena et al. 2020, "Improving multi-hop question answering over knowledge graphs using knowledge base embeddings",
 * sections 4.3 and 4.4; there an LSTM or RoBERTa reads, here a frozen sentence vector is read
 */
import { Rng } from '../../../src/run/seeds.js';
import type { HostOutputs } from '../../../src/nn/simd/tape.js';
import { TrainState } from '../reader.js';
import { denseStarts } from '../words/inputs.js';
import type { SimdExecutor } from '../../../src/nn/simd/executor.js';

interface QuestionSideShape {
  /** Numbers of a question's vector. */
  inputs: number;
  /** Units of each hidden layer. */
  width: number;
  /** Numbers of a row of the table. */
  dim: number;
  /** Relations that are matched; 0 matches none. */
  matched: number;
}

/** The network and its optimizer, in the arena of the table. */
export class QuestionSide extends TrainState {
  constructor(
    readonly shape: QuestionSideShape,
    seed: number,
    maxGradNorm: number,
    executor: SimdExecutor,
  ) {
    const { inputs, width, dim, matched } = shape;
    const rngOf = (name: string) => Rng.named(seed, `embed-kgqa/${name}`);
    const initialWeights = {
      ...denseStarts('question.1', inputs, width, rngOf),
      ...denseStarts('question.2', width, width, rngOf),
      ...denseStarts('question.out', width, dim, rngOf),
      ...(matched > 0 && denseStarts('match', inputs, matched, rngOf)),
    };
    super(initialWeights, maxGradNorm, executor);
  }

  /**
   * @param questions float32 [count, inputs]
   * @returns values float32 [count · dim + count · matched]: all relation vectors, then the logits of relations
   */
  outputs(questions: Float32Array): HostOutputs {
    const { tape } = this;
    const { inputs, width, dim, matched } = this.shape;
    tape.begin();
    const question = tape.constant(questions, inputs);
    const first = tape.dense(question, 'question.1', width, undefined, 'relu');
    const second = tape.dense(first, 'question.2', width, undefined, 'relu');
    const vectors = tape.dense(second, 'question.out', dim);
    return tape.outputs(matched > 0 ? [vectors, tape.dense(question, 'match', matched)] : [vectors]);
  }
}
