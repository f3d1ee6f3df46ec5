/** Beam search over decoder outputs, a relation and then an entity; walks may leave the graph. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import { initialState, mayStay, type WalkState } from '../../envs/dialogue-walk/rules.js';
import type { Path } from '../../src/kg/graph.js';
import type { RankedAnswer, RankedPath } from '../agent.js';
import { boundedHeap } from '../bounded-heap.js';
import { mix, type Ranking, type RankingSettings, saltOf } from '../top-paths.js';
import type { WalkScorer } from './policy.js';

/** Most log-probabilities of entities that are held at once, unless those after one relation are more. */
const numbersAtOnce = 2 ** 23;

type Walk = { state: WalkState; logProb: number };

type TaskWalks = { task: WalkTask; salt: number; live: Walk[]; complete: RankedPath[] };

/**
 * Ranks walks of several tasks at once. At each step the `beamWidth` best walks that have written a relation write an entity, and the best
 * of these continue; staying ends a walk. The edges need not be in the graph. Equal probabilities are ordered by a hash.
 */
export async function freeBeam(
  { graph, rules, writer }: Pick<WalkScorer, 'graph' | 'rules'> & Required<Pick<WalkScorer, 'writer'>>,
  tasks: readonly WalkTask[],
  ranking: RankingSettings,
): Promise<Ranking[]> {
  const { numEntities, equalRelation } = graph;
  const { beamWidth, seed = 0 } = ranking;
  const choices = graph.numRelations + 1;
  const best = boundedHeap(beamWidth);
  const all = tasks.map((task): TaskWalks => {
    const state = initialState(graph, task.start, rules);
    return { task, salt: saltOf(seed, task.id), live: state.done ? [] : [{ state, logProb: 0 }], complete: [] };
  });
  for (let hop = 0; hop < rules.horizon; hop++) {
    const states = all.flatMap(({ task, live }) => live.map(({ state }) => ({ task, state, actions: noActions })));
    if (states.length === 0) break;
    const batch = writer.batch(states);
    const ofRelations = await writer.relations(batch);
    let index = 0;
    /** Relations written by each task: index of the live walk, and the relation. */
    const written = all.map(({ salt, live, complete }) => {
      const begin = index;
      live.forEach(({ state, logProb }, i) => {
        const row = ofRelations.subarray(index * choices, ++index * choices);
        if (mayStay(state, rules)) complete.push({ path: state.path, logProb: logProb + row[equalRelation]! });
        for (let relation = 0; relation < equalRelation; relation++) {
          const score = logProb + row[relation]!;
          best.offer(score, mix(mix(salt, i), relation), begin + i, relation, score);
        }
      });
      return best.drain().map(({ a: stateOf, b: relation, value }) => ({ stateOf, relation, logProb: value }));
    });
    const pairs = written.flat();
    const rowsAtOnce = Math.max(1, Math.floor(numbersAtOnce / numEntities));
    let [from, rows]: [number, Float32Array] = [0, new Float32Array(0)];
    /** float32 [numEntities] of a pair; pairs are asked for in order. */
    const ofTails = async (pair: number) => {
      if (pair >= from + rows.length / numEntities) {
        from = pair;
        const some = pairs.slice(from, from + rowsAtOnce);
        rows = await writer.tails(batch, {
          stateOf: Int32Array.from(some, ({ stateOf }) => stateOf),
          relations: Int32Array.from(some, ({ relation }) => relation),
        });
      }
      return rows.subarray((pair - from) * numEntities, (pair - from + 1) * numEntities);
    };
    let pair = 0;
    for (const [t, walks] of all.entries()) {
      const own = written[t]!;
      for (const [i, { logProb }] of own.entries()) {
        const row = await ofTails(pair++);
        for (let tail = 0; tail < numEntities; tail++) {
          const score = logProb + row[tail]!;
          best.offer(score, mix(mix(walks.salt, i), tail), i, tail, score);
        }
      }
      const grown = best.drain().map(({ a: i, b: tail, value: logProb }) => {
        const { stateOf, relation } = own[i]!;
        return { state: after(states[stateOf]!.state, relation, tail), logProb };
      });
      const ends = hop + 1 >= rules.horizon;
      if (ends) walks.complete.push(...grown.map(({ state, logProb }) => ({ path: state.path, logProb })));
      walks.live = ends ? [] : grown;
    }
  }
  return all.map((walks) => ranked(walks, ranking));
}

const noActions = new Int32Array(0);

function after({ start, current, hop, path }: WalkState, relation: number, tail: number): WalkState {
  const grown: Path = [...path, [current, relation, tail]];
  return { start, current: tail, hop: hop + 1, path: grown, done: false };
}

/** Best first. Sums, and the confidence, are over the walks that the beam has kept. */
function ranked({ task, salt, complete }: TaskWalks, { beamWidth, twoHopBonus = 0 }: RankingSettings): Ranking {
  const scored = complete.map(({ path, logProb }) => {
    const tie = path.reduce((hash, [, relation, tail]) => mix(mix(hash, relation), tail), salt);
    return { path, logProb, score: path.length > 1 ? logProb + twoHopBonus : logProb, tie };
  });
  scored.sort((a, b) => b.score - a.score || a.tie - b.tie);
  const byEnd = new Map<number, { logProb: number; mass: number }>();
  for (const { path, logProb } of scored) {
    const end = path.at(-1)?.[2] ?? task.start;
    const known = byEnd.get(end);
    const mass = Math.exp(logProb);
    byEnd.set(end, { logProb: Math.max(logProb, known?.logProb ?? -Infinity), mass: mass + (known?.mass ?? 0) });
  }
  const total = [...byEnd.values()].reduce((sum, { mass }) => sum + mass, 0);
  const answers = Array.from(byEnd, ([entity, { logProb, mass }]): RankedAnswer => {
    return { entity, logProb, summedLogProb: Math.log(mass) };
  });
  const confidence = answers.length > 0 && total > 0 ? Math.exp(answers[0]!.summedLogProb) / total : 0;
  return { paths: scored.slice(0, beamWidth).map(({ path, logProb }) => ({ path, logProb })), answers, confidence };
}
