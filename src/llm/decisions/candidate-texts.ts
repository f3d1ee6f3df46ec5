/** What a decision offers, as it stands in the prompt. */
import type { Candidate, Decision } from '../decision.js';
import { shownName } from './prompt-text.js';

/** Texts of the candidates, or of the allowed answers; empty where a decision offers nothing by number. */
export function offeredTexts(decision: Decision): string[] {
  return rawOffered(decision).map(shownName);
}

function rawOffered(decision: Decision): readonly string[] {
  if ('candidates' in decision) return textsOf(decision.candidates);
  return decision.kind === 'answer' ? (decision.allowed ?? []) : [];
}

/** Texts of candidates, in order. */
function textsOf(candidates: readonly Candidate[]): string[] {
  return candidates.map(({ text }) => text);
}

/** `text` as a candidate that stands for nothing but itself, as in examples. */
export function textCandidate(text: string): Candidate {
  return { kind: 'text', text };
}
