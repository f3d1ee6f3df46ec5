/** One file of PathQuestion: question, answers and gold path, TAB between them. */
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../line-problems.js';
import { locatedTopic } from '../questions/marked-topics.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { textRows } from '../questions/text-rows.js';
import type { ImportedFile } from '../questions/write-question-dataset.js';

/**
 * Each line is `question TAB main(answer/answer/) TAB topic#relation#entity#…#<end>#main`: all names in the parentheses are right, and
 * the path's relations are the gold chain. Names keep their underscores. Paraphrases, and questions with another main answer,
 * of one topic and chain form one group: no partition puts one in train and another in test.
 * @param subset `2H` or `3H`; ids are `2H-17`, the line from 0
 * @throws WorkbenchError `data` that lists every broken line
 */
export function readPathQuestions(file: string, subset: string, hops: number): ImportedFile {
  const problems = new LineProblems(file);
  const questions: StoredQuestion[] = [];
  textRows(file, 'PathQuestion questions').forEach((row, index) => {
    const [text, answerField, path, ...rest] = row.split('\t');
    const chain = chainOf(path ?? '', hops);
    const answers = chain && answersOf(answerField ?? '', chain.main);
    if (text && text.trim() !== '' && chain && answers && rest.length === 0) {
      const question = text.trim();
      questions.push({
        id: `${subset}-${index}`,
        question,
        topics: [locatedTopic(question, chain.topic)],
        answers: answers.map((name) => ({ name })),
        chains: [chain.relations],
        type: chain.relations.join('/'),
        hops,
        group: [subset, chain.topic, ...chain.relations].join('#'),
      });
    } else {
      const expected = `a question, TAB, main(answer/answer/), TAB, a path of ${hops} relations`;
      problems.add(index + 1, `expected ${expected}, got ${printable(JSON.stringify(row), 120)}`);
    }
  });
  problems.throwIfAny();
  return { questions };
}

/** `composer(conducting/composer/)` → the main answer, which ends the path, then the others. */
function answersOf(field: string, main: string): string[] | undefined {
  if (!field.startsWith(`${main}(`) || !field.endsWith(')')) return undefined;
  const names = field.slice(main.length + 1, -1).split('/');
  return [...new Set([main, ...names.filter((name) => name !== '')])];
}

function chainOf(path: string, hops: number): { topic: string; relations: string[]; main: string } | undefined {
  const parts = path.split('#');
  if (parts.length !== 2 * hops + 3 || parts.at(-2) !== '<end>' || parts.some((part) => part === '')) return undefined;
  const relations = Array.from({ length: hops }, (_, hop) => parts[2 * hop + 1]!);
  return { topic: parts[0]!, relations, main: parts.at(-1)! };
}
