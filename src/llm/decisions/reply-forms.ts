/** The form of every kind of decision. */
import type { Decision, DecisionKind, ReplyOf } from '../decision.js';
import type { ReplyFormat } from '../language-model.js';
import { answerForm, extractForm, judgeForm } from './forms/answer.js';
import { chainsForm, pathsForm } from './forms/routes.js';
import { chooseManyForm, chooseOneForm, matchForm, scoreForm } from './forms/candidates.js';
import { rewriteForm } from './forms/rewrite.js';
import { type ReplyForm, shapeGrammar, shapeSchema, shapeTokens } from './reply-form.js';

const replyForms: { [Kind in DecisionKind]: ReplyForm<Extract<Decision, { kind: Kind }>> } = {
  extract: extractForm,
  'choose-one': chooseOneForm,
  'choose-many': chooseManyForm,
  score: scoreForm,
  match: matchForm,
  chains: chainsForm,
  rewrite: rewriteForm,
  paths: pathsForm,
  judge: judgeForm,
  answer: answerForm,
};

export function replyForm<D extends Decision>(decision: D): ReplyForm<D> {
  return replyForms[decision.kind] as unknown as ReplyForm<D>;
}

/** The compact JSON text that the reply's grammar derives and that the production parser reads as the same reply. */
export function writeReply<D extends Decision>(decision: D, reply: ReplyOf<D>): string {
  return JSON.stringify(replyForm(decision).write(decision, reply));
}

const slack = 48;

/**
 * Schema and grammar of the replies to a decision. The grammar says more: ranges, which relation sequences exist, no
 * white space. Neither can say that choices differ; repetitions are dropped on reading.
 */
export function replyFormat(decision: Decision): ReplyFormat {
  const shape = replyForm(decision).shape(decision);
  return { jsonSchema: shapeSchema(shape), gbnf: shapeGrammar(shape) };
}

/** Tokens that a reply may take. A longer one is cut, and what is complete of it read. */
export function maxReplyTokens(decision: Decision): number {
  return slack + shapeTokens(replyForm(decision).shape(decision));
}
