/** Decisions by the log-probability of the candidates' words, instead of a written reply. */
import type {
  AnswerDecision,
  ChainsDecision,
  ChooseManyDecision,
  ChooseOneDecision,
  Decision,
  DecisionKind,
  JudgeDecision,
  MatchDecision,
  PathsDecision,
  ReplyOf,
  ScoreDecision,
} from '../../decision.js';
import { oneLine, pathText } from '../prompt-text.js';
import type { Prompt } from '../render-prompt.js';
import {
  type Chosen,
  plainBody,
  plainCandidate,
  plainChain,
  plainContinuation,
  plainHead,
  plainLine,
  plainRelation,
  type PlainTask,
  then,
} from './plain-text.js';

/** Texts of one list: they follow the same body, and are compared with each other. */
export interface TextQuery {
  chosen: Chosen;
  body: string;
  /** Prefix for their prior. */
  prior: string;
  /** Without the space before them. */
  texts: readonly string[];
  /** Chains of different lengths: all are divided by the mean length (`AskTexts`). */
  uneven?: boolean;
  meant: readonly number[];
  target?: number;
}

/**
 * (log p − log prior) / tokens, [texts]; chains of different lengths by their mean tokens: `, then` and what follows
 * says less a token than the first link, so a whole chain would lose to its beginning.
 */
type AskTexts = (query: TextQuery) => Promise<Float64Array>;

interface Taken<Reply> {
  /** Absent where nothing was offered that the reply could be. */
  reply?: Reply | undefined;
  confidence: number;
  text: string;
}

/**
 * How sharply scores become shares: nats a token are multiplied by it.
 * @source least surprise at what was right on MetaQA 2-hop dev-train, SmolLM2-135M: relations n = 169, chains 94, clues
 *   627 pairs; the others were not measured (docs/decisions/likelihood.md)
 */
const sharpness: Readonly<Record<Chosen, number>> = {
  ...{ relation: 1.2, chain: 3, clue: 1.5 },
  ...{ entity: 4, path: 4, verdict: 4, truth: 4 },
};
/**
 * Of several choices, how far behind the best in nats a token one may be.
 * @source chosen by F1 of relations on dev-train, n = 169, as above
 */
const within = 0.3;
/**
 * Threshold above the prior, in nats a token, for a pair to match.
 * @source F1 of relations that a clue speaks for on dev-train, n = 177, and on demo-questions train with the embedded
 *   model, n = 102
 */
const matchThreshold = 1;
const none = 'none of these';

interface Way<D extends Decision> {
  /** Empty where nothing is offered. */
  queries: (decision: D) => TextQuery[];
  /** The reply where nothing is offered; absent where there is none. */
  empty?: ReplyOf<D>;
  /** @returns the reply, and how many of the best it names: default 1 */
  take: (decision: D, ranked: Ranked, query: TextQuery) => { reply: ReplyOf<D>; count?: number };
}

const chooseOne: Way<ChooseOneDecision> = {
  queries: (decision) => candidateQueries(decision, decision.allowNone),
  take: (_, { order }, { meant }) => ({ reply: { choice: meant[order[0]!]! } }),
};

const chooseMany: Way<ChooseManyDecision> = {
  queries: (decision) => (decision.maxChoices < 1 ? [] : candidateQueries(decision, false)),
  empty: { choices: [] },
  take({ maxChoices }, ranked) {
    const choices = nearBest(ranked).slice(0, maxChoices);
    return { reply: { choices }, count: choices.length };
  },
};

const score: Way<ScoreDecision> = {
  queries: (decision) => candidateQueries(decision, false),
  empty: { scores: [] },
  // Never 0: the agent decides how many to follow, and the order of unlikely ones matters too.
  take: (_, { shares }) => ({ reply: { scores: shares.map((share) => Math.max(share * 10, Number.MIN_VALUE)) } }),
};

const chains: Way<ChainsDecision> = {
  queries(decision) {
    const { allowed, relationName, count } = decision;
    const texts = allowed.map((chain) => plainChain(chain.map(relationName)));
    return texts.length === 0 || count < 1 ? [] : [queryOf('chain', decision, texts)];
  },
  take: ({ allowed, count }, { order }) => ({ reply: { chains: order.slice(0, count).map((i) => [...allowed[i]!]) } }),
};

const paths: Way<PathsDecision> = {
  queries(decision) {
    const { allowed, entityName, relationName, count } = decision;
    const naming = { entityName, relationName: (relation: number) => plainRelation(relationName(relation)) };
    const texts = allowed.map((path) => pathText(naming, path));
    return texts.length === 0 || count < 1 ? [] : [queryOf('path', decision, texts)];
  },
  empty: { paths: [] },
  take: ({ count }, { order }) => ({ reply: { paths: order.slice(0, count) } }),
};

const judge: Way<JudgeDecision> = {
  queries: (decision) =>
    decision.candidates.length > 0
      ? // The candidates contain the findings: facts would repeat them.
        candidateQueries({ ...decision, evidence: [] }, false)
      : [verdictQuery('verdict', decision, ['yes', 'no'])],
  take: (_, { order }, { meant }) => ({ reply: { choice: meant[order[0]!]!, reason: '', answers: [] } }),
};

const answer: Way<AnswerDecision> = {
  queries(decision) {
    const { form, allowed = [] } = decision;
    if (form === 'truth') return [verdictQuery('truth', decision, ['true', 'false'])];
    return allowed.length === 0 ? [] : [queryOf('entity', decision, allowed.map(plainLine))];
  },
  empty: { answers: [] },
  take({ form, allowed }, ranked, { texts }) {
    const best = form === 'truth' ? ranked.order.slice(0, 1) : nearBest(ranked);
    const offered = form === 'truth' ? texts : allowed!;
    return { reply: { answers: best.map((i) => offered[i]!) }, count: best.length };
  },
};

/** Targets are scored one by one: a candidate may match several. */
const match: Pick<Way<MatchDecision>, 'queries' | 'empty'> = {
  queries: ({ candidates, targets }) =>
    candidates.length === 0
      ? []
      : targets.map((clue, target) => ({
          ...queryOf('clue', { question: clue }, candidates.map(plainCandidate)),
          target,
        })),
  empty: { matches: [] },
};

/** Confidence is the lead of the clearest candidate over the others. */
function matched(queries: readonly TextQuery[], scores: readonly Float64Array[]): Taken<ReplyOf<MatchDecision>> {
  const highest = (values: Iterable<number>) => {
    let most = -Infinity;
    for (const value of values) most = Math.max(most, value);
    return most;
  };
  const likeliest = highest(scores.map(highest));
  // Not rounded: what speaks most clearly must not tie with what speaks clearly.
  const matches = queries.flatMap(({ texts, chosen }, target) =>
    texts.flatMap((text, candidate) => {
      const above = scores[target]![candidate]!;
      const probability = 1 / (1 + Math.exp(-sharpness[chosen] * (above - matchThreshold)));
      // The lift by related words varies between models: the best candidate matches if it is above its prior at all.
      const fits = probability > 0.5 || (above === likeliest && above > 0);
      return fits ? [{ candidate, target, score: Math.max(5, 10 * probability), text }] : [];
    }),
  );
  const clearest = queries[0]!.texts.map((_, candidate) => highest(scores.map((own) => own[candidate]!)));
  const { confidence } = chosenOf(queries[0]!, rankedBy(queries[0]!, Float64Array.from(clearest)));
  return {
    reply: { matches: matches.map(({ candidate, target, score }) => ({ candidate, target, score })) },
    confidence,
    text: [...new Set(matches.map((one) => one.text))].join('; '),
  };
}

type Queries<D extends Decision> = Pick<Way<D>, 'queries' | 'empty'> & Partial<Way<D>>;

const ways: { [Kind in DecisionKind]?: Queries<Extract<Decision, { kind: Kind }>> } = {
  'choose-one': chooseOne,
  'choose-many': chooseMany,
  score,
  match,
  chains,
  paths,
  judge,
  answer,
};

/** Undefined for a decision whose reply is free text: it is written in every mode. */
function wayOf<D extends Decision>(decision: D): Queries<D> | undefined {
  const written =
    (decision.kind === 'judge' && decision.withAnswers) ||
    (decision.kind === 'answer' && decision.form === 'entities' && !decision.allowed);
  return written ? undefined : (ways[decision.kind] as Queries<D> | undefined);
}

/** True for a decision that chooses among candidates, which is scored. */
export const isChoice = (decision: Decision): boolean => wayOf(decision) !== undefined;

/** Everything that a decision by likelihood scores, empty where nothing is offered; undefined for free text. */
export const textQueries = (decision: Decision): TextQuery[] | undefined => wayOf(decision)?.queries(decision);

/** Complete prompt of a decision by likelihood, which identifies it. */
export function plainPrompt(decision: Decision): Prompt {
  const queries = textQueries(decision) ?? [];
  const head = queries[0] ? plainHead(queries[0].chosen) : '';
  return { system: '', head, body: queries.map(({ body, texts }) => [body, ...texts].join('\n')).join('\n') };
}

/** Most tokens that a decision by likelihood evaluates at once: head, body and one text. */
export function plainSize(decision: Decision, countTokens: (text: string) => number): number {
  const most = (sizes: readonly number[]) => sizes.reduce((highest, size) => Math.max(highest, size), 0);
  // By tokens rather than characters: a short name of rare signs may have more of them than a long plain one.
  return most(
    (textQueries(decision) ?? []).map(({ chosen, body, texts }) => {
      const longest = most(texts.map((text) => countTokens(plainContinuation(text))));
      return countTokens(plainHead(chosen) + body) + longest;
    }),
  );
}

/**
 * Takes a decision by how likely the words of what is offered are.
 * @throws what `ask` throws; TypeError for one that has no `textQueries`
 */
export async function byLikelihood<D extends Decision>(decision: D, ask: AskTexts): Promise<Taken<ReplyOf<D>>> {
  const way = wayOf(decision);
  if (!way) throw new TypeError(`expected a decision that is chosen, got one that is written, ${decision.kind}`);
  const queries = way.queries(decision);
  if (queries.length === 0) return { reply: way.empty, confidence: 1, text: '' };
  const scores: Float64Array[] = [];
  for (const query of queries) scores.push(await ask(query));
  if (!way.take) return matched(queries, scores) as Taken<ReplyOf<D>>;
  const [query, ranked] = [queries[0]!, rankedBy(queries[0]!, scores[0]!)];
  const { reply, count } = way.take(decision, ranked, query);
  return { reply, ...chosenOf(query, ranked, count) };
}

function candidateQueries(
  decision: ChooseOneDecision | ChooseManyDecision | ScoreDecision | JudgeDecision,
  withNone: boolean,
): TextQuery[] {
  const { candidates } = decision;
  if (candidates.length === 0) return [];
  const { kind } = candidates[0]!;
  const query = queryOf(kind === 'text' ? 'entity' : kind, decision, candidates.map(plainCandidate));
  return [withNone ? { ...query, texts: [...query.texts, none], meant: [...query.meant, -1] } : query];
}

function queryOf(chosen: Chosen, task: PlainTask, texts: readonly string[]): TextQuery {
  // Names are cut one by one: a long path cut as a whole would lose the end that distinguishes it.
  const shown = texts.map(oneLine);
  const uneven = chosen === 'chain' && new Set(shown.map((chain) => chain.split(then).length)).size > 1;
  return { chosen, ...plainBody(chosen, task), texts: shown, meant: shown.map((_, i) => i), ...(uneven && { uneven }) };
}

/** @param texts what says yes, then what says no */
function verdictQuery(chosen: Chosen, decision: Decision, texts: readonly string[]): TextQuery {
  return { ...queryOf(chosen, decision, texts), meant: [0, -1] };
}

interface Ranked {
  scores: Float64Array;
  /** Best first; equal texts, which score alike, in the order in which they were offered. */
  order: number[];
  shares: number[];
}

function rankedBy({ chosen }: TextQuery, scores: Float64Array): Ranked {
  const best = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const weights = Array.from(scores, (score) => Math.exp(sharpness[chosen] * (score - best)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return {
    scores,
    order: weights.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || a - b),
    shares: weights.map((weight) => weight / sum),
  };
}

/** Best first, all that are hardly less likely than the best. */
function nearBest({ scores, order }: Ranked): number[] {
  return order.filter((i) => scores[order[0]!]! - scores[i]! <= within);
}

function chosenOf({ texts }: TextQuery, { order, shares }: Ranked, count = 1): { confidence: number; text: string } {
  const chosen = order.slice(0, count);
  const share = chosen.reduce((sum, i) => sum + shares[i]!, 0);
  return { confidence: Math.min(1, share), text: chosen.map((i) => texts[i]!).join('; ') };
}
