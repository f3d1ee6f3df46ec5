/** A chat request laid out in ChatML, token by token as the model gets it when it serves. */
import type { CorpusSegment } from './corpus-document.js';

/** The same layout for programs that render a file's own template. */
export const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/**
 * The segments of a request and its reply. Texts that the runtime tokenises apart stand apart: `head` and `body`, and the
 * name of a role and the text after it. Only the reply and the token that ends it count in the loss.
 * @param system left out with its whole message when empty
 * @param head start of the user's message, held evaluated between requests; may be empty
 * @param reply default none: the segments end where it begins
 */
export function chatSegments(system: string, head: string, body: string, reply?: string): CorpusSegment[] {
  const text = (value: string): CorpusSegment => ({ text: value, weight: 0 });
  const special = (name: 'bos' | 'im_start' | 'im_end'): CorpusSegment => ({ special: name, weight: 0 });
  const message = (role: string, ...texts: string[]) => [
    special('im_start'),
    text(`${role}\n`),
    ...texts.map(text),
    special('im_end'),
    text('\n'),
  ];
  return [
    special('bos'),
    ...(system === '' ? [] : message('system', system)),
    ...message('user', head, body),
    special('im_start'),
    text('assistant\n'),
    ...(reply === undefined
      ? []
      : [
          { text: reply, weight: 1 },
          { special: 'im_end' as const, weight: 1 },
        ]),
  ];
}
