/** Allocation of prompt tokens: the order in which parts are cut when a prompt does not fit. */
import { WorkbenchError } from '../../run/errors.js';
import type { ContextBlock, Decision, ReplyOf } from '../decision.js';
import { renderPrompt } from './render-prompt.js';

/** Amount cut from each part. */
export interface Dropped {
  /** Lines of context blocks of that role. */
  history: number;
  examples: number;
  evidence: number;
  candidates: number;
}

/** A decision that fits the context. */
export interface Fitted<D extends Decision> {
  /** Fitted decision; the same object when nothing was cut. Kept candidates keep their indices. */
  decision: D;
  dropped: Dropped;
}

type Part = keyof Dropped;

/** Cut from first to last. System, task, question, steps and targets are never cut. */
const order: readonly Part[] = ['history', 'examples', 'evidence', 'candidates'];

/**
 * The decision with as much as fits: history goes first, oldest lines first, then examples, facts and candidates from
 * their ends; one candidate stays.
 * @param maxPromptTokens of the whole prompt
 * @param sizeOf tokens evaluated at once; default those of the prompt, without the chat template
 * @throws WorkbenchError `data` where question and one candidate do not fit
 */
export function fitToContext<D extends Decision>(
  decision: D,
  {
    maxPromptTokens,
    countTokens,
    sizeOf = (one) => countTokens(promptText(one)),
  }: { maxPromptTokens: number; countTokens: (text: string) => number; sizeOf?: ((decision: D) => number) | undefined },
): Fitted<D> {
  const size = (dropped: Dropped) => sizeOf(withoutDropped(decision, dropped));
  const dropped: Dropped = { history: 0, examples: 0, evidence: 0, candidates: 0 };
  let tokens = size(dropped);
  if (tokens <= maxPromptTokens) return { decision, dropped };
  const most = sizes(decision);
  for (const part of order) {
    if (most[part] === 0) continue;
    tokens = size({ ...dropped, [part]: most[part] });
    if (tokens <= maxPromptTokens) {
      dropped[part] = fewest(most[part], (count) => size({ ...dropped, [part]: count }) <= maxPromptTokens);
      return { decision: withoutDropped(decision, dropped), dropped };
    }
    dropped[part] = most[part];
  }
  const got = `${tokens} with nothing but task and question left, at question ${decision.questionId} (${decision.phase})`;
  throw new WorkbenchError('data', `expected a prompt of at most ${maxPromptTokens} tokens, got ${got}`, {
    hint: 'Use a model with a longer context, or raise its context length.',
  });
}

function promptText(decision: Decision): string {
  const { system, head, body } = renderPrompt(decision);
  return `${system}\n${head}${body}`;
}

/** The reply to a decision that was cut, as a reply to the whole: candidates that the model never saw score 0. */
export function uncutReply<D extends Decision>(decision: D, reply: ReplyOf<D>): ReplyOf<D> {
  if (decision.kind !== 'score' || !('scores' in reply)) return reply;
  const unseen = decision.candidates.length - reply.scores.length;
  return { ...reply, scores: [...reply.scores, ...new Array<number>(unseen).fill(0)] };
}

function fewest(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sizes(decision: Decision): Dropped {
  const history = (decision.context ?? []).filter(isHistory);
  return {
    history: history.reduce((sum, { lines }) => sum + lines.length, 0),
    examples: decision.examples.length,
    evidence: decision.evidence.length,
    candidates: Math.max(offered(decision).length - 1, 0),
  };
}

function offered(decision: Decision): readonly unknown[] {
  if ('candidates' in decision) return decision.candidates;
  return decision.kind === 'answer' || decision.kind === 'paths' ? (decision.allowed ?? []) : [];
}

/** The decision without what was cut: what a replay, which counts no tokens, makes again of a stored cut. */
export function withoutDropped<D extends Decision>(decision: D, dropped: Dropped): D {
  const kept = {
    context: withoutOldest(decision.context ?? [], dropped.history),
    examples: decision.examples.slice(0, decision.examples.length - dropped.examples),
    evidence: decision.evidence.slice(0, decision.evidence.length - dropped.evidence),
  };
  const left = offered(decision).length - dropped.candidates;
  if ('candidates' in decision) return { ...decision, ...kept, candidates: decision.candidates.slice(0, left) };
  if ((decision.kind === 'answer' || decision.kind === 'paths') && decision.allowed) {
    return { ...decision, ...kept, allowed: decision.allowed.slice(0, left) };
  }
  return { ...decision, ...kept };
}

function withoutOldest(blocks: readonly ContextBlock[], count: number): ContextBlock[] {
  let left = count;
  return blocks.map((block) => {
    if (!isHistory(block)) return block;
    const cut = Math.min(left, block.lines.length);
    left -= cut;
    return { ...block, lines: block.lines.slice(cut) };
  });
}

const isHistory = ({ role }: ContextBlock): boolean => role === 'history' || role === 'notes';
