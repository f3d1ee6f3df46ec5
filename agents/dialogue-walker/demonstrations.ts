/** Gold walks of dialogues as demonstrations for cloning, state by state. */
import { madeFromSamples } from '../../datasets/sample-source.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { numActions, stepsAlong, type WalkRules, type WalkState } from '../../envs/dialogue-walk/rules.js';
import type { Graph } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import type { Gold, ShownWalks } from '../../trainers/clone.js';
import type { CloneSettings } from '../../trainers/clone-settings.js';
import type { FeaturizerParts, StateRequest } from './features/featurizer.js';

/** State of a gold walk. */
export interface GoldState extends StateRequest, Gold {
  state: WalkState;
}

/** All states of one gold walk. */
export interface GoldWalk {
  states: GoldState[];
  /** Edges of the gold path. */
  hops: number;
}

type ShownGoldSettings = Pick<CloneSettings, 'maxCandidates' | 'twoHopWeight'> &
  Partial<Pick<CloneSettings, 'linkedTurns' | 'loss'>> & {
    /** Lists only the gold action, for a network that normalises over more than any list. Default false. */
    goldOnly?: boolean;
  };

/** Gold walks of train and valid; the actions of hubs in train are sampled again at every step. */
export function shownGolds(
  { graph, rules }: Pick<FeaturizerParts, 'graph' | 'rules'>,
  samples: Record<'train' | 'valid', readonly WalkSample[]>,
  { maxCandidates, twoHopWeight, linkedTurns, loss, goldOnly = false }: ShownGoldSettings,
  seed: number,
): Record<'train' | 'valid', ShownWalks<StateRequest>> {
  const shown = (walks: readonly GoldWalk[]): ShownWalks<StateRequest> => ({
    count: walks.length,
    atOnce: 64,
    // Lists are short, and dropout draws run through all of them in order.
    maxScoresPerBatch: Infinity,
    states: (indices, step) => {
      const chosen = Array.from(indices, (index) => walks[index]!);
      let golds = chosen.flatMap(({ states }) => states);
      if (goldOnly) golds = golds.map((gold) => ({ ...gold, actions: Int32Array.of(gold.gold), gold: 0 }));
      else if (step !== undefined) {
        const rng = Rng.named(seed, 'clone/candidates', step);
        golds = golds.map((gold) => sampleCandidates(gold, graph, rules, maxCandidates, rng));
      }
      const weights = chosen.flatMap(({ states, hops }) => {
        const ofTurn = states[0]!.task.linked ? (linkedTurns?.weight ?? 1) : 1;
        return states.map(() => (hops > 1 ? twoHopWeight : 1) * ofTurn);
      });
      return { requests: golds, golds, weights };
    },
  });
  const train = goldWalks(samples.train, graph, rules, madeFromSamples('training', 'cloning'));
  if (loss === 'nodes') for (const walk of train) walk.states = walk.states.map((gold) => withNode(gold, graph, rules));
  return {
    train: shown(train),
    valid: shown(goldWalks(samples.valid, graph, rules, madeFromSamples('choice', 'loss after an epoch'))),
  };
}

/** Gold walks of all samples that have one in the graph. @param note called for each of them, with `madeFromSamples` of their purpose */
export function goldWalks(
  samples: readonly WalkSample[],
  graph: Graph,
  rules: WalkRules,
  note?: (sample: WalkSample) => void,
): GoldWalk[] {
  return samples.flatMap((sample) => {
    const states = goldStates(sample, graph, rules);
    if (states.length === 0) return [];
    note?.(sample);
    return [{ states, hops: sample.gold.path.length }];
  });
}

/**
 * One state per hop up to the horizon: shorter gold walks stay at their end. Empty if the gold is not in the graph or
 * longer than the horizon.
 */
export function goldStates({ task, gold }: WalkSample, graph: Graph, rules: WalkRules): GoldState[] {
  const steps = stepsAlong(graph, task.start, gold.path, rules) ?? [];
  return steps.map(({ state, action }) => ({ task, state, gold: action, recurs: true }));
}

/** Every legal action with the gold action's target counts as gold: parallel relations, and loops as well as staying. */
export function withNode(gold: GoldState, graph: Graph, rules: WalkRules): GoldState {
  const { current } = gold.state;
  const [begin, degree] = [graph.offsets[current]!, graph.degree(current)];
  const tailOf = (action: number) => (action < degree ? graph.tails[begin + action]! : current);
  const node = tailOf(gold.gold);
  const all = Int32Array.from({ length: numActions(graph, gold.state, rules) }, (_, i) => i);
  return { ...gold, alike: all.filter((action) => tailOf(action) === node) };
}

/**
 * Lists at most `maxCandidates` actions of a state: the gold one, the equally good ones, staying, and a uniform sample
 * of the others, each representing an equal share of the omitted ones (sampled softmax with a uniform proposal). The
 * list is longer if the equally good actions alone reach the limit: all of them are listed, and one of the others.
 */
export function sampleCandidates(
  gold: GoldState,
  graph: Graph,
  rules: WalkRules,
  maxCandidates: number,
  rng: Rng,
): GoldState {
  const count = numActions(graph, gold.state, rules);
  const degree = graph.degree(gold.state.current);
  const always = new Set([gold.gold, ...(gold.alike ?? []), ...(count > degree ? [degree] : [])]);
  // Drawn actions represent the omitted ones, regardless of the number of obligatory ones.
  const most = gold.alike ? Math.max(maxCandidates, always.size + 1) : maxCandidates;
  if (count <= most) return gold;
  const others = count - always.size;
  const drawn = new Set<number>(always);
  while (drawn.size < most) drawn.add(rng.integer(count));
  const actions = Int32Array.from(drawn).sort();
  const weight = Math.log(others / (most - always.size));
  return {
    ...gold,
    actions,
    gold: actions.indexOf(gold.gold),
    ...(gold.alike && { alike: gold.alike.map((action) => actions.indexOf(action)) }),
    logWeights: Float32Array.from(actions, (action) => (always.has(action) ? 0 : weight)),
  };
}
