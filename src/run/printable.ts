/** Names and texts from data, made safe for a terminal. */

/**
 * Replaces control characters, line breaks, bidirectional overrides and unpaired surrogates by escapes such as `\u001b`,
 * so that a name can neither move the cursor nor reorder a line. Names are kept as they are everywhere else.
 * @param limit longest result in UTF-16 units; longer texts end in an ellipsis
 */
export function printable(text: string, limit = Infinity): string {
  const safe = text.replace(
    /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return safe.length <= limit ? safe : `${safe.slice(0, limit - 1)}…`;
}
