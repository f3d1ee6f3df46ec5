/** Texts that are longer than what counts of them. */
import { WorkbenchError } from '../run/errors.js';

/** Characters of a text that an error shows. */
const shown = 60;

/** Whether a text has fewer than `limit` tokens, without looking at them: plain ASCII never has more tokens than characters. */
export function surelyFits(text: string, limit: number): boolean {
  return text.length < limit && /^[\x20-\x7e]*$/.test(text);
}

/**
 * Looks at the tokens of those texts alone that may be too long.
 * @param limit most tokens, special ones not counted
 * @param where whose limit it is, such as `m.gguf (context of 512 tokens)`
 * @throws WorkbenchError `data` that names the first text with more
 */
export async function refuseOverlong(
  texts: readonly string[],
  limit: number,
  { where, countTokens }: { where: string; countTokens: (texts: readonly string[]) => Promise<Int32Array> },
): Promise<void> {
  const long = texts.filter((text) => !surelyFits(text, limit));
  if (long.length === 0) return;
  const counts = await countTokens(long);
  const place = counts.findIndex((count) => count > limit);
  if (place === -1) return;
  const text = long[place]!;
  const begin = text.length > shown ? `${text.slice(0, shown)}…` : text;
  throw new WorkbenchError(
    'data',
    `expected texts of at most ${limit} tokens, got one of ${counts[place]}: ${JSON.stringify(begin)}, at ${where}`,
    { hint: 'Shorten the texts by their budget in tokens, or choose a model with a longer context.' },
  );
}
