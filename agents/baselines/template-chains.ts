/** Which relation sequence answers each question template best: a search over train answers, without learning. */
import { maskedQuestion, type QuestionSample } from '../../datasets/question.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { frontierTrie, type FrontierNode } from '../../envs/relation-walk/frontier-trie.js';
import { goldSet, scoreFrontier, type GoldSet } from '../../envs/relation-walk/rules.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import type { Graph } from '../../src/kg/graph.js';

/** How far chains are looked for. */
export interface TemplateSearch {
  /** Longest sequence. */
  horizon: number;
  /**
   * Questions a template over which every feasible sequence is tried; the best four of them are then weighed over all
   * questions of the template.
   */
  screened: number;
  /** Sequences are not tried beyond a frontier of more entities than this: they cost the most and answer nothing. */
  widest: number;
}

/** Sequences that go on from the screening. */
const finalists = 4;

/** Sequences tried on one question: graphs with thousands of relations have no end of them. */
const mostTried = 20_000;

interface Candidate {
  relations: Int32Array;
  /** Sum of F1. */
  sum: number;
}

/**
 * The relation sequence with the best mean F1 over the train questions of each template; one that breaks off scores 0.
 * Equal ones: the shorter, then the smaller ids. Templates no question of which has a findable answer are left out.
 * @param train the only questions that a lookup may learn from; gold chains are not read
 * @returns by template, in the order of first appearance
 */
export function bestTemplateChains(
  graph: Graph,
  train: readonly QuestionSample[],
  { horizon, screened, widest }: TemplateSearch,
): Map<string, Int32Array> {
  const questionsOf = new Map<string, QuestionSample[]>();
  const note = madeFromSamples('memory', 'relations of question templates');
  for (const sample of train) {
    if (sample.task.form !== 'entities') continue;
    note(sample);
    const template = maskedQuestion(sample.task);
    const questions = questionsOf.get(template);
    if (questions) questions.push(sample);
    else questionsOf.set(template, [sample]);
  }
  // Every sequence is walked once: nothing is worth remembering.
  const trie = frontierTrie(graph, 0);
  const rootOf = ({ task }: QuestionSample) => questionRoot(trie, task);
  const chains = new Map<string, Int32Array>();
  for (const [template, questions] of questionsOf) {
    const candidates = new Map<string, Candidate>();
    for (const question of questions.slice(0, screened)) {
      addScores(rootOf(question), goldSet(question.gold), { horizon, widest }, candidates);
    }
    const best = [...candidates.values()].sort(better).slice(0, finalists);
    for (const question of questions.slice(screened)) {
      const gold = goldSet(question.gold);
      for (const candidate of best) {
        let node = rootOf(question);
        for (const relation of candidate.relations) node = node.follow(relation);
        candidate.sum += scoreFrontier(node.frontier, gold).f1;
      }
    }
    const [first] = best.sort(better);
    if (first) chains.set(template, first.relations);
  }
  return chains;
}

/** Tries every feasible sequence on one question, shorter ones first. */
function addScores(
  root: FrontierNode,
  gold: GoldSet,
  { horizon, widest }: Pick<TemplateSearch, 'horizon' | 'widest'>,
  candidates: Map<string, Candidate>,
): void {
  let tried = 0;
  let level = [root];
  for (let length = 1; length <= horizon && level.length > 0; length++) {
    const longer: FrontierNode[] = [];
    for (const node of level) {
      const choices = node.choices();
      for (let relation = 0; relation + 1 < choices.length; relation++) {
        if (choices[relation] === 0) continue;
        if (++tried > mostTried) return;
        const next = node.follow(relation);
        const { f1 } = scoreFrontier(next.frontier, gold);
        if (f1 > 0) {
          const key = next.relations.join();
          const candidate = candidates.get(key);
          if (candidate) candidate.sum += f1;
          else candidates.set(key, { relations: next.relations, sum: f1 });
        }
        if (next.frontier.entities.length <= widest) longer.push(next);
      }
    }
    level = longer;
  }
}

/** Sums are compared to nine digits: what differs by rounding alone is equal. */
function better(a: Candidate, b: Candidate): number {
  if (Math.abs(a.sum - b.sum) > 1e-9) return b.sum - a.sum;
  if (a.relations.length !== b.relations.length) return a.relations.length - b.relations.length;
  const place = a.relations.findIndex((relation, i) => relation !== b.relations[i]);
  return place < 0 ? 0 : a.relations[place]! - b.relations[place]!;
}
