/** Decisions as documents: the prompt as the model gets it, and the reply that it should write. */
import type { Decision } from '../../../src/llm/decision.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import type { Rng } from '../../../src/run/seeds.js';
import { chatSegments } from '../../llama/chat-segments.js';
import type { CorpusSegment } from '../../llama/corpus-document.js';
import type { CorpusDraft, CorpusSource } from './draft.js';
import type { RecordedDecision } from './recording-model.js';

/** Weight of a prompt in the loss, and share of prompts without examples. */
export interface DecisionOptions {
  /** Weight, in [0, 1], of the tokens of question, facts and candidates. */
  bodyWeight: number;
  /** Share of the documents whose head has no solved examples: they are always the same, and cost tokens. */
  withoutExamples: number;
}

/** Weight of the part of a reply that might be another. */
const uncertainWeight = 0.3;

/** @param source what was asked of the agent */
export function decisionDraft(
  { request, decision, reply, certain }: RecordedDecision,
  source: CorpusSource,
  rng: Rng,
  { bodyWeight, withoutExamples }: DecisionOptions,
): CorpusDraft {
  const head = rng.uniform() < withoutExamples ? bareHead(decision) : request.head;
  const layout = chatSegments(request.system, head, request.body, reply);
  const segments = layout.flatMap((segment): readonly CorpusSegment[] => {
    if (!('text' in segment)) return [segment];
    if (segment.text === request.body) return [{ ...segment, weight: bodyWeight }];
    return segment.text === reply ? replySegments(reply, certain) : [segment];
  });
  return { kind: 'decision', phase: decision.phase, source, segments };
}

function replySegments(reply: string, certain: number): CorpusSegment[] {
  const parts = [
    { text: reply.slice(0, certain), weight: 1 },
    { text: reply.slice(certain), weight: uncertainWeight },
  ];
  return parts.filter(({ text }) => text !== '');
}

function bareHead(decision: Decision): string {
  return renderPrompt({ ...decision, examples: [] }).head;
}
