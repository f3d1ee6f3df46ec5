/** How an agent decides: every call goes through one client that counts, keeps the budget and remembers completions. */
import type { Decision, ReplyOf } from './decision.js';

/** How a reply was read, from best to worst; see the parsing ladder. */
export type ParseStage = 'constrained' | 'direct' | 'extracted' | 'repaired' | 'asked-again' | 'unparsed';

/** A decision that was taken. */
export interface Decided<D extends Decision> {
  /** Absent where the model's replies could not be read, the second included: the agent has its own fallback. */
  reply?: ReplyOf<D>;
  stage: ParseStage;
  /** What the model wrote last. */
  text: string;
}

/** The call would have gone beyond the budget, which keeps one call for the final answer. Agents catch it and answer. */
export class BudgetSpent extends Error {
  constructor(readonly calls: number) {
    super(`the budget of ${calls} calls is spent`);
    this.name = 'BudgetSpent';
  }
}

/** One question's view of the client. */
export interface DecisionClient {
  /**
   * Asks the model. Candidates that a token budget cuts are never chosen; the cut is in the ledger.
   * @throws BudgetSpent where only the reserved call is left and the decision is not `final`, or none is left at all;
   *   WorkbenchError `data` where question and candidates do not fit the model's context; what the model throws
   */
  decide<D extends Decision>(decision: D): Promise<Decided<D>>;
  /** Calls left before the reserved one; Infinity without a budget. */
  readonly remaining: number;
}
