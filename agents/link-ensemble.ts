/**
 * Several rankers of links as one: score(e) = Σ_k w_k log p_k(e), where p_k is what member k makes of all entities, brought to sum to 1.
 * Equal weights are the mean; weights that are fitted minimise −log softmax(score) of known answers, a convex function of so many
 * numbers as there are members.
 */
import { Matrix, solve } from 'ml-matrix';
import type { TripleColumns } from '../src/kg/graph.js';
import { boundedHeap } from './bounded-heap.js';
import type { LinkRanker, RankedQuestion } from './link-ranker.js';

/**
 * An entity that one member cannot rank stays unranked; reasons and rules are those of the first member that has any.
 * @param weights of the members, by relation
 */
export const ensembleRanker = (
  members: readonly LinkRanker[],
  weights: (relation: number) => ArrayLike<number>,
): LinkRanker => ({
  name: 'mean',
  rankings: ['score'],
  batchSize: 32,
  async rank(questions, take) {
    for (const [i, question] of questions.entries()) {
      const own = weights(question.relation);
      let sum: Float64Array | undefined;
      let reasons: RankedQuestion['reasons'];
      let rulesTo: RankedQuestion['rulesTo'];
      for (const [k, member] of members.entries()) {
        await member.rank([question], (_, ranked) => {
          sum ??= new Float64Array(ranked.scores[0]!.length);
          addLogProbabilities(ranked.scores[0]!, own[k]!, sum);
          reasons ??= ranked.reasons;
          rulesTo ??= ranked.rulesTo;
        });
      }
      take(i, { scores: [sum!], reasons, rulesTo });
    }
  },
});

/** `ensembleRanker` with equal weights that sum to 1. */
export function meanRanker(members: readonly LinkRanker[]): LinkRanker {
  const equal = members.map(() => 1 / members.length);
  return ensembleRanker(members, () => equal);
}

/** Adds `weight` times the logarithm of softmax(scores). Weight 0 adds nothing, not even for entities that cannot be ranked. */
function addLogProbabilities(scores: Float64Array, weight: number, out: Float64Array): void {
  if (weight === 0) return;
  const norm = logSumExp(scores);
  for (let entity = 0; entity < scores.length; entity++) out[entity]! += weight * (scores[entity]! - norm);
}

/** ln Σ exp, 0 where nothing is above -Infinity. */
export function logSumExp(scores: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < scores.length; i++) most = Math.max(most, scores[i]!);
  if (most === -Infinity) return 0;
  let sum = 0;
  for (let i = 0; i < scores.length; i++) sum += Math.exp(scores[i]! - most);
  return most + Math.log(sum);
}

/** Log-probabilities of a query's candidates by member, the answer first. */
export type Case = readonly Float64Array[];

/** Top entities of each member, against which the answer is scored. */
const candidatesOfMember = 100;
/** Log-probability of what a member cannot rank, so that one such answer does not decide. */
const leastLog = -30;

/**
 * What members give the answers of some queries and their own best candidates.
 * @param known other answers of a query, which are no candidates
 * @param onQuery called after each query
 * @throws WorkbenchError what members throw
 */
export async function ensembleCases(
  members: readonly LinkRanker[],
  { heads, relations, tails }: TripleColumns,
  known: (head: number, relation: number) => Iterable<number>,
  onQuery: () => void = () => {},
): Promise<Case[]> {
  const cases: Case[] = [];
  const heap = boundedHeap(candidatesOfMember);
  for (let query = 0; query < heads.length; query++) {
    const [head, relation, answer] = [heads[query]!, relations[query]!, tails[query]!];
    const out = new Set(known(head, relation));
    const candidates = new Set([answer]);
    const all: Float64Array[] = [];
    for (const member of members) {
      await member.rank([{ head, relation }], (_, { scores: [scores] }) => {
        const norm = logSumExp(scores!);
        all.push(scores!.map((score) => Math.max(score - norm, leastLog)));
        heap.clear();
        scores!.forEach((score, entity) => {
          if (!out.has(entity)) heap.offer(score, entity, entity, 0, 0);
        });
        for (const { a } of heap.drain()) candidates.add(a);
      });
    }
    cases.push(all.map((logs) => Float64Array.from(candidates, (entity) => logs[entity]!)));
    onQuery();
  }
  return cases;
}

const mostSteps = 100;
const leastGain = 1e-10;
/** Keeps the curvature positive where members agree. */
const ridge = 1e-6;

/** Weights that others are drawn to, as strongly as by `strength` / 2 times their squared distance. */
type Prior = { weights: Float64Array; strength: number };

/**
 * Weights, none below 0, by which the answers are likeliest among the candidates: Newton's method from equal weights or the prior's, each
 * step halved until it gains; a weight of 0 that would fall further stands aside. Without cases they stay as they are.
 * @param count number of members
 */
export function fitEnsemble(cases: readonly Case[], count: number, prior?: Prior): Float64Array {
  let weights = prior ? prior.weights.slice() : new Float64Array(count).fill(1 / count);
  let now = grads(cases, weights, prior);
  for (let step = 0; step < mostSteps; step++) {
    const { grad, curvature } = now;
    const fixed = weights.map((weight, k) => Number(weight === 0 && grad[k]! > 0));
    const free = curvature.map((row, k) => row.map((own, j) => (fixed[k]! || fixed[j]! ? Number(k === j) : own)));
    const right = Matrix.columnVector(grad.map((own, k) => (fixed[k] ? 0 : own)));
    const towards = solve(new Matrix(free), right).to1DArray();
    let gained = false;
    for (let size = 1; size > 1e-6 && !gained; size /= 2) {
      const tried = weights.map((weight, k) => Math.max(0, weight - size * towards[k]!));
      const there = grads(cases, tried, prior);
      gained = there.loss < now.loss - leastGain;
      if (gained) [weights, now] = [tried, there];
    }
    if (!gained) break;
  }
  return weights;
}

/** Mean loss, its gradient and its curvature by the weights. */
function grads(cases: readonly Case[], weights: Float64Array, prior?: Prior) {
  const count = weights.length;
  const strength = prior ? prior.strength / cases.length : 0;
  const far = weights.map((weight, k) => (prior ? weight - prior.weights[k]! : 0));
  const grad = far.map((own) => strength * own);
  const curvature = Array.from({ length: count }, (_, k) => new Float64Array(count).fill(ridge + strength, k, k + 1));
  let loss = (strength / 2) * far.reduce((sum, own) => sum + own * own, 0);
  const means = new Float64Array(count);
  for (const logs of cases) {
    const chances = new Float64Array(logs[0]!.length);
    for (let k = 0; k < count; k++) for (let i = 0; i < chances.length; i++) chances[i]! += weights[k]! * logs[k]![i]!;
    const norm = logSumExp(chances);
    loss += (norm - chances[0]!) / cases.length;
    for (let i = 0; i < chances.length; i++) chances[i] = Math.exp(chances[i]! - norm);
    for (let k = 0; k < count; k++) {
      const own = logs[k]!;
      means[k] = 0;
      for (let i = 0; i < chances.length; i++) means[k]! += chances[i]! * own[i]!;
      grad[k]! += (means[k]! - own[0]!) / cases.length;
      for (let j = 0; j <= k; j++) {
        let joint = -means[k]! * means[j]!;
        for (let i = 0; i < chances.length; i++) joint += chances[i]! * own[i]! * logs[j]![i]!;
        curvature[k]![j]! += joint / cases.length;
        if (j < k) curvature[j]![k]! += joint / cases.length;
      }
    }
  }
  return { loss, grad, curvature };
}
