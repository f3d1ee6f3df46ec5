/** What a YAML text may be before it is parsed: the parser recurses, and one that is nested deeply enough ends the process. */
import { Lexer } from 'yaml';

/** Bytes of settings; they take some thousand, and the parser compares every key of a section with all others. */
export const longestConfig = 64 * 2 ** 10;
const deepest = 64;

/** What is wrong with the size or the nesting of a text; undefined for one that may be parsed. */
export function yamlExcess(text: string): string | undefined {
  if (text.length > longestConfig) return `expected at most ${longestConfig} characters, got ${text.length}`;
  let brackets = 0;
  let indent = 0;
  let leading = true;
  for (const token of new Lexer().lex(text)) {
    if (token === '\n' || token === '\r\n') {
      indent = 0;
      leading = true;
    } else if (leading && /^[ \t?-]+$/.test(token)) indent += token.length;
    else if (!/^[\x02\x18\x1f\ufeff]/.test(token)) leading = false;
    if (token === '[' || token === '{') brackets++;
    else if (token === ']' || token === '}') brackets--;
    // A level takes at least one bracket, or one column of indentation or list marks.
    if (brackets > deepest || (leading && indent > 2 * deepest)) return `expected at most ${deepest} levels, got more`;
  }
  return undefined;
}
