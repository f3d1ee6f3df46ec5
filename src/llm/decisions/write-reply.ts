/** Typed replies as the texts that a model writes. */
import type { Decision, ReplyOf } from '../decision.js';
import { replyForm } from './reply-forms.js';

/** The compact JSON text that the reply's grammar derives and that the production parser reads as the same reply. */
export function writeReply<D extends Decision>(decision: D, reply: ReplyOf<D>): string {
  return JSON.stringify(replyForm(decision).write(decision, reply));
}
