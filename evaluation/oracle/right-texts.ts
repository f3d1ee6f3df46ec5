/** A reply of the simulated model as texts that are right: the same decisions, taken by likelihood. */
import type { Decision, ReplyOf } from '../../src/llm/decision.js';
import type { ScoreRequest } from '../../src/llm/language-model.js';
import type { QuestionFacts } from './question-facts.js';
import { isGoldChain } from './right-candidates.js';

type Reply<Kind extends Decision['kind']> = ReplyOf<Extract<Decision, { kind: Kind }>>;

/**
 * For every text whether the reply says what it stands for, [meant]. None is right where the reply names nothing that is offered:
 * they tie then, so of a list of which several may be chosen all are, as many as it allows. By likelihood there is no choosing
 * nothing.
 */
export function rightTexts(
  facts: QuestionFacts,
  { decision, meant, target }: Pick<ScoreRequest, 'decision' | 'meant' | 'target'>,
  reply: ReplyOf<Decision>,
): boolean[] {
  const said = new Set(saidIndices(facts, decision, reply, target));
  return meant.map((index) => said.has(index));
}

function saidIndices(
  facts: QuestionFacts,
  decision: Decision,
  reply: ReplyOf<Decision>,
  target: number | undefined,
): number[] {
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
