/** From plain text to tokens, for scoring its continuations: no chat template, and no token that straddles a text's beginning unseen. */
import type { LlamaModel, Token } from 'node-llama-cpp';
import type { ScoreRequest } from '../language-model.js';

/** Plain text and its continuations. */
export interface PlainTokens {
  head: Token[];
  /** Common tokens of all continuations after the head, usually the whole body; never empty. */
  body: Token[];
  /** Tokens of each text after `body`; never empty. */
  continuations: Token[][];
  /** Tokens of each text: its continuation less what of the body it begins with. */
  lengths: number[];
}

/**
 * Body and text are tokenised together from the body's last line on, and a text's tokens are those that differ from the
 * body's own: so a tokenizer that joins the end of a body with the beginning of a text is scored as it reads. Nothing of
 * the text is read as special tokens.
 */
export function plainTokens(
  model: LlamaModel,
  { head, body }: Pick<ScoreRequest, 'head' | 'body'>,
  texts: readonly string[],
): PlainTokens {
  const headTokens = plainHead(model, head);
  const cut = body.lastIndexOf('\n') + 1;
  const continued = (text: string) => (text === '' ? [] : model.tokenize(text, false, 'trimLeadingSpace'));
  const front = continued(body.slice(0, cut));
  const line = body.slice(cut);
  const alone = continued(line);
  const joint = texts.map((text) => continued(line + text));
  const shared = joint.map((tokens) => commonLength(alone, tokens, Math.min(alone.length, tokens.length - 1)));
  const least = shared.reduce((fewest, length) => Math.min(fewest, length), alone.length);
  return {
    head: headTokens,
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

function commonLength(a: readonly Token[], b: readonly Token[], most: number): number {
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}
