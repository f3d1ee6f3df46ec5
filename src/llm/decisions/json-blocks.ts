/** JSON inside other text. */

/** Characters looked at in all: a text of nothing but brackets must not cost time. */
const effort = 400_000;
const mostBlocks = 16;

/**
 * The outermost balanced `{…}` and `[…]` of a text, the last first; brackets inside strings do not count.
 */
export function balancedBlocks(text: string): string[] {
  const blocks: { begin: number; end: number }[] = [];
  let left = effort;
  for (let begin = text.length - 1; begin >= 0 && left > 0; begin--) {
    if (text[begin] !== '{' && text[begin] !== '[') continue;
    const end = blockEnd(text, begin);
    left -= Math.abs(end) - begin;
    if (end < 0) continue;
    while (blocks.length > 0 && blocks.at(-1)!.begin < end) blocks.pop();
    blocks.push({ begin, end });
    if (blocks.length > mostBlocks) break;
  }
  return blocks.map(({ begin, end }) => text.slice(begin, end));
}

/** Behind the bracket that closes the one at `begin`; negative where the scan ended in vain. */
function blockEnd(text: string, begin: number): number {
  const open: string[] = [];
  let quoted = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at]!;
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']');
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return -at;
      if (open.length === 0) return at + 1;
    }
  }
  return -text.length;
}
