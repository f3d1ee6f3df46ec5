/** Import of PathQuestion (PQ-2H and PQ-3H), each subset with a separate graph. */
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import {
  collectTriples,
  firstFile,
  type Importer,
  type ImportOptions,
  inSteps,
  LineProblems,
  requiredFile,
  textRows,
} from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { locatedTopic, type StoredQuestion } from '../questions/stored-question.js';
import { type ImportedFile, writeQuestionDataset } from '../questions/write-question-dataset.js';

/**
 * Reads the existing ones of `PQ-2H.txt` with `2H-kb.txt`, and `PQ-3H.txt` with `3H-kb.txt`. Inverse relations are added. The release has
 * no splits: `train`, `valid` and `test` are hash partitions of (topic, chain). Gold paths return to their topic (to a child's parent),
 * so topics are not excluded.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
export async function importPathQuestion(options: ImportOptions): Promise<QuestionManifest> {
  const { from, name = 'pathquestion', home, progress } = options;
  const found = [2, 3].flatMap((hops) => {
    const questions = firstFile(from, [`PQ-${hops}H.txt`]);
    return questions === undefined ? [] : [{ hops, subset: `${hops}H`, questions }];
  });
  if (found.length === 0) {
    throw new WorkbenchError('data', `expected PathQuestion (PQ-2H.txt or PQ-3H.txt), got neither, at ${from}`, {
      hint: 'Give the folder that holds PQ-2H.txt, 2H-kb.txt, PQ-3H.txt and 3H-kb.txt.',
    });
  }
  return inSteps(progress, found.length + 1, async (done) => {
    const imported = [];
    for (const { hops, subset, questions } of found) {
      const kb = requiredFile(from, [`${subset}-kb.txt`], `the knowledge base of PQ-${subset}`);
      const graph = (await collectTriples(kb)).build(subset, { addInverses: true });
      imported.push({ subset, graph, file: readPathQuestions(questions, subset, hops), sources: [kb, questions] });
      done(subset);
    }
    const parts = {
      ...{ name, format: 'pathquestion', topicsReturn: true },
      licence: 'for research use (PathQuestion, over Freebase)',
      graphs: imported.map(({ graph }) => ({ graph, note: 'inverses (~relation) were added' })),
      subsets: imported.map(({ subset, graph, file }) => ({ name: subset, graph: graph.name, files: { all: file } })),
      sources: imported.flatMap(({ sources }) => sources),
    };
    return writeQuestionDataset(parts, home);
  });
}

/** Entry of `importers.ts`. */
export const pathquestion: Importer<'questions'> = {
  name: 'pathquestion',
  kind: 'questions',
  import: importPathQuestion,
};

/**
 * Line format: `question TAB main(answer/answer/) TAB topic#relation#entity#…#<end>#main`: all names in parentheses are correct, and the
 * path's relations are the gold chain. Names keep their underscores. Questions of one topic and chain (paraphrases, other main answers)
 * form a group, which no partition splits.
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
