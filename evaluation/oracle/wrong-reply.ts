/** Errors of the simulated model: a wrong reply that is as well formed as the right one. */
import { readableRelation } from '../../agents/prompted/self-veqa/sub-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';
import { longestText } from '../../src/llm/decisions/forms/rewrite.js';
import { arrow } from '../../src/llm/decisions/prompt-text.js';
import type {
  AnswerDecision,
  ChainsDecision,
  Decision,
  ExtractReply,
  MatchDecision,
  PathsDecision,
  ReplyOf,
  RewriteDecision,
} from '../../src/llm/decision.js';
import type { Rng } from '../../src/run/seeds.js';
import type { Confusion } from './confusion.js';
import { namesIn, goldPaths } from './right-candidates.js';
import type { QuestionFacts } from './question-facts.js';
import { fullScore } from './right-reply.js';

type Right<Kind extends Decision['kind']> = ReplyOf<Extract<Decision, { kind: Kind }>>;

/**
 * One error in `right`, drawn from `rng`; `right` itself where the decision leaves nothing else to say.
 * @param confusion weights of what may be chosen instead; default: all alike
 */
export function wrongReply(
  graph: Graph,
  facts: QuestionFacts,
  decision: Decision,
  right: ReplyOf<Decision>,
  rng: Rng,
  confusion?: Confusion,
): ReplyOf<Decision> {
  const weights = confusion?.weights;
  switch (decision.kind) {
    case 'extract':
      return wrongClues(graph, right as Right<'extract'>, rng);
    case 'choose-one': {
      const least = decision.allowNone ? -1 : 0;
      return {
        choice: otherThan((right as Right<'choose-one'>).choice, least, decision.candidates.length, rng, weights),
      };
    }
    case 'choose-many': {
      const choices = swapped((right as Right<'choose-many'>).choices, decision.candidates.length, rng, weights);
      return { choices: choices.slice(0, decision.maxChoices) };
    }
    case 'score':
      return { scores: wrongScores((right as Right<'score'>).scores, rng, weights) };
    case 'match':
      return wrongMatches((right as Right<'match'>).matches, decision, rng, confusion);
    case 'chains':
      return { chains: wrongChains(facts, decision, (right as Right<'chains'>).chains, rng, weights) };
    case 'rewrite':
      if (decision.about === 'plan') return { texts: wrongPlans(graph, facts, (right as Right<'rewrite'>).texts, rng) };
      return wrongTexts(graph, facts, decision, (right as Right<'rewrite'>).texts, rng);
    case 'paths':
      return wrongPaths(facts, decision, (right as Right<'paths'>).paths, rng, weights);
    case 'judge': {
      const { choice } = right as Right<'judge'>;
      const wrong = otherThan(choice, -1, Math.max(1, decision.candidates.length), rng, weights);
      const answers = wrong >= 0 && decision.withAnswers ? wrongAnswers(facts, decision, [], rng) : [];
      return { choice: wrong, reason: wrong < 0 ? 'Something is missing.' : 'This seems to fit.', answers };
    }
    case 'answer':
      return {
        ...(right as Right<'answer'>),
        answers: wrongAnswers(facts, decision, (right as Right<'answer'>).answers, rng, weights),
      };
  }
}

/** A number of [least, end) that is not `value`; `value` where there is no other. */
function otherThan(value: number, least: number, end: number, rng: Rng, weights?: Weights): number {
  if (end - least < 2) return value;
  if (weights) {
    const others = Array.from({ length: end - least }, (_, i) => least + i).filter((one) => one !== value);
    return drawn(others, rng, weights)!;
  }
  const place = least + rng.integer(end - least - 1);
  return place >= value ? place + 1 : place;
}

type Weights = readonly number[] | undefined;

/** One item of `items`; undefined of none. @param weights of items that are indices; one that has none weighs 1 */
function drawn<Item>(items: readonly Item[], rng: Rng, weights?: Weights): Item | undefined {
  if (!weights) return items[rng.integer(items.length)];
  const weightOf = (item: Item) => weights[Number(item)] ?? 1;
  let left = rng.uniform() * items.reduce((sum, item) => sum + weightOf(item), 0);
  return items.find((item) => (left -= weightOf(item)) < 0) ?? items.at(-1);
}

/** Items in a drawn order; heavier ones tend to come first. @source Efraimidis and Spirakis 2006 */
function inDrawnOrder(items: readonly number[], rng: Rng, weights: Weights): Int32Array {
  if (!weights) return rng.shuffle(Int32Array.from(items));
  const keys = new Map(items.map((item) => [item, Math.log(rng.uniform()) / weights[item]!]));
  return Int32Array.from(items).sort((a, b) => keys.get(b)! - keys.get(a)!);
}

/** One clue is lost or turns into another relation's. */
function wrongClues(graph: Graph, { items }: ExtractReply, rng: Rng): ExtractReply {
  const lost = rng.integer(items.length);
  const kept = items.filter((_, i) => i !== lost);
  if (kept.length > 0 && rng.uniform() < 0.5) return { items: kept };
  const taken = new Set(items.map(normalizeName));
  const others = [...new Set(graph.relationNames.map(readableRelation))].filter(
    (one) => one !== '' && !taken.has(normalizeName(one)),
  );
  const other = drawn(others, rng);
  if (other === undefined) return { items: kept.length > 0 ? kept : items };
  return { items: items.map((item, i) => (i === lost ? other : item)) };
}

/** One of the chosen is dropped, or replaced by one that was not; where none was chosen, one is. */
function swapped(chosen: readonly number[], candidates: number, rng: Rng, weights: Weights): number[] {
  const others = Array.from({ length: candidates }, (_, i) => i).filter((i) => !chosen.includes(i));
  const other = drawn(others, rng, weights);
  if (chosen.length === 0) return other === undefined ? [] : [other];
  const lost = rng.integer(chosen.length);
  const replace = other !== undefined && rng.uniform() < 0.5;
  return chosen.flatMap((choice, i) => (i === lost ? (replace ? [other] : []) : [choice]));
}

/** The same error in scores: one right candidate counts nothing, or a wrong one takes its place. */
function wrongScores(scores: readonly number[], rng: Rng, weights: Weights): number[] {
  const right = [...scores.keys()].filter((i) => scores[i]! > 0);
  const wrong = swapped(right, scores.length, rng, weights);
  return scores.map((_, i) => (wrong.includes(i) ? fullScore : 0));
}

function wrongMatches(
  matches: Right<'match'>['matches'],
  { candidates, targets }: MatchDecision,
  rng: Rng,
  confusion: Confusion | undefined,
): Right<'match'> {
  if (candidates.length === 0 || targets.length === 0) return { matches };
  const candidate = drawn([...candidates.keys()], rng, confusion?.weights)!;
  const target = drawn([...targets.keys()], rng, confusion?.targets)!;
  const invented = { candidate, target, score: fullScore };
  if (matches.length === 0) return { matches: [invented] };
  const lost = rng.integer(matches.length);
  const kept = matches.filter((_, i) => i !== lost);
  const known = matches.some(({ candidate, target }) => candidate === invented.candidate && target === invented.target);
  return { matches: known || rng.uniform() < 0.5 ? kept : [...kept, invented] };
}

/** Every gold chain gives way to others. */
function wrongChains(
  facts: QuestionFacts,
  { allowed }: ChainsDecision,
  right: number[][],
  rng: Rng,
  weights: Weights,
): number[][] {
  const gold = new Set(facts.chains.map(({ relations }) => relations.join()));
  const proposed = new Set(right.map((chain) => chain.join()));
  const isOther = (chain: readonly number[]) => !gold.has(chain.join()) && !proposed.has(chain.join());
  const others = [...allowed.keys()].filter((i) => isOther(allowed[i]!));
  const kept = right.filter((chain) => !gold.has(chain.join()));
  // Where nothing in it is gold it is as wrong as can be; another draw makes it another reply.
  const from = kept.length < right.length ? kept : kept.slice(1);
  const order = inDrawnOrder(others, rng, weights);
  const added = Array.from(order.subarray(0, right.length - from.length), (i) => [...allowed[i]!]);
  return from.length + added.length > 0 ? [...from, ...added] : right;
}

/** One text turns into the clue of another relation; topics stay. */
function wrongTexts(
  graph: Graph,
  { mentions, chains }: QuestionFacts,
  decision: RewriteDecision,
  texts: string[],
  rng: Rng,
): Right<'rewrite'> {
  const gold = new Set(chains.flatMap(({ relations }) => relations.map((one) => clueOf(graph, one))));
  const clues = new Set([...graph.relationNames.keys()].map((relation) => clueOf(graph, relation)));
  const others = [...clues].filter((clue) => clue !== '' && !gold.has(clue) && !texts.includes(clue));
  const other = drawn(others, rng);
  const lost = rng.integer(texts.length);
  if (other === undefined) return { texts };
  return {
    texts: texts.map((text, i) => {
      if (i !== lost) return text;
      const named = mentions.filter((name) => text.includes(name));
      return [...named, other].join(', ').slice(0, longestText(decision)).trim();
    }),
  };
}

/** Every plan ends in another relation than a right one has there. */
function wrongPlans(graph: Graph, { chains }: QuestionFacts, texts: string[], rng: Rng): string[] {
  const last = new Set(chains.map(({ relations }) => clueOf(graph, relations.at(-1)!)));
  const others = graph.relationNames.filter((_, relation) => !last.has(clueOf(graph, relation)));
  return texts.map((text) => {
    const other = drawn(others, rng);
    return other === undefined ? text : [...text.split(arrow).slice(0, -1), other].join(arrow);
  });
}

const clueOf = (graph: Graph, relation: number): string => readableRelation(graph.relationNames[relation]!);

/** Every path that is right gives way to one that is not. */
function wrongPaths(
  facts: QuestionFacts,
  decision: PathsDecision,
  right: number[],
  rng: Rng,
  weights: Weights,
): Right<'paths'> {
  const gold = new Set(goldPaths(facts, decision));
  const others = [...decision.allowed.keys()].filter((index) => !gold.has(index) && !right.includes(index));
  const kept = right.filter((index) => !gold.has(index));
  const from = kept.length < right.length ? kept : kept.slice(1);
  const order = inDrawnOrder(others, rng, weights);
  const paths = [...from, ...order.subarray(0, right.length - from.length)];
  return { paths: paths.length > 0 ? paths : right };
}

/** The verdict turned round, one answer lost, or a wrong name from the evidence. */
function wrongAnswers(
  facts: QuestionFacts,
  decision: Pick<AnswerDecision, 'evidence' | 'allowed'>,
  right: readonly string[],
  rng: Rng,
  weights?: Weights,
): string[] {
  if (facts.task.form === 'truth') return [String(!(right[0] === undefined ? facts.gold.truth : right[0] === 'true'))];
  const pool = decision.allowed ?? [...namesIn(decision.evidence).values()];
  const others = [...pool.keys()].filter((i) => !facts.answerNames.has(normalizeName(pool[i]!)));
  const wrong = pool[drawn(others, rng, weights) ?? -1];
  const lost = rng.integer(right.length);
  const kept = right.filter((_, i) => i !== lost);
  if (wrong === undefined || (kept.length > 0 && rng.uniform() < 0.5)) return kept;
  return right.length === 0 ? [wrong] : right.map((name, i) => (i === lost ? wrong : name));
}
