/** The right reply to what an agent asks about a question. */
import { answersIn, isGoldChain, rightCandidates } from '../../../evaluation/oracle/right-candidates.js';
import type { QuestionFacts } from '../../../evaluation/oracle/question-facts.js';
import { fullScore, rightReply } from '../../../evaluation/oracle/right-reply.js';
import { wrongReply } from '../../../evaluation/oracle/wrong-reply.js';
import { relationRange } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import type {
  AnswerDecision,
  AnswerReply,
  ChainsDecision,
  Decision,
  MatchDecision,
  MatchReply,
  ReplyOf,
} from '../../../src/llm/decision.js';
import type { Rng } from '../../../src/run/seeds.js';
import type { Taught } from './recording-model.js';
import { sentenceOf } from './sentences.js';

/** Answers from memory are short: a small model that begins a long list never ends it. */
const mostRemembered = 6;

/**
 * @param error probability, in [0, 1], that the agent gets a wrong reply
 * @param scored whether what is chosen is scored: then clues are words of the question, not phrases that the model wrote
 */
export function teachQuestion(graph: Graph, facts: QuestionFacts, rng: Rng, error: number, scored = false) {
  return (decision: Decision): Taught => {
    const fromMemory = decision.kind === 'answer' && decision.evidence.length === 0 && remembers(decision);
    const right = fromMemory
      ? remembered(graph, facts, decision, rng)
      : scored && decision.kind === 'match'
        ? wordsOfRelations(facts, decision)
        : read(graph, facts, decision, rng);
    const errs = !fromMemory && rng.uniform() < error;
    return {
      right: isCertain(facts, decision, right) ? right : undefined,
      certain: certainPart(facts, decision, right),
      reply: errs ? wrongReply(graph, facts, decision, right, rng) : error > 0 ? inAnyOrder(right, rng) : right,
    };
  };
}

/** Chains that are to be verified: were the right one always the first, nothing would be learned of the others. */
function inAnyOrder(right: ReplyOf<Decision>, rng: Rng): ReplyOf<Decision> {
  if (!('chains' in right)) return right;
  return { chains: Array.from(rng.shuffle(Int32Array.from(right.chains.keys())), (index) => right.chains[index]!) };
}

/** Phases that request memorised facts. */
const remembers = ({ phase }: Decision): boolean => ['io', 'cot', 'direct-answer'].includes(phase);

/** Answers stand in the order in which the prompt shows them: they can be copied from top to bottom. */
function read(graph: Graph, facts: QuestionFacts, decision: Decision, rng: Rng): ReplyOf<Decision> {
  const right = rightReply(graph, facts, decision, rng);
  if (decision.kind === 'chains') return { chains: nearChains(facts, decision, rng) };
  if (!('answers' in right) || facts.task.form === 'truth') return right;
  const shown = decision.evidence.flatMap(([head, , tail]) => [head, tail]);
  const known = new Set(answersIn(facts, decision.evidence));
  const answers = [...new Set(shown)].filter((name) => known.has(name) && right.answers.includes(name));
  return { ...right, answers };
}

/**
 * Every word other than names supports the relation to follow: which words really do shows over many questions, since others
 * occur with all relations alike.
 */
function wordsOfRelations(facts: QuestionFacts, decision: MatchDecision): MatchReply {
  const right = rightCandidates(facts, decision);
  const matches = decision.candidates.flatMap(({ kind }, candidate) =>
    kind !== 'relation' || !right[candidate]
      ? []
      : decision.targets.flatMap((word, target) =>
          startsName.test(word) ? [] : [{ candidate, target, score: fullScore }],
        ),
  );
  return { matches };
}

const startsName = /^\p{Lu}/u;

/** Gold chains, then those that share most steps with one: what else a reader of the question might think of. */
function nearChains(facts: QuestionFacts, { allowed, count }: ChainsDecision, rng: Rng): number[][] {
  const golds = facts.chains.map(({ relations }) => relations);
  const rated = allowed.map((chain) => {
    const shared = golds.map((gold) => gold.filter((relation, hop) => chain[hop] === relation).length / gold.length);
    return { chain, gold: isGoldChain(facts, chain), value: Math.max(0, ...shared) + rng.uniform() / 8 };
  });
  rated.sort((a, b) => Number(b.gold) - Number(a.gold) || b.value - a.value);
  return rated.slice(0, count).map(({ chain }) => [...chain]);
}

/** Set if the reply is more than a guess. */
function isCertain(facts: QuestionFacts, decision: Decision, right: ReplyOf<Decision>): boolean {
  if (decision.kind === 'chains' && 'chains' in right) {
    return right.chains.some((chain) => isGoldChain(facts, chain));
  }
  return decision.kind !== 'choose-one' || decision.allowNone || rightCandidates(facts, decision).includes(true);
}

/** Gold chains among several; the choice of others is arbitrary. */
function certainPart(facts: QuestionFacts, decision: Decision, right: ReplyOf<Decision>): ReplyOf<Decision> {
  if (!('chains' in right)) return right;
  return { chains: right.chains.filter((chain) => isGoldChain(facts, chain)) };
}

function remembered(graph: Graph, facts: QuestionFacts, decision: AnswerDecision, rng: Rng): AnswerReply {
  const { gold, task } = facts;
  const answers =
    task.form === 'truth'
      ? [String(gold.truth === true)]
      : gold.answers.slice(0, mostRemembered).map(({ name }) => name);
  if (!decision.withReasoning) return { answers };
  const reasoning = oneWalk(graph, facts, rng).join(' ').slice(0, 300).trim();
  return { answers, reasoning: reasoning || 'Nothing is known of it.' };
}

/** The gold chain in sentences, along one of its walks. */
function oneWalk(graph: Graph, { task, chains }: QuestionFacts, rng: Rng): string[] {
  const [chain] = chains;
  let at = task.topics.find(({ entity }) => entity >= 0)?.entity;
  const said: string[] = [];
  for (const [hop, relation] of (chain?.relations ?? []).entries()) {
    if (at === undefined) break;
    const [begin, end] = relationRange(graph, at, relation);
    const next = chain!.frontiers[hop + 1]!;
    const tails = [...graph.tails.subarray(begin, end)].filter((tail) => next.has(tail));
    const tail = tails[rng.integer(Math.max(tails.length, 1))];
    if (tail === undefined) break;
    said.push(sentenceOf(graph, [at, relation, tail], rng));
    at = tail;
  }
  return said;
}
