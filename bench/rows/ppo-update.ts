/**
 * PPO's update on one minibatch, forward, backward, clip and Adam, on shapes equal to the peer's: samples per second.
 *
 *     node dist/bench/rows/ppo-update.js [--backend auto] [--threads 1] [--seconds 4]
 *       [--batch 1024] [--state 576] [--hidden 400] [--actions 50] [--steps 16]
 *
 * By default 1,024 states of 576 numbers with 1 to 50 edges each (uniform) of 400 numbers, half by the relation (570 of them) and
 * half by the tail, of which none occurs twice. Actor 576→400→400→400 and critic 576→400→400→1 are the plain head's networks,
 * the step is the trainer's. What a featurizer makes, state vectors and edge lists, stands ready in memory, as the peer's
 * arrays do; the frozen vectors lie in their tables, where the peer's stand side by side. Two minibatches take turns.
 * `--threads` is for native TensorFlow.
 */
import { parseArgs } from 'node:util';
import type { Actor, ValueNetwork } from '../../trainers/actor.js';
import { valuesOf, valueStarts } from '../../agents/dialogue-walker/critic.js';
import { type Edges, frozenVectors } from '../../agents/dialogue-walker/heads/edge-scorers.js';
import { heldRows } from '../../agents/dialogue-walker/heads/batch-rows.js';
import { heldEdges, paMlpLogits, paMlpStarts } from '../../agents/dialogue-walker/heads/pa-mlp.js';
import { Rng } from '../../src/run/seeds.js';
import { AdamW } from '../../src/nn/adamw.js';
import { executorOf, openExecutor } from '../../src/nn/open-executor.js';
import { Parameters } from '../../src/nn/parameters.js';
import { Tape, type Taped } from '../../src/nn/tape.js';
import { normalizeAdvantages } from '../../trainers/advantages.js';
import { QueuedSteps } from '../../trainers/ppo-queued.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { ppoStep } from '../../trainers/ppo-step.js';
import { emitRate, repeatFor } from '../measure.js';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    backend: { type: 'string', default: 'auto' },
    threads: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '4' },
    batch: { type: 'string', default: '1024' },
    state: { type: 'string', default: '576' },
    hidden: { type: 'string', default: '400' },
    actions: { type: 'string', default: '50' },
    steps: { type: 'string', default: '16' },
  },
});
process.env.TF_NUM_INTRAOP_THREADS = values.threads;
process.env.TF_NUM_INTEROP_THREADS = '1';

const shape = {
  state: Number(values.state),
  hidden: Number(values.hidden),
  actions: Number(values.actions),
  batch: Number(values.batch),
};
const numRelations = 570;
const learning = { clipRange: 0.2, entropyCoef: 0.01, valueCoef: 0.5, klCoef: 0 };
const learningRate = 3e-4;
const { executor, name } = await openExecutor(executorOf(values.backend));
const rng = Rng.named(0, 'bench/ppo-update');
const half = shape.hidden / 2;
const entitiesEach = shape.batch * shape.actions;
const tables = {
  entities: normals(2 * entitiesEach * half, 1 / Math.sqrt(shape.hidden)),
  entityDim: half,
  relations: normals(numRelations * half, 1 / Math.sqrt(shape.hidden)),
  relationDim: half,
};

type Minibatch = ReturnType<typeof minibatch>;
/** A state of the minibatch whose turn it is. */
interface Request {
  task: { id: string };
  state: number;
}

const minibatches = [minibatch(0), minibatch(1)] as const;
let turn: Minibatch = minibatches[0];
const known = Array.from({ length: shape.batch }, (_, state): Request => ({ task: { id: String(state) }, state }));

const size = { stateDim: shape.state, width: shape.hidden };
const scorer = frozenVectors(tables);
const tape = new Tape(new Parameters(executor, paMlpStarts({ ...size, scorer }, 0)));
const criticTape = new Tape(new Parameters(executor, valueStarts(size, 0)));
const held = minibatches.map(() => executor.scope());
const heldValues = executor.scope();
const logitsOf = (states: Taped, edges: Edges) => tape.outputs([paMlpLogits(tape, states, scorer, edges)]);
const actor: Pick<Actor<never, Request>, 'parameters' | 'numScores' | 'score' | 'hold' | 'weightsChanged'> = {
  parameters: tape.parameters,
  numScores: ({ state }) => turn.offsets[state + 1]! - turn.offsets[state]!,
  score: () => {
    const { offsets, states, edges } = turn;
    const logits = () => {
      tape.begin();
      return logitsOf(tape.constant(states, shape.state), edges);
    };
    return { offsets, logits };
  },
  hold: () => {
    const all = minibatches.map(({ states, edges, offsets }, i) => {
      const scope = held[i]!;
      scope.begin();
      return { rows: heldRows(scope, states, shape.state), edges: heldEdges(scope, { ...edges, offsets }) };
    });
    return (states) => {
      tape.begin();
      const { rows, edges } = all[minibatches.indexOf(turn)]!;
      const { offsets, ...picked } = edges.of(tape, states);
      return { offsets, logits: () => logitsOf(tape.rows(rows, states), picked) };
    };
  },
  weightsChanged: () => {},
};
const valuesOn = (states: Taped) => criticTape.outputs([valuesOf(criticTape, states)]);
const valueNetwork: Pick<ValueNetwork<Request>, 'parameters' | 'values' | 'hold'> = {
  parameters: criticTape.parameters,
  values: () => {
    const { states } = turn;
    return () => {
      criticTape.begin();
      return valuesOn(criticTape.constant(states, shape.state));
    };
  },
  hold: () => {
    heldValues.begin();
    const all = minibatches.map(({ states }) => heldRows(heldValues, states, shape.state));
    return (states) => () => {
      criticTape.begin();
      return valuesOn(criticTape.rows(all[minibatches.indexOf(turn)]!, states));
    };
  },
};
const learner = {
  actor: actor as Actor<never, Request>,
  optimizer: new AdamW(tape.parameters, { maxGradNorm: 0.5 }),
  critic: {
    network: valueNetwork as ValueNetwork<Request>,
    optimizer: new AdamW(criticTape.parameters, { maxGradNorm: 0.5 }),
  },
};

const round = { states: known };
const settings = ppoSettings.parse(learning);
const next = () => {
  turn = turn === minibatches[0] ? minibatches[1] : minibatches[0];
  const { transitions } = turn;
  normalizeAdvantages(transitions.advantage, true);
  return { round, minibatch: { states: transitions.state, transitions }, reference: undefined };
};
/** On a device, rounds of so many steps. */
const stepsEach = Number(values.steps);
const one = async () => {
  await ppoStep(learner, next(), settings, learningRate);
  return shape.batch;
};
const many = async () => {
  const steps = new QueuedSteps(learner, settings, round);
  for (let step = 0; step < stepsEach; step++) steps.add(next(), learningRate);
  await steps.results();
  steps.close();
  return stepsEach * shape.batch;
};
const { count, spent } = await repeatFor(executor.queue ? many : one, Number(values.seconds), 4);
const threads = Number(values.threads);
emitRate({ variant: name, task: 'ppo-update', settings: shape, count, unit: 'samples/s', spent, threads });

function minibatch(which: number) {
  const numStates = shape.batch;
  const offsets = new Int32Array(numStates + 1);
  for (let s = 0; s < numStates; s++) offsets[s + 1] = offsets[s]! + 1 + rng.integer(shape.actions);
  const stateOf = new Int32Array(offsets[numStates]!);
  for (let s = 0; s < numStates; s++) stateOf.fill(s, offsets[s], offsets[s + 1]);
  return {
    offsets,
    states: normals(numStates * shape.state, 1),
    edges: {
      stateOf,
      actions: stateOf.map((state, i) => i - offsets[state]!),
      relations: stateOf.map(() => rng.integer(numRelations)),
      tails: stateOf.map((_, i) => which * entitiesEach + i),
    },
    transitions: {
      state: Int32Array.from(offsets.keys()).subarray(0, numStates),
      action: new Int32Array(numStates),
      oldLogProb: new Float32Array(numStates).fill(-3),
      oldValue: new Float32Array(numStates),
      advantage: normals(numStates, 1),
      returns: normals(numStates, 1),
    },
  };
}

function normals(length: number, deviation: number): Float32Array {
  const numbers = new Float32Array(length);
  for (let i = 0; i < length; i++) numbers[i] = rng.normal() * deviation;
  return numbers;
}
