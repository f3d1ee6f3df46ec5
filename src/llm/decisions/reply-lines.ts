/** Replies without JSON, line by line: lists, `key: value` and plain names. */

const longestLine = 500;
const mostLines = 500;

/** The reply without what chat models wrap it in: thoughts, code fences, chat terminators, `Output:`. */
export function bareReply(text: string): string {
  return text
    .replace(/^[^]*<\/think>/, '')
    .replace(/<\|[^|<>\n]{1,40}\|>|<\/?s>|<end_of_turn>|\[\/?INST\]/g, '')
    .replace(/^\s*```\w*\s*$|```(?:json|python)?/gm, '')
    .trim()
    .replace(/^(?:output|reply|response|json|a)\s*:\s*/i, '');
}

/** Lines with something on them, without bullets; numbers of numbered lists stay. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split(/[\r\n]+/, mostLines)) {
    const bare = line
      .slice(0, longestLine)
      .trim()
      .replace(/^[-*•]\s+/, '');
    if (bare !== '') lines.push(bare);
  }
  return lines;
}

/** Values of the lines `key: value` whose key, letter case and emphasis ignored, is one of `keys`. */
export function labelledValues(lines: readonly string[], keys: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, key, value] =
      /^[*"']{0,2}([A-Za-z][A-Za-z_ ]{0,30}?)(?:\s\d{1,2})?["'*]{0,2}\s*[:=][*]{0,2}\s*(.+)$/s.exec(line) ?? [];
    return key !== undefined && keys.includes(key.toLowerCase()) ? [value!.trim()] : [];
  });
}

/** What stands behind the numbers of a numbered list; undefined where any line but the first has none. */
export function numberedItems(lines: readonly string[]): string[] | undefined {
  const items = lines.map((line) => /^\(?\d{1,3}[.)]\s*(.+)$/s.exec(line)?.[1]);
  if (items.length > 1 && items[0] === undefined) items.shift();
  return items.length > 0 && items.every((item) => item !== undefined) ? items : undefined;
}

/** Parts of a list on one line, at semicolons or, where there are none and commas are asked for, at those. */
export function splitList(text: string, commas: boolean): string[] {
  const parts = text.includes(';') || !commas ? text.split(';') : text.split(',');
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
