/** From a request to tokens: the model's own chat template, cut in two where the request's head ends. */
import type { LlamaModel, LlamaText, Token } from 'node-llama-cpp';
import type { CompletionRequest, ScoreRequest } from '../language-model.js';
import type { llamaLibrary } from '../llama-library.js';
import { commonLength } from './prefix-cache.js';

/** A prompt in two parts that are tokenized separately, so that their tokens are independent. */
export interface PromptTokens {
  /** Everything up to the end of the request's head. */
  head: Token[];
  body: Token[];
}

/**
 * Tokenization of requests by the file’s own template; text of the request is never read as special tokens. A model
 * without a template gets system, prompt and `Reply:`, each set off by a blank line.
 */
export function chatLayout(library: Awaited<ReturnType<typeof llamaLibrary>>, model: LlamaModel) {
  const { LlamaText } = library;
  const { fileInfo, tokenizer } = model;
  const template = fileInfo.metadata.tokenizer?.chat_template;
  const wrapper = template?.trim()
    ? library.resolveChatWrapper({
        bosString: model.tokens.bosString,
        architecture: fileInfo.metadata.general.architecture,
        fileInfo,
        tokenizer,
        warningLogs: false,
      })
    : null;

  function render(system: string, user: string): { text: LlamaText; stops: readonly LlamaText[] } {
    if (wrapper === null) {
      const start = model.tokens.shouldPrependBosToken ? [new library.SpecialToken('BOS')] : [];
      return { text: LlamaText([...start, system, system && '\n\n', user, '\n\nReply:\n']), stops: [] };
    }
    const { contextText, stopGenerationTriggers } = wrapper.generateContextState({
      chatHistory: [
        ...(system ? [{ type: 'system' as const, text: system }] : []),
        { type: 'user', text: user },
        { type: 'model', response: [] },
      ],
    });
    return { text: contextText, stops: stopGenerationTriggers };
  }

  return {
    /** `template` is the model's own, `plain` the stand-in for a model without one. */
    kind: wrapper === null ? 'plain' : 'template',
    /** Texts that end a reply, in addition to the model's end tokens. */
    stops: render('', 'x')
      .stops.filter((stop) => stop.values.every((value) => typeof value === 'string'))
      .map(String)
      .filter((stop) => stop.trim() !== ''),
    tokens({ system, head, body }: Pick<CompletionRequest, 'system' | 'head' | 'body'>): PromptTokens {
      const [front, back] = cut(render(system, head + body).text, head, body);
      const headTokens = LlamaText(front).tokenize(tokenizer);
      // Some wrappers write the start token before a template that starts with it.
      if (headTokens.length > 1 && headTokens[0] === model.tokens.bos && headTokens[1] === headTokens[0]) {
        headTokens.shift();
      }
      const continued = headTokens.length > 0 ? 'trimLeadingSpace' : undefined;
      return { head: headTokens, body: LlamaText(back).tokenize(tokenizer, continued) };
    },
  };
}

/** Cuts where `head` ends. A template that rewrites the user's message leaves nothing to reuse: all of it is body. */
function cut(text: LlamaText, head: string, body: string): [front: LlamaText['values'], back: LlamaText['values']] {
  for (let index = text.values.length - 1; index >= 0; index--) {
    const value = text.values[index];
    // Templates may trim the end of a message.
    const start = typeof value === 'string' ? value.lastIndexOf(head + body.trimEnd()) : -1;
    if (typeof value !== 'string' || start < 0) continue;
    const end = start + head.length;
    return [
      [...text.values.slice(0, index), value.slice(0, end)],
      [value.slice(end), ...text.values.slice(index + 1)],
    ];
  }
  return [[], text.values];
}

/**
 * Body and text are tokenised together from the body’s last line on, and a text’s tokens are those that differ from the
 * body’s own: a tokenizer that joins the two is scored as it reads. Nothing is read as special tokens.
 * @returns `body`: common tokens after the head, usually the whole body; `continuations`: tokens of each text after it;
 *   `lengths`: of these, less what of the body they begin with. None is empty
 */
export function plainTokens(
  model: LlamaModel,
  { head, body }: Pick<ScoreRequest, 'head' | 'body'>,
  texts: readonly string[],
) {
  const cut = body.lastIndexOf('\n') + 1;
  const continued = (text: string) => (text === '' ? [] : model.tokenize(text, false, 'trimLeadingSpace'));
  const front = continued(body.slice(0, cut));
  const line = body.slice(cut);
  const alone = continued(line);
  const joint = texts.map((text) => continued(line + text));
  const shared = joint.map((tokens) => commonLength(alone, tokens, Math.min(alone.length, tokens.length - 1)));
  const least = shared.reduce((fewest, length) => Math.min(fewest, length), alone.length);
  return {
    head: plainHead(model, head),
    body: [...front, ...alone.slice(0, least)],
    continuations: joint.map((tokens) => tokens.slice(least)),
    lengths: joint.map((tokens, i) => tokens.length - shared[i]!),
  };
}

/** The tokens of a head, with the model's start token where it has one. */
export function plainHead(model: LlamaModel, head: string): Token[] {
  const { bos, shouldPrependBosToken } = model.tokens;
  return [...(shouldPrependBosToken && bos !== null ? [bos] : []), ...model.tokenize(head, false)];
}
