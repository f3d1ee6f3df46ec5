/** A model that knows the right reply, notes it beside the prompt, and now and then gives another, so that agents go astray. */
import type { Decision, ReplyOf } from '../../../src/llm/decision.js';
import { writeReply } from '../../../src/llm/decisions/reply-forms.js';
import type { CompletionRequest, LanguageModel } from '../../../src/llm/language-model.js';

/** What is right for a decision, and what was replied. */
export interface Taught {
  /** Absent where nothing is right, such as a choice among wrong candidates: then there is nothing to learn. */
  right: ReplyOf<Decision> | undefined;
  /** The part of it that cannot be said in another way. */
  certain: ReplyOf<Decision>;
  /** What the agent gets. */
  reply: ReplyOf<Decision>;
}

/** A prompt as it was sent, with the text of the right reply. */
export interface RecordedDecision {
  request: Pick<CompletionRequest, 'system' | 'head' | 'body'>;
  /** As the prompt shows it: cut to the context. */
  decision: Decision;
  /** One that the reply's grammar derives. */
  reply: string;
  /** Characters of the reply from its beginning that cannot be others. */
  certain: number;
}

/** Who teaches, for which context, and who is told of each decision. */
export interface RecordingOptions {
  /** Tokens of prompt and reply, and how they are counted: prompts are cut as for the model that will be trained. */
  contextLength: number;
  countTokens: (text: string) => number;
  teach: (decision: Decision) => Taught;
  onRecord: (record: RecordedDecision) => void;
}

/** For one run of an agent; nothing of it may be stored. */
export function recordingModel({ contextLength, countTokens, teach, onRecord }: RecordingOptions): LanguageModel {
  return {
    id: 'teacher',
    name: 'teacher',
    simulated: true,
    constrained: true,
    contextLength,
    concurrency: 1,
    countTokens,
    complete({ system, head, body, decision }) {
      const { right, certain, reply } = teach(decision);
      if (right) {
        const whole = writeReply(decision, right);
        onRecord({
          ...{ request: { system, head, body }, decision, reply: whole },
          certain: commonStart(whole, writeReply(decision, certain)),
        });
      }
      const text = writeReply(decision, reply);
      return Promise.resolve({ text, promptTokens: 0, cachedTokens: 0, completionTokens: 0, stop: 'end' });
    },
    dispose: () => Promise.resolve(),
  };
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
