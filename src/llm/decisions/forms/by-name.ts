/**
 * Replies that name what is chosen instead of numbering it, each name one of an enumeration: for servers, which cannot tell how
 * likely given texts are. Names that read alike stand once and mean all that bear them, the first where one alone may be chosen.
 */
import type {
  AnswerDecision,
  ChainsDecision,
  ChooseManyDecision,
  ChooseOneDecision,
  Decision,
  DecisionKind,
  JudgeDecision,
  MatchDecision,
  ScoreDecision,
} from '../../decision.js';
import { arrow, shownName } from '../prompt-text.js';
import type { ReplyForm, ReplyShape } from '../reply-form.js';
import { field, labelledValues, listOf } from '../reply-values.js';
import { answerForm, judgeForm, mostAnswers } from './answer.js';
import { chainsForm } from './chains.js';
import {
  distinct,
  effort,
  longestOrder,
  nameReader,
  namesOffered,
  noneName,
  noneOf,
  offeredNames,
  readerOf,
  readMany,
  readOne,
  writtenNames,
} from './offered-names.js';

/** UTF-16 units of chains, or of relations, that a prompt lists. */
const longestListing = 4000;

const namesShape = (decision: Decision): ReplyShape => ({ texts: orEmpty(namesOffered(decision)) });
const orEmpty = (texts: readonly string[]): readonly string[] => (texts.length > 0 ? texts : ['']);
const asListed = 'written as it stands under Candidates';
const nameAt = (decision: Decision, index: number): string => {
  const names = offeredNames(decision);
  return names[index] ?? noneOf(names);
};

const choiceNames = ['answer', 'candidate', 'selected', 'best', 'name'];

/** `{"choice":"directed_by"}`. */
const chooseOne: ReplyForm<ChooseOneDecision> = {
  instruction: ({ allowNone }) =>
    `Reply with JSON that holds "choice", the name of one candidate, ${asListed}${allowNone ? `, or "${noneName}"` : ''}.`,
  write: (decision, { choice }) => ({ choice: nameAt(decision, choice) }),
  shape: (decision) => ({ fields: { choice: namesShape(decision) } }),
  read(decision, value, lenient) {
    const written = field(value, 'choice', lenient, choiceNames) ?? (lenient ? value : undefined);
    const single: unknown = lenient && Array.isArray(written) && written.length === 1 ? written[0] : written;
    const [choice] = readerOf(decision)(single, lenient) ?? [];
    return choice === undefined ? undefined : { choice };
  },
  readLines(decision, lines) {
    const choice = readOne(decision, writtenNames(lines, ['choice', ...choiceNames]));
    return choice === undefined ? undefined : { choice };
  },
};

const listNames = ['choice', 'candidates', 'selected', 'answers', 'answer', 'names', 'best'];

/** `{"choices":["directed_by","written_by"]}`, best first. */
const chooseMany: ReplyForm<ChooseManyDecision> = {
  instruction: () =>
    `Reply with JSON that holds "choices", the list of the names of candidates, best first, each ${asListed}, empty where none fits.`,
  limits: ({ maxChoices }) => `Choose at most ${maxChoices}.`,
  write: (decision, { choices }) => ({ choices: choices.map((choice) => nameAt(decision, choice)) }),
  shape(decision) {
    const max = Math.min(decision.maxChoices, namesOffered(decision).length);
    return { fields: { choices: { list: namesShape(decision), min: 0, max } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'choices', lenient, listNames) ?? (lenient ? value : undefined));
    const choices = list && readMany(decision, list, lenient, decision.maxChoices);
    return choices && { choices: choices.slice(0, decision.maxChoices) };
  },
  readLines(decision, lines) {
    const choices = readMany(decision, writtenNames(lines, ['choices', ...listNames]), true, decision.maxChoices);
    return choices && choices.length > 0 ? { choices: choices.slice(0, decision.maxChoices) } : undefined;
  },
};

/** `{"best":["directed_by","written_by"]}`: an order of names. The first scores 10, each further one half, the others 0. */
const score: ReplyForm<ScoreDecision> = {
  instruction: () =>
    `Reply with JSON that holds "best", the list of the names of the candidates with the highest scores, best first, each ${asListed}. Leave out those of score 0.`,
  limits: (decision) => `Write at most ${orderLength(decision)}.`,
  write(decision, { scores }) {
    const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b);
    const worth = order.filter((index) => scores[index]! > 0);
    const names = (worth.length > 0 ? worth : order.slice(0, 1)).map((index) => nameAt(decision, index));
    return { best: distinct(names).slice(0, orderLength(decision)) };
  },
  shape(decision) {
    return { fields: { best: { list: namesShape(decision), min: 1, max: Math.max(orderLength(decision), 1) } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'best', lenient, listNames) ?? (lenient ? value : undefined));
    return list && scored(decision, list, lenient);
  },
  readLines: (decision, lines) => scored(decision, writtenNames(lines, ['best', ...listNames]), true),
};

function orderLength(decision: ScoreDecision): number {
  return Math.min(longestOrder, namesOffered(decision).length);
}

/** Homonyms share the score of their name. */
function scored(decision: ScoreDecision, list: readonly unknown[], lenient: boolean) {
  const read = readerOf(decision);
  const scores = new Array<number>(decision.candidates.length).fill(0);
  let rank = 0;
  for (const entry of list.slice(0, effort * longestOrder)) {
    const indices = (read(entry, lenient) ?? []).filter((index) => scores[index] === 0);
    for (const index of indices) scores[index] = Math.ceil(10 / 2 ** rank);
    if (indices.length > 0) rank++;
  }
  return rank > 0 ? { scores } : undefined;
}

/** `{"map":[{"candidate":"directed_by","target":"director"}]}`: pairs of names, all worth the same. */
const match: ReplyForm<MatchDecision> = {
  instruction: () =>
    'Reply with JSON that holds "map", a list of {"candidate", "target"}: the names of a candidate and a target that belong together, each written as it stands there. Leave out all other pairs.',
  write: (decision, { matches }) => ({
    map: matches.map(({ candidate, target }) => ({
      candidate: nameAt(decision, candidate),
      target: shownName(decision.targets[target] ?? ''),
    })),
  }),
  shape(decision) {
    const { candidates, targets } = decision;
    const pair = { fields: { candidate: namesShape(decision), target: { texts: orEmpty(targets.map(shownName)) } } };
    const max = Math.min(candidates.length * targets.length, Math.max(candidates.length, 2 * targets.length));
    return { fields: { map: { list: pair, min: 0, max } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'map', lenient, ['matches', 'mapping']) ?? (lenient ? value : undefined));
    return list && matched(decision, list, lenient);
  },
  readLines(decision, lines) {
    const pairs = lines.flatMap((line) => {
      const parts = line.split(/->|→|=>|[|:;=]/).map((part) => part.trim());
      return parts.length === 2 ? [{ candidate: parts[0], target: parts[1] }] : [];
    });
    return pairs.length > 0 ? matched(decision, pairs, true) : undefined;
  },
};

/** Unreadable where pairs were written but none can be meant. */
function matched(decision: MatchDecision, list: readonly unknown[], lenient: boolean) {
  const readCandidate = readerOf(decision);
  const readTarget = nameReader(decision.targets.map(shownName), false);
  const pairs = new Map<string, { candidate: number; target: number; score: number }>();
  for (const entry of list) {
    const candidates = readCandidate(field(entry, 'candidate', lenient, ['c', 'cand']), lenient) ?? [];
    const targets = readTarget(field(entry, 'target', lenient, ['t', 'clue']), lenient) ?? [];
    for (const candidate of candidates) {
      for (const target of targets) pairs.set(`${candidate} ${target}`, { candidate, target, score: 10 });
    }
  }
  return list.length > 0 && pairs.size === 0 ? undefined : { matches: [...pairs.values()] };
}

/** `{"chains":["starred_actors → directed_by"]}`: a chain is one text, so that an enumeration holds those that exist. */
const chains: ReplyForm<ChainsDecision> = {
  ...chainsForm,
  instruction: () =>
    `Reply with JSON that holds "chains", a list of chains, best first, each the names of its relations with "${arrow}" between them; ~ marks one that is followed backwards.`,
  write: (decision, reply) => ({ chains: reply.chains.map((chain) => chainText(decision, chain)) }),
  shape(decision) {
    const texts = distinct(chainTexts(decision));
    const count = Math.max(1, Math.min(decision.count, texts.length));
    return { fields: { chains: { list: { texts: orEmpty(texts) }, min: count, max: count } } };
  },
  read(decision, value, lenient) {
    const list = listOf(field(value, 'chains', false)) ?? [];
    const texts = chainTexts(decision);
    // Of chains that read alike the first.
    const indices = new Map(texts.map((text, i) => [text, i] as const).toReversed());
    const written = list.slice(0, effort * Math.max(decision.count, 5));
    const found = written.flatMap((text) => indices.get(text as string) ?? []);
    const kept = [...new Set(found)].slice(0, decision.count);
    if (kept.length > 0) return { chains: kept.map((index) => [...decision.allowed[index]!]) };
    return lenient ? chainsForm.read(decision, value, true) : undefined;
  },
};

const chainTexts = (decision: ChainsDecision) => decision.allowed.map((chain) => chainText(decision, chain));

function chainText({ relationName }: ChainsDecision, chain: readonly number[]): string {
  return chain.map((relation) => shownName(relationName(relation))).join(arrow);
}

/** The chains that may be written where they are few, else the relations that they are made of, else nothing: what a prompt lists. */
export function chainsOffered(decision: ChainsDecision): { label: 'Chains' | 'Relations'; names: string[] } {
  const { allowed, relationName } = decision;
  const isShort = (names: readonly string[]) => names.reduce((sum, { length }) => sum + length, 0) <= longestListing;
  const texts = allowed.length <= longestListing / 4 ? distinct(chainTexts(decision)) : undefined;
  if (texts && isShort(texts)) return { label: 'Chains', names: texts };
  const relations = [...new Set(allowed.flat())].map((relation) => shownName(relationName(relation)));
  return { label: 'Relations', names: isShort(relations) ? distinct(relations).sort() : [] };
}

/** `{"reason":"…","choice":"starred_actors → directed_by"}`; without candidates `"choice":"yes"` or `"no"`. */
const judge: ReplyForm<JudgeDecision> = {
  ...judgeForm,
  instruction: ({ candidates }) =>
    candidates.length > 0
      ? `Reply with JSON that holds "reason", a few words, then "choice", the name of the right candidate, ${asListed}, or "${noneName}".`
      : 'Reply with JSON that holds "reason", a few words, then "choice": "yes" where the facts suffice to answer, otherwise "no".',
  write(decision, { choice, reason }) {
    if (decision.candidates.length === 0) return { reason, choice: choice < 0 ? 'no' : 'yes' };
    return { reason, choice: nameAt(decision, choice) };
  },
  shape: (decision) => ({
    fields: {
      reason: { text: 120 },
      choice: decision.candidates.length === 0 ? { oneOf: ['yes', 'no'] } : namesShape(decision),
    },
  }),
  read(decision, value, lenient) {
    const choice = field(value, 'choice', lenient, ['verdict', 'answer', 'candidate']);
    const [index] = verdictOf(decision, choice, lenient) ?? [];
    if (index !== undefined) {
      const reason = field(value, 'reason', lenient, ['critique', 'explanation']);
      return { choice: index, reason: typeof reason === 'string' ? reason.slice(0, 1000) : '', answers: [] };
    }
    return lenient && decision.candidates.length === 0 ? judgeForm.read(decision, value, true) : undefined;
  },
  readLines(decision, lines) {
    if (decision.candidates.length === 0) return judgeForm.readLines(decision, lines);
    const [reason = ''] = labelledValues(lines, ['reason', 'critique', 'because']);
    const written = writtenNames(lines, ['choice', 'verdict', 'answer', 'candidate']);
    const choice = readOne(decision, written);
    return choice === undefined ? undefined : { choice, reason, answers: [] };
  },
};

function verdictOf(decision: JudgeDecision, value: unknown, lenient: boolean): readonly number[] | undefined {
  if (decision.candidates.length > 0) return readerOf(decision)(value, lenient);
  return value === 'yes' ? [0] : value === 'no' ? [-1] : undefined;
}

/** `{"answers":["Christopher Nolan"]}` over names that were offered; all other answers are written as ever. */
const answer: ReplyForm<AnswerDecision> = {
  ...answerForm,
  instruction(decision) {
    if (!isOffered(decision)) return answerForm.instruction(decision);
    const before = decision.withReasoning ? '"reasoning", short steps, then ' : '';
    return `Reply with JSON that holds ${before}"answers", the list of the names of the right candidates, best first, each ${asListed}, or "${noneName}" alone.`;
  },
  write(decision, reply) {
    if (!isOffered(decision)) return answerForm.write(decision, reply);
    const { answers, reasoning = '' } = reply;
    const indices = answers.length === 0 ? [-1] : answers.map((one) => decision.allowed!.indexOf(one));
    const names = indices.map((index) => nameAt(decision, index));
    return { ...(decision.withReasoning && { reasoning }), answers: names };
  },
  shape(decision) {
    if (!isOffered(decision)) return answerForm.shape(decision);
    const max = Math.max(1, Math.min(mostAnswers, decision.allowed!.length));
    const reasoning: Record<string, ReplyShape> = decision.withReasoning ? { reasoning: { text: 400 } } : {};
    return { fields: { ...reasoning, answers: { list: namesShape(decision), min: 1, max } } };
  },
  read(decision, value, lenient) {
    if (!isOffered(decision)) return answerForm.read(decision, value, lenient);
    const list = listOf(field(value, 'answers', lenient, ['answer', 'result']) ?? (lenient ? value : undefined));
    return list && answered(decision, list, lenient);
  },
  readLines(decision, lines) {
    if (!isOffered(decision)) return answerForm.readLines(decision, lines);
    return answered(decision, writtenNames(lines, ['answers', 'answer', 'final answer']), true);
  },
};

const isOffered = ({ form, allowed }: AnswerDecision): boolean => form === 'entities' && allowed !== undefined;

function answered(decision: AnswerDecision, list: readonly unknown[], lenient: boolean) {
  const indices = readMany(decision, list, lenient, mostAnswers);
  return indices && { answers: distinct(indices.map((index) => decision.allowed![index]!)) };
}

const namedForms: { [Kind in DecisionKind]?: ReplyForm<Extract<Decision, { kind: Kind }>> } = {
  'choose-one': chooseOne,
  'choose-many': chooseMany,
  score,
  match,
  chains,
  judge,
  answer,
};

/** The form by which a decision is taken by name; undefined where its own form names what is chosen already. */
export function namedForm<D extends Decision>(decision: D): ReplyForm<D> | undefined {
  return namedForms[decision.kind] as ReplyForm<D> | undefined;
}
