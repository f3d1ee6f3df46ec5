/** Examples as decisions of their own, so that the same code renders, binds and reads them. */
import type { ChainsReply, Decision, Example, ReplyOf } from '../decision.js';
import { textCandidate } from './candidate-texts.js';

/** The decision that an example solves: the same kind and phase, its own question, evidence and candidates. */
export function exampleDecision(decision: Decision, example: Example<ReplyOf<Decision>>): Decision {
  const candidates = (example.candidates ?? []).map(textCandidate);
  const own = {
    question: example.question,
    evidence: example.evidence ?? [],
    context: example.context ?? [],
    examples: [],
  };
  switch (decision.kind) {
    case 'extract':
      return { ...decision, ...own };
    case 'choose-one':
    case 'choose-many':
    case 'score':
    case 'judge':
      return { ...decision, ...own, candidates };
    case 'match':
      return { ...decision, ...own, candidates, targets: example.targets ?? [] };
    case 'answer':
      return decision.allowed ? { ...decision, ...own, allowed: example.candidates ?? [] } : { ...decision, ...own };
    case 'chains': {
      const { chains } = example.reply as ChainsReply;
      return { ...decision, ...own, allowed: chains, count: chains.length, hops: chains[0]?.length ?? decision.hops };
    }
  }
}
