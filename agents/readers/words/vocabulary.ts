/** The words of questions whose topic is masked. */
import { maskedQuestion, type QuestionSample } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';

/** In alphabetical order; in a learned table a word's row is its place plus 1, row 0 stands for all others. */
export type Vocabulary = readonly string[];

/** `[e]`, runs of letters and digits with apostrophes inside, question marks and other apostrophes. */
const word = /\[e\]|[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*|[?']/gu;

/** A text's words in lower case, the last `most` of them; a text without a word is one empty word. */
export function wordsOf(text: string, most = Infinity): string[] {
  const words = text.toLowerCase().match(word) ?? [''];
  return words.length > most ? words.slice(-most) : words;
}

/** The words of train questions, `[E]` for their topics. */
export function vocabularyOf(train: readonly QuestionSample[]): Vocabulary {
  const words = new Set<string>();
  const note = madeFromSamples('frequency table', 'words of questions');
  for (const sample of train) {
    note(sample);
    for (const one of wordsOf(maskedQuestion(sample.task))) words.add(one);
  }
  return [...words].sort();
}
