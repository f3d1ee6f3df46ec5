/** What is particular to one kind of decision: how its reply is described, written, bound and read. */
import type { Decision, ReplyOf } from '../decision.js';
import type { ReplyShape } from './reply-shape.js';

/** How one kind of decision is answered. */
export interface ReplyForm<D extends Decision> {
  /** What to write, in a form that a small model cannot copy as if it were a reply; the same for every decision of a phase, because it stands in the cached head. */
  instruction: (decision: D) => string;
  /** Numbers that hold for this decision alone, such as how many may be chosen; empty where there are none. */
  limits: (decision: D) => string;
  /** The JSON value that says the reply; numbers count from 1, 0 is none. */
  write: (decision: D, reply: ReplyOf<D>) => unknown;
  /** The JSON values that may be written. */
  shape: (decision: D) => ReplyShape;
  /**
   * The reply that a JSON value says.
   * @param lenient other field names, bare values, and names where numbers were asked, count too
   */
  read: (decision: D, value: unknown, lenient: boolean) => ReplyOf<D> | undefined;
  /** The reply that lines of text say, where there is no JSON: numbered lists, `key: value`, semicolons. */
  readLines: (decision: D, lines: readonly string[]) => ReplyOf<D> | undefined;
}
