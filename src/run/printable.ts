/** Names and texts from data, made safe for a terminal. */

const unsafe = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Replaces control characters, line breaks, bidirectional overrides and unpaired surrogates by escapes such as `\u001b`,
 * so that a name can neither move the cursor nor reorder a line. Names are kept as they are everywhere else.
 * @param limit longest result in UTF-16 units; longer texts end in an ellipsis
 */
export function printable(text: string, limit = Infinity): string {
  // What lies far beyond the limit need not be looked at.
  const safe = text.slice(0, limit + 1).replace(unsafe, escaped);
  return safe.length <= limit ? safe : `${safe.slice(0, limit - 1)}…`;
}

/**
 * The same for whole lines: line breaks and tabs stay. What goes to a terminal goes through this, whatever was done to its
 * parts before. JSON stays the same JSON, as its strings have these escapes too.
 */
export function printableLines(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}
