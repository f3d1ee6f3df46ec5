/** Confusion of the simulated model `oracle:E,confuse=K`: by many choices, wrong ones that read like the question, clues already covered. */
import { readableRelation } from '../../agents/prompted/self-veqa/sub-graph.js';
import { maskedQuestion } from '../../datasets/question.js';
import { normalizeName } from '../../src/kg/name-index.js';
import type { Decision } from '../../src/llm/decision.js';
import type { QuestionFacts } from './question-facts.js';
import { goldPaths, isGoldChain, namesIn, rightCandidates, rightHop } from './right-candidates.js';

/** A decision as it confuses. */
export interface Confusion {
  /** Number of choices; 1 where nothing is offered. */
  choices: number;
  /** The same, each choice counted by its weight against that of the right ones; at least 1. */
  effective: number;
  /** Weights of what is offered, in its order: how like the question each reads. */
  weights: readonly number[];
  /** Weights of the targets of a match: a clue that an earlier hop has covered draws twice as much. */
  targets: readonly number[];
}

/** Weight of a choice that shares no word with the question. */
const least = 0.5;

/** @returns the probability of an error, in [0, 1]: 1 - (1 - error)^(1 + confuse · log2 of the choices, weighted) */
export function confusedError(error: number, confuse: number, { effective }: Pick<Confusion, 'effective'>): number {
  return 1 - (1 - error) ** (1 + confuse * Math.log2(effective));
}

/** O(length of what is offered). */
export function confusionOf(facts: QuestionFacts, decision: Decision): Confusion {
  const asked = piecesOf(maskedQuestion(facts.task).replaceAll('[E]', ' '));
  const weigh = (text: string) => {
    const pieces = piecesOf(text);
    const shared = [...pieces].filter((piece) => asked.has(piece)).length;
    return least + shared / Math.max(1, pieces.size);
  };
  const { texts, right, none = 0, targets = [1] } = offered(facts, decision);
  const weights = texts.map(weigh);
  const sumOf = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0);
  const rights = right.some(Boolean) ? weights.filter((_, i) => right[i]) : weights;
  const counted = weights.length === 0 ? 0 : (sumOf(weights) * rights.length) / sumOf(rights);
  return {
    choices: Math.max(1, (texts.length + none) * targets.length),
    effective: Math.max(1, (counted + none) * sumOf(targets)),
    ...{ weights, targets },
  };
}

interface Offered {
  texts: readonly string[];
  right: readonly boolean[];
  /** 1 where "none" may be chosen. */
  none?: number;
  /** Weights of the targets of a match: each candidate may go with any. */
  targets?: readonly number[];
}

function offered(facts: QuestionFacts, decision: Decision): Offered {
  switch (decision.kind) {
    case 'choose-one':
    case 'choose-many':
    case 'score':
    case 'match':
    case 'judge': {
      const texts = decision.candidates.map(({ text }) => text);
      const none = decision.kind === 'choose-one' ? Number(decision.allowNone) : 0;
      const shared = { texts, right: rightCandidates(facts, decision) };
      // A verdict on the evidence as a whole is yes or no.
      if (decision.kind === 'judge') return { ...shared, none: texts.length === 0 ? 2 : 1 };
      if (decision.kind !== 'match') return { ...shared, none };
      const hop = rightHop(facts, decision) ?? 0;
      const covered = new Set(facts.chains.flatMap(({ clues }) => clues.slice(0, hop).map(normalizeName)));
      return { ...shared, targets: decision.targets.map((one) => (covered.has(normalizeName(one)) ? 2 : 1)) };
    }
    case 'chains': {
      const texts = decision.allowed.map((chain) => chain.map(decision.relationName).join(' '));
      return { texts, right: decision.allowed.map((chain) => isGoldChain(facts, chain)) };
    }
    case 'paths': {
      const gold = new Set(goldPaths(facts, decision));
      const texts = decision.allowed.map((path) => path.map(([, one]) => decision.relationName(one)).join(' '));
      return { texts, right: texts.map((_, i) => gold.has(i)) };
    }
    case 'answer': {
      if (decision.form === 'truth') return { texts: [], right: [], none: 2 };
      const texts = decision.allowed ?? [...namesIn(decision.evidence).values()];
      return { texts, right: texts.map((text) => facts.answerNames.has(normalizeName(text))) };
    }
    case 'extract':
    case 'rewrite':
      return { texts: [], right: [], none: 1 };
  }
}

/** Triples of letters, so that `directed_by` is like "director". */
function piecesOf(text: string): Set<string> {
  const words = normalizeName(text.split(' ').map(readableRelation).join(' ')).split(' ').filter(Boolean);
  return new Set(
    words.flatMap((word) => Array.from({ length: Math.max(1, word.length - 2) }, (_, i) => word.slice(i, i + 3))),
  );
}
