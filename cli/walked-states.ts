/** Number of states that the walks of a run may reach, computed from degrees, without walking. */
import type { WalkSample } from '../datasets/walk-sample.js';
import type { RunSettings } from '../presets/index.js';
import type { Graph } from '../src/kg/graph.js';
import { sampled } from '../src/run/seeds.js';
import type { PlannedWalks } from '../tasks/task.js';

/** States after the first ones of tasks; each is one of its task, so tasks share none. */
export interface LaterStates {
  /** All reachable ones. */
  reachable: number;
  /** Upper bounds of those visited in training, and on valid. */
  training: number;
  valid: number;
  /** Upper bound of the batches in which a task's walks visit some of them. */
  visits: number;
}

/**
 * float64 [numEntities]: number of paths of 1 to `horizon` - 1 edges from each entity. Each path is a separate state with
 * another action; stays end a walk and add none.
 */
export function laterPaths(graph: Graph, horizon: number): Float64Array {
  const { numEntities, offsets, tails } = graph;
  const total = new Float64Array(numEntities);
  let longer = new Float64Array(numEntities).fill(1);
  for (let edges = 1; edges < horizon; edges++) {
    const paths = new Float64Array(numEntities);
    for (let head = 0; head < numEntities; head++) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) paths[head]! += longer[tails[edge]!]!;
      total[head]! += paths[head]!;
    }
    longer = paths;
  }
  return total;
}

/** Counts with every pass made, and with walks and beams that never meet: a run that ends early, or is sure of itself, meets fewer. */
export function laterStates({ graph, train, valid }: PlannedWalks, settings: RunSettings): LaterStates {
  const { env, clone, ppo, evaluation } = settings;
  const paths = laterPaths(graph, env.horizon);
  const later = ({ task }: WalkSample) => paths[task.start] ?? 0;
  const sum = (samples: readonly WalkSample[], met: (sample: WalkSample) => number) =>
    samples.reduce((total, sample) => total + Math.min(later(sample), met(sample)), 0);

  const walked = ppo.enabled && ppo.gradient === 'sampled' ? ppo.updates * ppo.samplesPerUpdate : 0;
  const golds = clone.enabled || (ppo.enabled && ppo.gradient === 'exact') ? env.horizon - 1 : 0;
  const walks = Math.ceil(walked / Math.max(1, train.length)) * ppo.explorations;
  const perTask = golds + walks * ((ppo.trainHorizon ?? env.horizon) - 1);

  const curve = (ppo.enabled ? Math.ceil(ppo.updates / ppo.evalEvery) : 0) + (clone.enabled ? clone.epochs : 0);
  const often = new Set(sampled(valid, ppo.evalSamples ?? Infinity, 'train/eval-samples'));
  const beam = evaluation.beamWidth * (env.horizon - 1);
  return {
    reachable: sum([...train, ...valid], () => Infinity),
    training: sum(train, () => perTask),
    valid: sum(valid, (sample) => golds + beam * (often.has(sample) ? curve + 1 : 1)),
    visits: walked + (golds > 0 ? train.length : 0) + curve * often.size + valid.length,
  };
}
