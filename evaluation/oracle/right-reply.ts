/** The reply that a faultless reader who knows the gold gives, from the evidence alone. */
import type { Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';
import { readableRelation } from '../../agents/prompted/self-veqa/sub-graph.js';
import { mostAnswers } from '../../src/llm/decisions/forms/answer.js';
import { longestText } from '../../src/llm/decisions/forms/rewrite.js';
import { arrow } from '../../src/llm/decisions/prompt-text.js';
import { distinctTexts } from '../../src/llm/decisions/reply-values.js';
import type {
  AnswerDecision,
  Candidate,
  ChainsDecision,
  Decision,
  JudgeDecision,
  JudgeReply,
  ReplyOf,
  RewriteDecision,
} from '../../src/llm/decision.js';
import type { ScoreRequest } from '../../src/llm/language-model.js';
import type { Rng } from '../../src/run/seeds.js';
import { answersIn, truthIn, goldPaths, isGoldChain, rightCandidates, rightTarget } from './right-candidates.js';
import type { QuestionFacts } from './question-facts.js';

/** The highest score that a prompt allows. */
export const fullScore = 10;

/** @param rng for what is left open, such as a choice among nothing but wrong candidates */
export function rightReply(graph: Graph, facts: QuestionFacts, decision: Decision, rng: Rng): ReplyOf<Decision> {
  switch (decision.kind) {
    case 'extract': {
      const clues = [...facts.mentions, ...(facts.chains[0]?.clues ?? [])];
      // A reply holds at least one phrase, and a question without topic and chain offers only itself.
      const items = clues.length > 0 ? clues : [facts.task.question];
      return { items: [...new Set(items)].slice(0, decision.maxItems) };
    }
    case 'choose-one': {
      const choice = rightCandidates(facts, decision).indexOf(true);
      return { choice: choice >= 0 || decision.allowNone ? choice : rng.integer(decision.candidates.length) };
    }
    case 'choose-many': {
      const right = rightCandidates(facts, decision);
      return { choices: [...right.keys()].filter((i) => right[i]).slice(0, decision.maxChoices) };
    }
    case 'score':
      return { scores: rightCandidates(facts, decision).map((right) => (right ? fullScore : 0)) };
    case 'match': {
      const matches = decision.candidates.flatMap((candidate, index) => {
        const target = rightTarget(facts, decision, candidate);
        return target === undefined ? [] : [{ candidate: index, target, score: fullScore }];
      });
      return { matches };
    }
    case 'chains':
      return { chains: proposedChains(facts, decision, rng) };
    case 'rewrite':
      return { texts: rewritten(graph, facts, decision) };
    case 'paths': {
      const gold = goldPaths(facts, decision);
      const paths = gold.length > 0 ? gold : shuffled([...decision.allowed.keys()], rng);
      return { paths: paths.slice(0, decision.count) };
    }
    case 'judge':
      return judged(graph, facts, decision);
    case 'answer':
      return { answers: answered(graph, facts, decision), ...(decision.withReasoning && { reasoning: reasoned }) };
  }
}

/** The clue of each hop, the first with the topics; what is known is the facts, as sentences. */
function rewritten(
  graph: Graph,
  { task, mentions, chains }: QuestionFacts,
  { about, count, evidence }: RewriteDecision,
): string[] {
  const shortened = (text: string): string => text.slice(0, longestText({ about })).trim();
  if (about === 'plan' && chains.length > 0)
    return chains.slice(0, count).map(({ relations }) => planOf(graph, relations));
  const clues = chains[0]?.clues.map((clue, hop) => (hop === 0 ? [...mentions, clue].join(', ') : clue)) ?? [];
  const known = evidence.map(([head, relation, tail]) => `${head} ${readableRelation(relation)} ${tail}`);
  const texts = about === 'paraphrase' ? [] : about === 'memory' ? known : clues;
  const written = distinctTexts(texts.map(shortened), count);
  if (written.length > 0) return written;
  return about === 'memory' ? ['Nothing is known yet.'] : [shortened(task.question)];
}

export const planOf = (graph: Graph, relations: readonly number[]): string =>
  relations.map((relation) => graph.relationNames[relation]!).join(arrow);

const reasoned = 'The facts say so.';

/** Gold chains first, then others by lot; those that the context says were tried only where no other is left. */
function proposedChains(facts: QuestionFacts, decision: ChainsDecision, rng: Rng): number[][] {
  const { allowed } = decision;
  const tried = triedChains(decision);
  const untried = allowed.filter((chain) => !tried.has(chain.join()));
  const pool = untried.length > 0 ? untried : allowed;
  const keys = new Set(pool.map((chain) => chain.join()));
  const gold = facts.chains.map(({ relations }) => relations).filter((relations) => keys.has(relations.join()));
  const order = [...gold, ...shuffled(pool, rng), ...shuffled(allowed, rng)];
  const distinct = new Map(order.map((chain) => [chain.join(), chain]));
  return [...distinct.values()].slice(0, decision.count).map((chain) => [...chain]);
}

function shuffled<Item>(items: readonly Item[], rng: Rng): Item[] {
  return Array.from(rng.shuffle(Int32Array.from(items.keys())), (i) => items[i]!);
}

/** Relation sequences that stand, as names, in a line of a part that says they were tried. */
function triedChains({ context = [], allowed, relationName }: ChainsDecision): Set<string> {
  const ids = new Map(allowed.flat().map((relation) => [relationName(relation), relation]));
  const chains = context
    .filter(({ label }) => /\b(?:tried|before|rejected)\b/i.test(label))
    .flatMap(({ lines }) => lines)
    .map((line) => line.replace(/^\s*\d+[.)]\s*/, '').split(separators));
  return new Set(chains.map((names) => names.flatMap((name) => ids.get(name.trim()) ?? []).join()));
}

const separators = /→|->|: |[[\](),;"]/;

function judged(graph: Graph, facts: QuestionFacts, { candidates, evidence, withAnswers }: JudgeDecision): JudgeReply {
  const choice = candidates.length > 0 ? chosenFinding(facts, candidates) : suffices(graph, facts, evidence) ? 0 : -1;
  const good = choice >= 0;
  return {
    choice,
    reason: good ? 'It leads to what is asked.' : 'It does not lead to what is asked.',
    answers: good && withAnswers ? known(graph, facts, evidence) : [],
  };
}

/** The finding with exactly the right answers, else the smallest with all of them; for claims the gold chain. */
function chosenFinding(facts: QuestionFacts, candidates: readonly Candidate[]): number {
  if (facts.task.form === 'truth') {
    return candidates.findIndex((one) => one.kind === 'chain' && isGoldChain(facts, one.relations));
  }
  const sets = candidates.map((candidate) => answersOf(facts, candidate));
  let best = -1;
  sets.forEach((set, i) => {
    const all = facts.answers.size > 0 && [...facts.answers].every((answer) => set.has(answer));
    if (all && (best < 0 || set.size < sets[best]!.size)) best = i;
  });
  return best;
}

function answersOf({ answerNames, gold }: QuestionFacts, candidate: Candidate): ReadonlySet<number> {
  if (candidate.kind === 'chain') return new Set(candidate.answers);
  if (candidate.kind === 'entity') return new Set([candidate.entity]);
  if (candidate.kind === 'path') return new Set(candidate.triples.slice(-1).map(([, , tail]) => tail));
  const answer = candidate.kind === 'text' ? answerNames.get(normalizeName(candidate.text)) : undefined;
  return new Set(answer === undefined ? [] : [gold.answers[answer]!.entity]);
}

function suffices(graph: Graph, facts: QuestionFacts, evidence: Decision['evidence']): boolean {
  if (facts.task.form === 'truth') return truthIn(graph, facts, evidence) !== undefined;
  return facts.gold.answers.length > 0 && answersIn(facts, evidence).length === facts.gold.answers.length;
}

/** Answers supported by the evidence, up to the limit of a reply; empty if there are none. */
function known(graph: Graph, facts: QuestionFacts, evidence: Decision['evidence']): string[] {
  if (facts.task.form === 'entities') return answersIn(facts, evidence).slice(0, mostAnswers);
  const truth = truthIn(graph, facts, evidence);
  return truth === undefined ? [] : [String(truth)];
}

function answered(graph: Graph, facts: QuestionFacts, { evidence, allowed }: AnswerDecision): string[] {
  const names = known(graph, facts, evidence);
  if (!allowed) return names;
  return names.flatMap((name) => allowed.find((text) => normalizeName(text) === normalizeName(name)) ?? []);
}

type Reply<Kind extends Decision['kind']> = ReplyOf<Extract<Decision, { kind: Kind }>>;

/**
 * For every text whether the reply says what it stands for, [meant]. None is right where the reply names nothing that is offered: they tie
 * then, so of a list of which several may be chosen all are, as many as it allows. By likelihood there is no choosing nothing.
 */
export function rightTexts(
  facts: QuestionFacts,
  { decision, meant, target }: Pick<ScoreRequest, 'decision' | 'meant' | 'target'>,
  reply: ReplyOf<Decision>,
): boolean[] {
  const said = new Set(saidIndices(facts, decision, reply, target));
  return meant.map((index) => said.has(index));
}

function saidIndices(facts: QuestionFacts, decision: Decision, reply: ReplyOf<Decision>, target?: number): number[] {
  switch (decision.kind) {
    case 'choose-one':
      return [(reply as Reply<'choose-one'>).choice];
    case 'judge':
      return [(reply as Reply<'judge'>).choice];
    case 'choose-many':
      return (reply as Reply<'choose-many'>).choices;
    case 'paths':
      return (reply as Reply<'paths'>).paths;
    case 'score':
      return (reply as Reply<'score'>).scores.flatMap((score, i) => (score > 0 ? [i] : []));
    case 'match':
      return (reply as Reply<'match'>).matches.flatMap((match) => (match.target === target ? [match.candidate] : []));
    case 'chains': {
      const { chains } = reply as Reply<'chains'>;
      // Others only fill the list up.
      const gold = chains.filter((chain) => isGoldChain(facts, chain));
      const keys = new Set((gold.length > 0 ? gold : chains).map(String));
      return decision.allowed.flatMap((chain, i) => (keys.has(chain.join()) ? [i] : []));
    }
    case 'answer': {
      const { answers } = reply as Reply<'answer'>;
      if (decision.form === 'truth') return answers.map((answer) => (answer === 'true' ? 0 : -1));
      return answers.map((answer) => (decision.allowed ?? []).indexOf(answer));
    }
    case 'extract':
    case 'rewrite':
      return [];
  }
}
