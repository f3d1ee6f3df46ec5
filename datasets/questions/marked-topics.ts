/** Where the topics of a question stand in its text. */
import type { StoredQuestion } from './stored-question.js';

/**
 * Takes the brackets of MetaQA's notation away: `who directed [Heat]` → plain text, and each bracketed name with its place. Brackets
 * that are empty or not closed stay as text; a bracket within brackets belongs to the name.
 */
export function markedTopics(text: string): Pick<StoredQuestion, 'question' | 'topics'> {
  const topics: StoredQuestion['topics'][number][] = [];
  let question = '';
  let read = 0;
  while (read < text.length) {
    const open = text.indexOf('[', read);
    const close = open < 0 ? -1 : closingBracket(text, open);
    if (close < 0) break;
    question += text.slice(read, open);
    const name = text.slice(open + 1, close);
    if (name.trim() === '') question += text.slice(open, close + 1);
    else {
      topics.push({ name, span: [question.length, question.length + name.length] });
      question += name;
    }
    read = close + 1;
  }
  return { question: question + text.slice(read), topics };
}

/**
 * A topic with the place of its first mention: with this case, else in any, bounded by something that is no letter or digit.
 * Without a place where the text does not show it.
 */
export function locatedTopic(question: string, name: string): StoredQuestion['topics'][number] {
  const lower = question.toLowerCase();
  // Lower case may be longer ("İ"): places would shift.
  const begin =
    mention(question, name) ?? (lower.length === question.length ? mention(lower, name.toLowerCase()) : undefined);
  return begin === undefined ? { name } : { name, span: [begin, begin + name.length] };
}

function mention(text: string, name: string): number | undefined {
  if (name === '') return undefined;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    // The letter beside it takes at most two units; what lies further would cost the square of the text.
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\p{L}\p{N}_]$/u.test(before) && !/^[\p{L}\p{N}_]/u.test(after)) return at;
  }
  return undefined;
}

function closingBracket(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '[') depth++;
    else if (text[at] === ']' && --depth === 0) return at;
  }
  return -1;
}
