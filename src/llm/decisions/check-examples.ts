/** Whether the examples of a prompt are what its reader reads. */
import { isDeepStrictEqual } from 'node:util';
import type { Decision, Example, ReplyOf } from '../decision.js';
import { exampleDecision } from './example-decision.js';
import { readReply } from './read-reply.js';
import { writeReply } from './write-reply.js';

/** What is wrong with each example whose reply, as rendered, the production parser does not read as itself; empty where all are right. */
export function checkExamples(decision: Decision): string[] {
  return decision.examples.flatMap((example, i) => {
    const own = exampleDecision(decision, example as Example<ReplyOf<Decision>>);
    const text = writeReply(own, example.reply);
    const read = readReply(own, text, { constrained: true });
    if (read?.stage === 'constrained' && isDeepStrictEqual(read.reply, example.reply)) return [];
    const got = read ? `${JSON.stringify(read.reply)} (${read.stage})` : 'nothing';
    return [`expected example ${i + 1} of ${decision.phase} to be read as it was written, got ${got}, at ${text}`];
  });
}
