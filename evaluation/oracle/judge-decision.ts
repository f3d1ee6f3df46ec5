/** Checks a decision by the rules of the simulated model, with the probability that chance takes it rightly. */
import type { Graph } from '../../src/kg/graph.js';
import { normalizeName } from '../../src/kg/name-index.js';
import type {
  AnswerDecision,
  Candidate,
  ChainsDecision,
  Decision,
  JudgeDecision,
  ReplyOf,
} from '../../src/llm/decision.js';
import { Rng } from '../../src/run/seeds.js';
import { namesIn, goldPaths, isGoldChain, rightCandidates, rightHop } from './right-candidates.js';
import type { QuestionFacts } from './question-facts.js';
import { rightReply } from './right-reply.js';

/** A decision that could be taken rightly. */
export interface Judged {
  /** Share of right items among those ranked first, in [0, 1]: 0 or 1 without ties. */
  right: number;
  /** Share of what was offered that is right: what a uniform choice would get, in [0, 1]. */
  chance: number;
  /** Hop of the gold chain that was to be taken, from 1; absent for whole chains, verdicts and answers. */
  hop?: number;
}

/**
 * Judges what came of a decision by what was put first: the first choice, the highest score, the first chain or answer.
 * @param reply absent where none could be read, which is wrong
 * @returns `lost` where nothing right was offered, such as off the gold chain; undefined for what has no right reply to choose
 */
export function judgeDecision(
  graph: Graph,
  facts: QuestionFacts,
  decision: Decision,
  reply: ReplyOf<Decision> | undefined,
): Judged | 'lost' | undefined {
  switch (decision.kind) {
    case 'choose-one': {
      const { choice = -1 } = (reply as ReplyOf<typeof decision>) ?? {};
      return judgedCandidates(facts, decision, choice < 0 ? [] : [choice]);
    }
    case 'choose-many':
      return judgedCandidates(facts, decision, (reply as ReplyOf<typeof decision>)?.choices.slice(0, 1));
    case 'score': {
      const { scores = [] } = (reply as ReplyOf<typeof decision>) ?? {};
      const most = Math.max(...scores);
      const first = [...scores.keys()].filter((i) => most > 0 && scores[i] === most);
      return judgedCandidates(facts, decision, first);
    }
    case 'match': {
      if (isLastStep(facts, decision)) return undefined;
      const { matches = [] } = (reply as ReplyOf<typeof decision>) ?? {};
      const most = Math.max(...matches.map(({ score }) => score));
      const first = new Set(matches.flatMap(({ candidate, score }) => (score === most ? candidate : [])));
      return judgedCandidates(facts, decision, [...first]);
    }
    case 'chains':
      return judgedChains(facts, decision, reply as ReplyOf<typeof decision> | undefined);
    case 'judge':
      return judgedVerdict(graph, facts, decision, reply as ReplyOf<typeof decision> | undefined);
    case 'answer':
      return judgedAnswer(facts, decision, reply as ReplyOf<typeof decision> | undefined);
    case 'paths': {
      const gold = goldPaths(facts, decision);
      const right = Array.from(decision.allowed, (_, i) => gold.includes(i));
      return judgedAmong(right, (reply as ReplyOf<typeof decision>)?.paths.slice(0, 1));
    }
    case 'extract':
    case 'rewrite':
      return undefined;
  }
}

/** Entities of the last hop speak for no part of the question, since the answer is what it leaves open. */
function isLastStep(facts: QuestionFacts, decision: Decision & { candidates: readonly Candidate[] }): boolean {
  const hop = decision.candidates.some(({ kind }) => kind === 'entity') ? rightHop(facts, decision) : undefined;
  return hop !== undefined && facts.chains.every(({ relations }) => relations.length === hop + 1);
}

/** @param first indices of what was put first */
function judgedAmong(right: readonly boolean[], first: readonly number[] = []): Judged | 'lost' {
  const many = right.filter(Boolean).length;
  if (many === 0) return 'lost';
  return {
    right: first.length === 0 ? 0 : first.filter((index) => right[index]).length / first.length,
    chance: many / right.length,
  };
}

function judgedCandidates(
  facts: QuestionFacts,
  decision: Decision & { candidates: readonly Candidate[] },
  first: readonly number[] | undefined,
): Judged | 'lost' {
  const judged = judgedAmong(rightCandidates(facts, decision), first);
  const hop = judged === 'lost' ? undefined : rightHop(facts, decision);
  return judged === 'lost' || hop === undefined ? judged : { ...judged, hop: hop + 1 };
}

function judgedChains(facts: QuestionFacts, { allowed }: ChainsDecision, reply?: ReplyOf<ChainsDecision>) {
  const keys = allowed.map((chain) => chain.join());
  const first = reply?.chains[0]?.join();
  const right = allowed.map((chain) => isGoldChain(facts, chain));
  const indices = [...keys.keys()].filter((i) => keys[i] === first);
  return judgedAmong(right, indices);
}

/** "None" is a verdict too, and the right one where nothing found suffices. */
function judgedVerdict(graph: Graph, facts: QuestionFacts, decision: JudgeDecision, reply?: ReplyOf<JudgeDecision>) {
  const verdicts = Math.max(decision.candidates.length, 1) + 1;
  // Nothing is drawn for a verdict.
  const wanted = rightReply(graph, facts, decision, Rng.named(0, 'judge')) as ReplyOf<JudgeDecision>;
  const answersOf = (choice: number) => {
    const candidate = decision.candidates[choice];
    return candidate?.kind === 'chain' && facts.task.form === 'entities'
      ? [...candidate.answers].sort().join()
      : choice;
  };
  const right = Array.from({ length: verdicts }, (_, i) => answersOf(i - 1) === answersOf(wanted.choice));
  return judgedAmong(right, reply && [reply.choice + 1]);
}

/** Among the texts offered, else the names in the facts; without either any answer may be given, and chance gets none. */
function judgedAnswer(
  facts: QuestionFacts,
  { form, allowed, evidence }: AnswerDecision,
  reply?: ReplyOf<AnswerDecision>,
) {
  const first = reply?.answers[0];
  if (form === 'truth') return { right: Number(first === String(facts.gold.truth)), chance: 1 / 2 };
  const isRight = (name: string) => facts.answerNames.has(normalizeName(name));
  const offered = allowed ?? [...namesIn(evidence).values()];
  const right = first !== undefined && isRight(first) ? 1 : 0;
  if (offered.length === 0) return { right, chance: 0 };
  const many = offered.filter(isRight).length;
  return many === 0 ? 'lost' : { right, chance: many / offered.length };
}
