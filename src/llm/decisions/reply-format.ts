/** What a model's reply to a decision is bound to. */
import type { Decision } from '../decision.js';
import type { ReplyFormat } from '../language-model.js';
import { replyForm } from './reply-forms.js';
import { shapeGrammar } from './reply-grammar.js';
import { shapeSchema, shapeTokens } from './reply-shape.js';

/** Beyond the reply itself: white space, code fences and a sentence around it, from models that are not bound. */
const slack = 48;

/**
 * Schema and grammar of the replies to a decision. The grammar says more than the schema: ranges of every number, which
 * relation sequences exist, no white space. That chains or choices differ from each other neither can say; repeated ones
 * are dropped on reading.
 */
export function replyFormat(decision: Decision): ReplyFormat {
  const shape = replyForm(decision).shape(decision);
  return { jsonSchema: shapeSchema(shape), gbnf: shapeGrammar(shape) };
}

/** Tokens that a reply may take. A longer one is cut, and what is complete of it read. */
export function maxReplyTokens(decision: Decision): number {
  return slack + shapeTokens(replyForm(decision).shape(decision));
}
