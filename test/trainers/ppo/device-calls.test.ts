/** Calls of PPO's update to a device, counted on Dawn's null backend, which makes all of them and computes nothing. */
import { expect, test } from '@jest/globals';
import type { Actor, ValueNetwork } from '../../../trainers/actor.js';
import { valuesOf, valueStarts } from '../../../agents/dialogue-walker/critic.js';
import { frozenVectors } from '../../../agents/dialogue-walker/heads/edge-scorers.js';
import { heldRows } from '../../../agents/dialogue-walker/heads/batch-rows.js';
import { heldEdges, paMlpLogits, paMlpStarts } from '../../../agents/dialogue-walker/heads/pa-mlp.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { Parameters } from '../../../src/nn/parameters.js';
import { Tape } from '../../../src/nn/tape.js';
import { openDevice } from '../../../src/nn/webgpu/device.js';
import { WebGpuExecutor } from '../../../src/nn/webgpu/executor.js';
import { ppoSettings } from '../../../trainers/ppo-settings.js';
import { QueuedSteps } from '../../../trainers/ppo-queued.js';

/** LLM-ARK's minibatch over OpenDialKG. */
const shape = { states: 440, edgesEach: 410, inputs: 576, width: 400, entities: 10_033, relations: 570 };

interface Request {
  task: { id: string };
}

async function learnerOn(executor: WebGpuExecutor) {
  const { states, edgesEach, inputs, width } = shape;
  const scorer = frozenVectors({
    ...{ entities: new Float32Array((shape.entities * width) / 2), entityDim: width / 2 },
    ...{ relations: new Float32Array((shape.relations * width) / 2), relationDim: width / 2 },
  });
  const starts = { stateDim: inputs, width };
  const [tape, criticTape] = [paMlpStarts({ ...starts, scorer }), valueStarts({ ...starts, kind: 'plain' }, 0)].map(
    (initial) => new Tape(new Parameters(executor, initial)),
  ) as [Tape, Tape];
  const rows = new Float32Array(states * inputs);
  const count = states * edgesEach;
  const edges = {
    offsets: Int32Array.from({ length: states + 1 }, (_, i) => i * edgesEach),
    relations: Int32Array.from({ length: count }, (_, i) => i % shape.relations),
    tails: Int32Array.from({ length: count }, (_, i) => (i * 7) % shape.entities),
  };
  const [held, ofCritic] = [executor.scope(), executor.scope()];
  const actor = {
    parameters: tape.parameters,
    numScores: () => edgesEach,
    hold: () => {
      held.begin();
      const [all, ofStates] = [heldRows(held, rows, inputs), heldEdges(held, edges)];
      return (chosen: Int32Array) => {
        tape.begin();
        const { offsets, ...picked } = ofStates.of(tape, chosen);
        return { offsets, logits: () => tape.outputs([paMlpLogits(tape, tape.rows(all, chosen), scorer, picked)]) };
      };
    },
    maxScoresPerBatch: 2 ** 20,
    weightsChanged: () => {},
  } as unknown as Actor<never, Request>;
  const network = {
    parameters: criticTape.parameters,
    hold: () => {
      ofCritic.begin();
      const all = heldRows(ofCritic, rows, inputs);
      return (chosen: Int32Array) => () => {
        criticTape.begin();
        return criticTape.outputs([valuesOf(criticTape, criticTape.rows(all, chosen))]);
      };
    },
  } as unknown as ValueNetwork<Request>;
  const optimizerOf = (of: Tape) => new AdamW(of.parameters, { maxGradNorm: 0.5 });
  return { actor, optimizer: optimizerOf(tape), critic: { network, optimizer: optimizerOf(criticTape) } };
}

test('a minibatch is few dispatches; an epoch is a submit, a round a read and one copy of its states', async () => {
  const device = await openDevice('backend=null');
  const learner = await learnerOn(new WebGpuExecutor(device));
  const { states, edgesEach, inputs } = shape;
  const round = { states: Array.from({ length: states }, (_, i): Request => ({ task: { id: `${i}` } })) };
  const chosen = Int32Array.from({ length: states }, (_, i) => i);
  const ones = new Float32Array(states).fill(1);
  const transitions = {
    ...{ state: chosen, action: new Int32Array(states), oldLogProb: ones, oldValue: ones },
    ...{ advantage: ones, returns: ones },
  };
  const minibatch = { states: chosen, transitions };
  /** Calls of a round of so many epochs, of five minibatches each. */
  const callsOf = async (epochs: number) => {
    const before = { ...device.calls };
    const steps = new QueuedSteps(learner, ppoSettings.parse({}), round);
    for (let epoch = 0; epoch < epochs; epoch++) {
      for (let i = 0; i < 5; i++) steps.add({ round, minibatch, reference: undefined }, 1e-3);
      steps.submit();
    }
    // Numbers that were not computed may be no losses.
    await steps.results().catch(() => {});
    steps.close();
    return Object.fromEntries(
      Object.entries(device.calls).map(([name, count]) => [name, count - before[name as keyof typeof before]]),
    );
  };
  // Memory grows in the first.
  await callsOf(4);
  const [two, four] = [await callsOf(2), await callsOf(4)];
  expect(two).toMatchObject({ submits: 3, reads: 1 });
  expect(four).toMatchObject({ submits: 5, reads: 1 });
  expect((four.dispatches! - two.dispatches!) / 10).toBeLessThanOrEqual(30);
  // Of each minibatch the numbers of its states and what their transitions are: nothing of 180,400 edges or of 576 numbers a state.
  const ofMinibatch = (four.bytesUp! - two.bytesUp!) / 10;
  expect(ofMinibatch).toBeLessThan(4 * 16 * states);
  expect(two.bytesUp! - 10 * ofMinibatch).toBeLessThan(1.1 * 4 * states * (2 * inputs + 2 * edgesEach));
});
