/** The form of every kind of decision. */
import type { Decision, DecisionKind } from '../decision.js';
import { answerForm } from './forms/answer.js';
import { chainsForm } from './forms/chains.js';
import { chooseManyForm } from './forms/choose-many.js';
import { chooseOneForm } from './forms/choose-one.js';
import { extractForm } from './forms/extract.js';
import { judgeForm } from './forms/judge.js';
import { matchForm } from './forms/match.js';
import { scoreForm } from './forms/score.js';
import type { ReplyForm } from './reply-form.js';

const replyForms: { [Kind in DecisionKind]: ReplyForm<Extract<Decision, { kind: Kind }>> } = {
  extract: extractForm,
  'choose-one': chooseOneForm,
  'choose-many': chooseManyForm,
  score: scoreForm,
  match: matchForm,
  chains: chainsForm,
  judge: judgeForm,
  answer: answerForm,
};

/** The form of a decision's kind. */
export function replyForm<D extends Decision>(decision: D): ReplyForm<D> {
  return replyForms[decision.kind] as unknown as ReplyForm<D>;
}
