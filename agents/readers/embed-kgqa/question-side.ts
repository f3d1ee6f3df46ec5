/**
 * Question network of EmbedKGQA: the vector of a new relation and, with relation matching, the logit of each relation on the
 * path.
 *
 *   e = W₃·relu(W₂·relu(W₁·x + b₁) + b₂) + b₃ [dim],   m = M·x + b [relations]
 *
 * @source Saxena et al. 2020, "Improving multi-hop question answering over knowledge graphs using knowledge base embeddings",
 * sections 4.3 and 4.4; there an LSTM or RoBERTa reads, here a frozen sentence vector is read
 */
import type { Arena } from '../../../src/simd/arena.js';
import type { Kernels } from '../../../src/simd/kernels.js';
import { Rng } from '../../../src/run/seeds.js';
import { type HostOutputs, HostParameters } from '../../../src/tensor/host/host-parameters.js';
import { HostProducts } from '../../../src/tensor/host/host-products.js';
import { type HostTensor, uniformFanIn } from '../../../src/tensor/parameters.js';

/** Shape of the network. */
export interface QuestionSideShape {
  /** Numbers of a question's vector. */
  inputs: number;
  /** Units of each hidden layer. */
  width: number;
  /** Numbers of a row of the table. */
  dim: number;
  /** Relations that are matched; 0 matches none. */
  matched: number;
}

/** The network and its weights. */
export interface QuestionSide {
  readonly shape: QuestionSideShape;
  readonly parameters: HostParameters;
  /**
   * @param questions float32 [count, inputs]
   * @returns values float32 [count · dim + count · matched]: all relation vectors, then the logits of relations
   */
  outputs(questions: Float32Array, count: number): HostOutputs;
}

/** @param seed of the start; without it weights are zeros, for those that are loaded */
export function questionSide(shape: QuestionSideShape, arena: Arena, kernels: Kernels, seed?: number): QuestionSide {
  const { inputs, width, dim, matched } = shape;
  const layers = [
    ['question.1', inputs, width],
    ['question.2', width, width],
    ['question.out', width, dim],
    ...(matched > 0 ? [['match', inputs, matched] as const] : []),
  ] as const;
  const started: Record<string, HostTensor> = {};
  for (const [name, rows, columns] of layers) {
    const start = (part: string, count: number) =>
      seed === undefined ? new Float32Array(count) : uniformFanIn(Rng.named(seed, `embed-kgqa/${part}`), rows, count);
    started[name] = { shape: [rows, columns], data: start(name, rows * columns) };
    started[`${name}.bias`] = { shape: [columns], data: start(`${name}.bias`, columns) };
  }
  const parameters = new HostParameters(started, arena, kernels);
  const products = new HostProducts(arena, kernels);
  const value = (name: string) => parameters.value(name);
  const grad = (name: string) => parameters.grad(name);

  return {
    shape,
    parameters,
    outputs(questions, count) {
      const input = products.copied('input', questions.subarray(0, count * inputs));
      const first = products.floats('first', count * width);
      const second = products.floats('second', count * width);
      const values = products.floats('values', count * (dim + matched));
      const vectors = values.subarray(0, count * dim);
      products.biased(input, count, inputs, value('question.1'), value('question.1.bias'), first);
      kernels.reluAll(first.byteOffset, first.length);
      products.biased(first, count, width, value('question.2'), value('question.2.bias'), second);
      kernels.reluAll(second.byteOffset, second.length);
      products.biased(second, count, width, value('question.out'), value('question.out.bias'), vectors);
      if (matched > 0) {
        products.biased(input, count, inputs, value('match'), value('match.bias'), values.subarray(count * dim));
      }
      return { values, back: (grads) => back(input, first, second, grads, count) };
    },
  };

  function back(
    input: Float32Array,
    first: Float32Array,
    second: Float32Array,
    grads: Float32Array,
    count: number,
  ): void {
    const ofVectors = products.copied('of vectors', grads.subarray(0, count * dim));
    const ofSecond = products.floats('of second', count * width);
    const ofFirst = products.floats('of first', count * width);
    const layer = (name: string, below: Float32Array, rows: number, above: Float32Array, columns: number) => {
      products.weights(below, count, rows, above, columns, grad(name));
      products.bias(above, count, grad(`${name}.bias`));
    };
    layer('question.out', second, width, ofVectors, dim);
    products.back(ofVectors, count, dim, value('question.out'), width, ofSecond);
    kernels.reluGrad(ofSecond.byteOffset, second.byteOffset, ofSecond.length);
    layer('question.2', first, width, ofSecond, width);
    products.back(ofSecond, count, width, value('question.2'), width, ofFirst);
    kernels.reluGrad(ofFirst.byteOffset, first.byteOffset, ofFirst.length);
    layer('question.1', input, inputs, ofFirst, width);
    if (matched > 0) layer('match', input, inputs, products.copied('of match', grads.subarray(count * dim)), matched);
  }
}
