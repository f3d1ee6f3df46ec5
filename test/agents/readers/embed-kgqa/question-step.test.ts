import { describe, expect, test } from '@jest/globals';
import { freshBilinear } from '../../../../agents/embeddings/bilinear-step.js';
import { memory } from '../../../../agents/readers/embed-kgqa/fitted-table.js';
import { QuestionSide } from '../../../../agents/readers/embed-kgqa/question-side.js';
import { type AskedBatch, QuestionStep } from '../../../../agents/readers/embed-kgqa/question-step.js';
import { composeQuery } from '../../../../src/embedding/bilinear.js';
import { Rng } from '../../../../src/run/seeds.js';
import { differenceAt } from '../../../fixtures/gradient-check.js';

const numEntities = 9;
const shape = { inputs: 5, width: 6, dim: 8, matched: 3 };

/** Three questions over a small table of numbers large enough for differences in float32. */
function world(negatives: number) {
  const room = memory();
  const weights = room.arena.hold(
    freshBilinear({ model: 'complex', dim: shape.dim }, { numEntities, numRelations: 4, seed: 2 }),
  );
  weights.table.entities.forEach((value, i) => (weights.table.entities[i] = 10 * value));
  const network = new QuestionSide(shape, 3, Infinity, room);
  const rng = Rng.named(4, 'questions');
  const batch: AskedBatch = {
    vectors: Float32Array.from({ length: 3 * shape.inputs }, () => rng.normal()),
    topics: [0, 5, 0],
    answers: [[1, 2], [3], [8, 0, 4]],
    relations: [Float32Array.of(1, 0, 0.5), Float32Array.of(0, 0, 1), Float32Array.of(0.25, 1, 0)],
  };
  return { weights, network, batch, step: new QuestionStep(weights, network, negatives) };
}

/** The loss as it is defined, against all entities, in float64. */
function lossOf({
  weights: { table },
  network,
  batch,
}: Pick<ReturnType<typeof world>, 'weights' | 'network' | 'batch'>) {
  const values = network.outputs(batch.vectors).values;
  let ranking = 0;
  let matching = 0;
  batch.topics.forEach((topic, i) => {
    const query = new Float64Array(shape.dim);
    composeQuery({ ...table, relations: values }, topic, i, query, 0);
    const scores = Array.from({ length: numEntities }, (_, entity) =>
      query.reduce((sum, value, k) => sum + value * table.entities[entity * shape.dim + k]!, 0),
    );
    const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    const answers = batch.answers[i]!;
    for (const answer of answers) ranking += (total - scores[answer]!) / answers.length / 3;
    batch.relations[i]!.forEach((wanted, r) => {
      const likely = 1 / (1 + Math.exp(-values[3 * shape.dim + i * shape.matched + r]!));
      matching -= (wanted * Math.log(likely) + (1 - wanted) * Math.log(1 - likely)) / 3;
    });
  });
  return { ranking, matching };
}

describe('a step on questions', () => {
  test('has the loss as defined and its gradient, of network and table', async () => {
    // So many draws name every entity.
    const { weights, network, batch, step } = world(2000);
    const wanted = lossOf({ weights, network, batch });
    const before = weights.table.entities.slice();
    const total = () => {
      const { ranking, matching } = lossOf({ weights, network, batch });
      return ranking + matching;
    };
    const grads = network.parameters.values.map((_, i) => differenceAt(network.parameters.values, i, total, 1 / 128));
    const rows = before.map((_, i) => differenceAt(weights.table.entities, i, total, 1 / 128));
    const figures = await step.train(batch, { network: 0, table: 0.01 }, Rng.named(0, 'draws'));
    expect(figures.ranking).toBeCloseTo(wanted.ranking, 5);
    expect(figures.matching).toBeCloseTo(wanted.matching, 5);
    expect(figures.gradNorm).toBeCloseTo(Math.hypot(...network.parameters.grads), 5);
    network.parameters.grads.forEach((grad, i) => expect(grad).toBeCloseTo(grads[i]!, 3));
    // Adagrad's first squares are those of the gradient: it is read there, with the sign of the move.
    before.forEach((value, i) => {
      const gradient = Math.sqrt(weights.entitySquares[i]!) * Math.sign(value - weights.table.entities[i]!);
      expect(gradient).toBeCloseTo(rows[i]!, 3);
    });
  });

  test('moves rows of answers, topics and drawn entities alone', async () => {
    const { weights, batch, step } = world(1);
    const before = weights.table.entities.slice();
    const rng = Rng.named(7, 'draws');
    const drawn = Rng.named(7, 'draws').integer(numEntities);
    await step.train(batch, { network: 0.001, table: 0.1 }, rng);
    const named = new Set([...batch.answers.flat(), ...batch.topics, drawn]);
    expect(named.size).toBeLessThan(numEntities);
    for (let entity = 0; entity < numEntities; entity++) {
      const row = (values: Float32Array) => [...values.subarray(entity * shape.dim, (entity + 1) * shape.dim)];
      const same = row(before).join() === row(weights.table.entities).join();
      expect({ entity, same }).toEqual({ entity, same: !named.has(entity) });
    }
  });

  test('moves nothing where the loss is not finite', async () => {
    const { weights, network, batch, step } = world(3);
    network.parameters.value('question.out')[0] = Infinity;
    const before = [weights.table.entities.slice(), network.parameters.values.slice()];
    await expect(step.train(batch, { network: 0.1, table: 0.1 }, Rng.named(1, 'draws'))).rejects.toThrow(/finite/);
    expect([weights.table.entities, network.parameters.values]).toEqual(before);
  });
});
