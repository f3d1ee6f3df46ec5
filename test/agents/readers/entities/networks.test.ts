import { describe, expect, test } from '@jest/globals';
import { entityBatch, type EntityBatch, walkedBack } from '../../../../agents/readers/entities/entity-batch.js';
import { EntityTable } from '../../../../agents/readers/entities/entity-table.js';
import { answerRows, partsOf, topicsOf } from '../../../../agents/readers/entities/laid-questions.js';
import { readMemory } from '../../../../agents/readers/entities/kv-mem.js';
import { memoryBatch } from '../../../../agents/readers/entities/memory.js';
import { instructions, nsmStarts, reason } from '../../../../agents/readers/entities/nsm-network.js';
import { nsmTeacher } from '../../../../agents/readers/entities/nsm-teacher.js';
import { reachedShares } from '../../../../agents/readers/entities/reasoning.js';
import { disagreement, distance, shareLoss, tapedLoss } from '../../../../agents/readers/entities/share-loss.js';
import { contrast, uniKgqa, uniNetwork } from '../../../../agents/readers/entities/uni-kgqa.js';
import { wordBasis, wordInput, type WordInput } from '../../../../agents/readers/words/inputs.js';
import { maskedQuestion } from '../../../../datasets/question.js';
import { subgraphsOf } from '../../../../src/kg/subgraphs.js';
import { Rng } from '../../../../src/run/seeds.js';
import { type HostTaped, SimdParameters, SimdTape } from '../../../../src/nn/simd/tape.js';
import { differenceAt, expectClose } from '../../../fixtures/gradient-check.js';
import { tinyFacts, tinyFilms, tinyQuestions } from './tiny-films.js';
import { often } from '../../../fixtures/long-tests.js';

const hops = 2;
const subgraphs = subgraphsOf(tinyFilms, 13);
const samples = [0, 1, 12, 13].map((i) => tinyQuestions[i]!);
const tasks = samples.map(({ task }) => task);
const cut = tasks.map((task) => subgraphs.around(topicsOf(task)));
const batch = entityBatch(subgraphs, tasks, hops, cut);
const answers = samples.map(({ gold }, q) => answerRows(gold, batch, q));
const normals = (name: string, length: number) => {
  const rng = Rng.named(7, name);
  return Float32Array.from({ length }, () => rng.normal());
};

/** Compares the gradients of a loss with differences, on some numbers of each parameter. */
function checkGrads(parameters: SimdParameters, loss: () => number, back: () => void): void {
  parameters.grads.fill(0);
  loss();
  back();
  const rng = Rng.named(5, 'test/numbers-to-check');
  for (const name of parameters.names) {
    const values = parameters.value(name);
    for (let k = 0; k < often(2, 4); k++) {
      const i = rng.integer(values.length);
      const error = differenceAt(values, i, loss) - parameters.grad(name)[i]!;
      expect({ name, i, error }).toEqual({ name, i, error: expect.closeTo(0, 2) });
    }
  }
}

/** A network's loss on the answers, and its backward pass. */
function lossOf(parameters: SimdParameters, scores: (tape: SimdTape) => HostTaped, of: EntityBatch | typeof memory) {
  const tape = new SimdTape(parameters);
  let way = () => {};
  const loss = () => {
    tape.begin();
    const { values, backward } = tape.outputs([scores(tape)]);
    const one = shareLoss(values, of.bounds, of.candidates, answers, 1);
    way = () => backward(one.grad);
    return one.loss;
  };
  return { loss, back: () => way() };
}

const memory = memoryBatch(subgraphs, tasks, 20, cut);

describe('a batch of subgraphs', () => {
  test('has each fact once, under what it comes to and the relation that it comes by', () => {
    const { bounds, entities, rowOf, slotOf, offsets, from } = batch;
    const found = Array.from(rowOf, (row, run) =>
      Array.from(from.subarray(offsets[run], offsets[run + 1]), (source) => {
        const question = Math.floor(slotOf[run]! / subgraphs.numRelations);
        expect(row).toBeGreaterThanOrEqual(bounds[question]!);
        expect(row).toBeLessThan(bounds[question + 1]!);
        return [question, entities[source], slotOf[run]! % subgraphs.numRelations, entities[row]].join();
      }),
    ).flat();
    const expected = cut.flatMap((subgraph, q) =>
      Array.from(subgraph.entities, (head, index) =>
        Array.from({ length: subgraph.offsets[index + 1]! - subgraph.offsets[index]! }, (_, i) => {
          const edge = subgraph.offsets[index]! + i;
          return [q, head, subgraph.relations[edge], subgraph.entities[subgraph.tails[edge]!]].join();
        }),
      ).flat(),
    );
    expect(found.sort()).toEqual(expected.sort());
  });

  test('has the rows reached at each step, never the topic, and the weight of each kind', () => {
    const near = (places: Uint8Array) =>
      [...batch.entities].filter((_, row) => row < batch.bounds[1]! && places[row] === 1);
    // Film 0: by ann, war and music; then other films of theirs.
    const name = (entity: number) => tinyFilms.entityNames[entity];
    expect(near(batch.reached[0]!).map(name).sort()).toEqual(['ann', 'music', 'war']);
    expect(near(batch.reached[1]!).map(name).sort()).toEqual(['ann', 'film 3', 'film 4', 'music', 'war']);
    expect(batch.candidates).toBe(batch.reached[1]);
    const music = batch.entities.indexOf(tinyFilms.entityId('music'));
    const kinds = Array.from(batch.rowOf, (row, run) => [row, batch.kinds[run]!]).filter(([row]) => row === music);
    // Films 0 and 3, both by the relation genre; its loop counts nothing.
    expect(kinds.map(([, kind]) => kind)).toEqual([expect.closeTo(Math.log(3), 6), 0]);
  });

  test('is walked back over the same facts, by the relations of the way there, to the topic', () => {
    const back = walkedBack(batch, subgraphs.inverseOf, batch.initialWeights);
    const facts = ({ rowOf, offsets, from, slotOf }: EntityBatch, turned: boolean) =>
      Array.from(rowOf, (row, run) =>
        Array.from(from.subarray(offsets[run], offsets[run + 1]), (source) =>
          [turned ? row : source, slotOf[run], turned ? source : row].join(),
        ),
      )
        .flat()
        .sort();
    expect(facts(back, true)).toEqual(facts(batch, false));
    expect(
      [...batch.initialWeights.keys()].every((row) => batch.initialWeights[row] === 0 || back.candidates[row] === 1),
    ).toBe(true);
  });

  test('comes in parts of a bounded size, in one order for every order of the questions', () => {
    const parts = (of: typeof samples) =>
      [...partsOf(subgraphs, of, 20)].map((part) => part.samples.map(({ task }) => task.id));
    expect(parts(samples).every((part) => part.length === 1)).toBe(true);
    expect(parts([...samples].reverse())).toEqual(parts(samples));
    expect([...partsOf(subgraphs, samples, 1e6)]).toHaveLength(1);
  });
});

test('shares are a softmax over what is reached, zeros where nothing is, and the loss is their distance from the answers', () => {
  const parameters = new SimdParameters({ scores: { shape: [5, 1], data: Float32Array.of(1, 2, 3, 4, 5) } });
  const tape = new SimdTape(parameters);
  const bounds = Int32Array.of(0, 3, 5);
  const shares = reachedShares(tape, tape.parameter('scores', 1), bounds, Uint8Array.of(1, 0, 1, 0, 0));
  const first = 1 / (1 + Math.exp(2));
  expectClose(shares.values, [first, 0, 1 - first, 0, 0]);
  const { loss, grad, right } = shareLoss(
    parameters.value('scores'),
    bounds,
    Uint8Array.of(1, 0, 1, 0, 0),
    [[0, 1], [3]],
    0.5,
  );
  expect(loss).toBeCloseTo(-Math.log(first), 5);
  expect(right).toBeCloseTo(first, 6);
  expectClose(grad, [0.5 * (first - 1), 0, 0.5 * (1 - first), 0, 0]);
});

test('shares that differ disagree, by hand, and those that do not count do not', () => {
  const [p, q] = [Float32Array.of(0.5, 0.5, 1, 0), Float32Array.of(0.5, 0.5, 0, 1)];
  expect(disagreement(p, q, Uint8Array.of(1, 1, 0, 0), 1).loss).toBeCloseTo(0, 6);
  expect(disagreement(p, q, Uint8Array.of(0, 0, 1, 1), 3).loss).toBeCloseTo(3 * Math.log(2), 6);
  // What has no share is left out.
  const { loss, grads } = distance(Float32Array.of(0.25, 0.75, 0), Float32Array.of(0.5, 0.5, 0.3), 1);
  expect(loss).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 6);
  expectClose(grads[0]!, [-2, -2 / 3, 0]);
});

describe('NSM', () => {
  const facts = tinyFacts('nsm');
  const shape = { numRelations: subgraphs.numRelations, hops, dim: 12, wordWidth: 12 };
  const opened = async () => {
    const words = wordInput(facts, await wordBasis(facts, tinyQuestions));
    const parameters = new SimdParameters(nsmStarts(words, shape, (name) => Rng.named(1, name)));
    return { words, parameters };
  };
  const teacherOf = (form: 'parallel' | 'hybrid', words: WordInput) =>
    nsmTeacher(
      form,
      words,
      shape,
      subgraphs.inverseOf,
      (tape) => ({ asked: instructions(tape, words, texts, shape), textOf }),
      (name) => Rng.named(1, name),
    );
  const texts = ['who directed [E]', 'of which genre is [E]', 'which genres have the films that [E] made'];
  const textOf = Int32Array.of(0, 1, 2, 2);

  test('has the gradient that its loss has as gradients', async () => {
    const { words, parameters } = await opened();
    const scores = (tape: SimdTape) =>
      reason(tape, instructions(tape, words, texts, shape), textOf, batch, shape).scores;
    const { loss, back } = lossOf(parameters, scores, batch);
    checkGrads(parameters, loss, back);
  });

  test.each(['parallel', 'hybrid'] as const)(
    'as a %s teacher has the gradient that its losses have as gradients, and labels that are shares',
    async (form) => {
      const words = wordInput(facts, await wordBasis(facts, tinyQuestions));
      const teacher = teacherOf(form, words);
      const parameters = new SimdParameters(teacher.initialWeights);
      const tape = new SimdTape(parameters);
      let way = () => {};
      const lesson = { rng: Rng.named(1, 'unused'), answers };
      // Small gradients count as much as large ones.
      const weights = [1, 10, 100];
      const loss = () => {
        tape.begin();
        const { scores, more } = teacher.compute(tape, tasks, batch, lesson);
        const { values, backward } = tape.outputs([scores, ...more!]);
        const of = shareLoss(values.subarray(0, batch.entities.length), batch.bounds, batch.candidates, answers, 1);
        way = () => backward(Float32Array.of(...of.grad, ...weights.slice(1)));
        return values.subarray(batch.entities.length).reduce((sum, one, i) => sum + weights[i + 1]! * one, of.loss);
      };
      checkGrads(parameters, loss, () => way());
      tape.begin();
      const labels = teacher.labels(tape, tasks, batch, answers);
      expect(labels).toHaveLength(hops - 1);
      for (const q of tasks.keys()) {
        const ofQuestion = labels[0]!.subarray(batch.bounds[q], batch.bounds[q + 1]);
        expect(ofQuestion.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
      }
      const none = teacher.labels(tape, tasks, batch, [[], ...answers.slice(1)])[0]!;
      expect([...none.subarray(0, batch.bounds[1])].every((share) => share === 0)).toBe(true);
    },
  );

  test('learns from labels with the gradient of their distance', async () => {
    const { words, parameters } = await opened();
    const tape = new SimdTape(parameters);
    const labels = batch.initialWeights.map((_, row) => batch.reached[0]![row]! / 3);
    let way = () => {};
    const loss = () => {
      tape.begin();
      const { shares } = reason(tape, instructions(tape, words, texts, shape), textOf, batch, shape);
      const { values, backward } = tape.outputs([tapedLoss(tape, shares, distance(shares[0]!.values, labels, 2))]);
      way = () => backward(Float32Array.of(1));
      return values[0]!;
    };
    checkGrads(parameters, loss, () => way());
  });

  test('is the same as messages that are made fact by fact', async () => {
    const { words, parameters } = await opened();
    const tape = new SimdTape(parameters);
    const asked = instructions(tape, words, texts, shape);
    const instruction = asked.map(({ values }) => Float64Array.from(values));
    const got = Float64Array.from(reason(tape, asked, textOf, batch, shape).scores.values);
    const { dim, numRelations } = shape;
    const matrix = (name: string) => Float64Array.from(parameters.value(name));
    const times = (vector: readonly number[], weights: Float64Array, width: number) =>
      Array.from({ length: width }, (_, j) =>
        vector.reduce((sum, value, i) => sum + value * weights[i * width + j]!, 0),
      );
    const relation = Array.from({ length: numRelations }, (_, r) => [
      ...matrix('relation').subarray(r * dim, (r + 1) * dim),
    ]);
    const rows = Array.from(batch.entities.keys());
    // Facts as rows [from, relation, to] of the whole batch.
    const all = Array.from(batch.rowOf, (to, run) =>
      Array.from(batch.from.subarray(batch.offsets[run], batch.offsets[run + 1]), (from) => ({
        from,
        to,
        slot: batch.slotOf[run]!,
      })),
    ).flat();
    let states = rows.map((row) => {
      const sum = new Array<number>(dim).fill(0);
      for (let r = 0; r + 1 < numRelations; r++) {
        const count = all.filter(({ to, slot }) => to === row && slot % numRelations === r).length;
        times(relation[r]!, matrix('kind'), dim).forEach((value, k) => (sum[k]! += Math.log1p(count) * value));
      }
      return sum.map((value) => 1 / (1 + Math.exp(-value)));
    });
    let shares = [...batch.initialWeights];
    let scores: number[] = [];
    for (let k = 0; k < hops; k++) {
      const arrived = rows.map(() => new Array<number>(dim).fill(0));
      for (const { from, to, slot } of all) {
        const at = textOf[Math.floor(slot / numRelations)]! * dim;
        times(relation[slot % numRelations]!, matrix(`message.${k}`), dim).forEach(
          (value, i) => (arrived[to]![i]! += shares[from]! * Math.max(0, value * instruction[k]![at + i]!)),
        );
      }
      states = states.map((state, row) => {
        const own = times(state, matrix(`state.${k}`), dim);
        const come = times(arrived[row]!, matrix(`arrival.${k}`), dim);
        return own.map((value, i) => Math.max(0, value + come[i]! + matrix(`state.${k}.bias`)[i]!));
      });
      scores = states.map((state) => times(state, matrix('share'), 1)[0]!);
      shares = rows.map((row) => {
        const q = batch.bounds.findIndex((end) => row < end) - 1;
        const of = rows.filter((one) => one >= batch.bounds[q]! && one < batch.bounds[q + 1]!);
        const sum = of.reduce((total, one) => total + batch.reached[k]![one]! * Math.exp(scores[one]!), 0);
        return (batch.reached[k]![row]! * Math.exp(scores[row]!)) / sum;
      });
    }
    expectClose(got, scores, 1e-4);
  });
});

describe('UniKGQA', () => {
  test('has the gradient that its loss shows, with and without pretraining', async () => {
    const facts = tinyFacts('uni-kgqa');
    const vectors = normals('vectors', subgraphs.numRelations * facts.encoder.dim);
    const network = uniNetwork(facts, await uniKgqa.basis(facts, tinyQuestions), subgraphs, vectors);
    await network.prepare!(samples.map(({ task }) => maskedQuestion(task)));
    const parameters = new SimdParameters(network.initialWeights);
    const tape = new SimdTape(parameters);
    for (const pretraining of [samples, undefined]) {
      let way = () => {};
      const loss = () => {
        tape.begin();
        const lesson = { rng: Rng.named(1, 'dropout'), answers, pretraining };
        const { scores, more = [] } = network.compute(tape, tasks, batch, lesson);
        // The films' questions have chains of one relation.
        expect(more).toHaveLength(pretraining ? 1 : 0);
        const { values, backward } = tape.outputs([scores, ...more]);
        const of = shareLoss(values.subarray(0, batch.entities.length), batch.bounds, batch.candidates, answers, 1);
        way = () => backward(Float32Array.of(...of.grad, ...more.map(() => 1)));
        return values.subarray(batch.entities.length).reduce((sum, one) => sum + one, of.loss);
      };
      checkGrads(parameters, loss, () => way());
    }
  });

  test('is drawn to the relations of the best chains by a softmax of cosines', () => {
    const parameters = new SimdParameters({
      'message.0': { shape: [2, 2], data: Float32Array.of(1, 0, 0, 1) },
      'message.1': { shape: [2, 2], data: Float32Array.of(2, 0, 0, 2) },
    });
    const tape = new SimdTape(parameters);
    const relation = tape.constant(Float32Array.of(3, 0, 0, 5), 2);
    const asked = [tape.constant(Float32Array.of(2, 0, 0, 1), 2), tape.constant(Float32Array.of(1, 1, 4, 0), 2)];
    // The second text's two questions want relations 1 and then 0; the first has no chain.
    const losses = contrast(tape, relation, asked, Int32Array.of(0, 1, 1), [[], [1], [1, 0]], 0.5);
    const right = Math.log(1 + Math.exp(-2));
    expectClose(
      losses.map(({ values }) => values[0]!),
      [2 * right, right],
      1e-5,
    );
    expect(contrast(tape, relation, asked, Int32Array.of(0), [[]], 0.5)).toEqual([]);
  });
});

describe('KV-Mem', () => {
  const dim = 6;
  const table = new EntityTable(tinyFilms.numEntities, dim, 0.5, Rng.named(1, 'entities'));
  const names = ['hop.0', 'hop.1'];
  const matrix = (name: string) => normals(name, dim * dim).map((value) => value / 2);
  const square = (name: string) => ({ [name]: { shape: [dim, dim], data: matrix(name) } });
  const parts = {
    query: { shape: [4, dim], data: normals('query', 4 * dim) },
    relation: { shape: [6, dim], data: normals('relation', 6 * dim) },
    ...Object.assign({}, ...names.flatMap((name) => [square(name), square(`${name}.key`)])),
  } as Record<'query' | 'relation', { shape: number[]; data: Float32Array }>;
  const rows = Int32Array.from(memory.entities, (_, row) => memory.bounds.findIndex((end) => row < end) - 1);
  const indices = Int32Array.from(rows.keys());

  /** Two readings of the memory and the scores behind them. */
  const scores = (tape: SimdTape) => {
    const entities = table.rows(tape, memory.entities);
    const query = readMemory(tape, entities, tape.parameter('query', dim), names, memory);
    return tape.dots(entities, indices, query, rows);
  };

  test('reads what a softmax over facts and STOP says, fact by fact, until it stops', () => {
    const tape = new SimdTape(new SimdParameters(parts));
    const got = Float64Array.from(scores(tape).values);
    type Vector = readonly number[];
    const row = (place: number): Vector => {
      const entity = memory.entities[place];
      return entity === undefined
        ? new Array<number>(dim).fill(0)
        : [...table.values.subarray(entity * dim, (entity + 1) * dim)];
    };
    const plus = (a: Vector, b: Vector, weight = 1) => a.map((value, k) => value + weight * b[k]!);
    const dot = (a: Vector, b: Vector) => a.reduce((sum, value, k) => sum + value * b[k]!, 0);
    const times = (vector: Vector, name: string) =>
      vector.map((_, j) =>
        dot(
          vector,
          Array.from(vector, (__, i) => matrix(name)[i * dim + j]!),
        ),
      );
    const zero = new Array<number>(dim).fill(0);
    const expected = tasks.flatMap((_, q) => {
      const [begin, end] = [memory.offsets[q]!, memory.offsets[q + 1]!];
      const own = Array.from({ length: end - begin }, (__, i) => begin + i);
      const keys = own.map((fact) => {
        const relation = memory.relations[fact]!;
        return plus(row(memory.heads[fact]!), [...parts.relation.data.subarray(relation * dim, (relation + 1) * dim)]);
      });
      let query: Vector = [...parts.query.data.subarray(q * dim, (q + 1) * dim)];
      let [stopped, going]: [Vector, number] = [zero, 1];
      for (const name of names) {
        const weights = keys.map((key) => Math.exp(dot(key, query)));
        const shares = weights.map((weight) => weight / weights.reduce((a, b) => a + b, 0));
        stopped = plus(stopped, query, going * shares.at(-1)!);
        going *= 1 - shares.at(-1)!;
        const value = own.reduce<Vector>((sum, fact, i) => plus(sum, row(memory.tails[fact]!), shares[i]), zero);
        const key = keys.reduce<Vector>((sum, one, i) => plus(sum, one, shares[i]), zero);
        query = plus(times(plus(query, value), name), times(key, `${name}.key`));
      }
      const last = plus(stopped, query, going);
      return [...indices].filter((place) => rows[place] === q).map((place) => dot(last, row(place)));
    });
    expectClose(got, expected, 1e-3);
  });

  test('stays what it is once STOP is read', () => {
    const stop = normals('query', 4 * dim).subarray(0, dim);
    const data = parts.relation.data.slice();
    // So large along the first question that nothing else is read.
    data.set(
      stop.map((value) => 1e3 * value),
      5 * dim,
    );
    const tape = new SimdTape(new SimdParameters({ ...parts, relation: { shape: [6, dim], data } }));
    const entities = table.rows(tape, memory.entities);
    const { values } = readMemory(tape, entities, tape.parameter('query', dim), names, memory);
    expectClose(values.subarray(0, dim), stop, 1e-5);
  });

  test('has the gradient that its loss has as gradients, of rows of entities too', () => {
    const parameters = new SimdParameters(parts);
    const { loss, back } = lossOf(parameters, scores, memory);
    checkGrads(parameters, loss, back);
    table.clear();
    loss();
    back();
    // Adagrad keeps g² of its first step, which goes down the gradient.
    const before = table.values.slice();
    const picked = [...new Set(memory.entities)].flatMap((entity) => [entity * dim, entity * dim + 3]);
    const grads = picked.map((i) => differenceAt(table.values, i, loss));
    table.move(0.1);
    const squares = table.tensors()['optimizer/squares/entities']!.data as Float32Array;
    picked.forEach((i, at) => {
      const gradient = Math.sqrt(squares[i]!) * Math.sign(before[i]! - table.values[i]!);
      expect(gradient).toBeCloseTo(grads[at]!, 2);
    });
    expect(Math.max(...grads.map(Math.abs))).toBeGreaterThan(0.1);
  });
});
