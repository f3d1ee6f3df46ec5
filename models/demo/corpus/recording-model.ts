/** A model that knows the right reply, records it with the prompt, and now and then gives another, so that agents go astray. */
import type { Decision, ReplyOf } from '../../../src/llm/decision.js';
import { writeReply } from '../../../src/llm/decisions/reply-forms.js';
import type { CompletionRequest, LanguageModel, ScoreRequest } from '../../../src/llm/language-model.js';

/** Right reply of a decision, and the reply given. */
export interface Taught {
  /** Absent where nothing is right, such as a choice among wrong candidates: then there is nothing to learn. */
  right: ReplyOf<Decision> | undefined;
  /** The part of it that cannot be said in another way. */
  certain: ReplyOf<Decision>;
  /** Reply to the agent. */
  reply: ReplyOf<Decision>;
}

/** A prompt as it was sent, with the text of the right reply. */
export interface RecordedDecision {
  request: Pick<CompletionRequest, 'system' | 'head' | 'body'>;
  /** Prompt, cut to the context. */
  decision: Decision;
  /** Certainly right part of the learned reply. */
  right: ReplyOf<Decision>;
  /** One that the reply's grammar derives. */
  reply: string;
  /** Characters of the reply from its beginning that cannot be others. */
  certain: number;
}

/** Teacher, context size and callback of each decision. */
export interface RecordingOptions {
  /** Tokens of prompt and reply, and how they are counted: prompts are cut as for the model that will be trained. */
  contextLength: number;
  countTokens: (text: string) => number;
  teach: (decision: Decision) => Taught;
  /** For every scored text whether a reply says what it stands for; absent: replies are written, none are scored. */
  says?: (asked: ScoreRequest, reply: ReplyOf<Decision>) => boolean[];
  onRecord: (record: RecordedDecision) => void;
}

/** For one run of an agent; nothing of it may be stored. */
export function recordingModel({ contextLength, countTokens, teach, says, onRecord }: RecordingOptions): LanguageModel {
  const known = new Map<Decision, ReplyOf<Decision>>();
  /** Notes a decision when it is first met: one by likelihood is asked for in several requests. */
  const replyTo = ({ system, head, body }: RecordedDecision['request'], decision: Decision): ReplyOf<Decision> => {
    const before = known.get(decision);
    if (before) return before;
    const { right, certain, reply } = teach(decision);
    if (right) {
      const whole = writeReply(decision, right);
      onRecord({
        ...{ request: { system, head, body }, decision, right: certain, reply: whole },
        certain: commonStart(whole, writeReply(decision, certain)),
      });
    }
    known.set(decision, reply);
    return reply;
  };
  const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  return {
    id: 'teacher',
    name: 'teacher',
    simulated: true,
    constrained: true,
    contextLength,
    concurrency: 1,
    countTokens,
    complete({ decision, ...request }) {
      return Promise.resolve({ text: writeReply(decision, replyTo(request, decision)), ...usage, stop: 'end' });
    },
    ...(says && {
      scoreTexts(asked: ScoreRequest, texts: readonly string[]) {
        const said = says(asked, replyTo({ system: '', ...asked }, asked.decision));
        const logProbs = Float64Array.from(said, (one) => (one ? 0 : -1));
        return Promise.resolve({ logProbs, tokens: new Int32Array(texts.length).fill(1), usage });
      },
    }),
    dispose: () => Promise.resolve(),
  };
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
