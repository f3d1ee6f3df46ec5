/** Import of MetaQA. */
import { join } from 'node:path';
import { inverseName } from '../../src/kg/graph.js';
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
import { markedTopics, type StoredQuestion } from '../questions/stored-question.js';
import { type ImportedFile, writeQuestionDataset } from '../questions/write-question-dataset.js';

/**
 * Reads `kb.txt` and the existing ones of `{1,2,3}-hop/` `qa_train.txt`, `qa_dev.txt`, `qa_test.txt` (also under `vanilla/`), with their
 * `qa_…_qtype.txt`. Inverse relations are added. Subsets `1-hop`, `2-hop`, `3-hop` on one graph `kb`.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
export async function importMetaQa(options: ImportOptions): Promise<QuestionManifest> {
  const { from, name = 'metaqa', home, progress } = options;
  const kb = requiredFile(from, ['kb.txt'], "MetaQA's knowledge base");
  const files = findQuestionFiles(from);
  return inSteps(progress, files.length + 2, async (done) => {
    const builder = await collectTriples(kb, { separator: '|' });
    const graph = builder.build('kb', { addInverses: true });
    const duplicates = builder.numTriples - graph.numEdges / 2;
    done('graph built');
    const subsets = new Map<string, Record<string, ImportedFile>>();
    for (const file of files) {
      const subset = `${file.hops}-hop`;
      subsets.set(subset, { ...subsets.get(subset), [file.file]: readMetaQaQuestions(file) });
      done(`${subset} ${file.file}`);
    }
    const note = `inverses (~relation) were added; ${duplicates} repeated lines merged; films of one title, and a film and a person of one name, are one entity`;
    const parts = {
      ...{ name, format: 'metaqa', licence: 'CC BY 3.0 (MetaQA, over the WikiMovies knowledge base)', heldTypes },
      partition: 'published' as const,
      graphs: [{ graph, note }],
      subsets: [...subsets].map(([subset, of]) => ({ name: subset, graph: graph.name, files: of })),
      sources: [kb, ...files.flatMap(({ questions, types }) => (types ? [questions, types] : [questions]))],
    };
    return writeQuestionDataset(parts, home);
  });
}

/** Entry of `importers.ts`. */
export const metaqa: Importer<'questions'> = { name: 'metaqa', kind: 'questions', import: importMetaQa };

function findQuestionFiles(folder: string): QuestionFile[] {
  const found = [1, 2, 3].flatMap((hops) =>
    ['train', 'dev', 'test'].flatMap((file) => {
      const inSubset = join(folder, `${hops}-hop`);
      const questions = firstFile(inSubset, [`qa_${file}.txt`, `vanilla/qa_${file}.txt`]);
      const types = firstFile(inSubset, [`qa_${file}_qtype.txt`, `vanilla/qa_${file}_qtype.txt`]);
      return questions === undefined ? [] : [{ hops, file, questions, types }];
    }),
  );
  if (found.length > 0) return found;
  const expected = "MetaQA's questions (1-hop/qa_dev.txt and the like)";
  throw new WorkbenchError('data', `expected ${expected}, got none, at ${folder}`, {
    hint: 'Give the folder that holds kb.txt, 1-hop, 2-hop and 3-hop.',
  });
}

/** Relation of `kb.txt` from a film to each role of question types. */
const relationOfRole: Readonly<Record<string, string>> = {
  actor: 'starred_actors',
  director: 'directed_by',
  writer: 'written_by',
  genre: 'has_genre',
  language: 'in_language',
  year: 'release_year',
  tag: 'has_tags',
  tags: 'has_tags',
  imdbrating: 'has_imdb_rating',
  imdbvotes: 'has_imdb_votes',
};

/**
 * `actor_to_movie_to_year` → `~starred_actors`, `release_year`: towards a film the relation is inverted. Undefined unless films and known
 * roles alternate.
 */
export function chainOfType(type: string): string[] | undefined {
  const roles = type.split('_to_');
  const chain = roles.slice(1).map((to, index) => {
    const from = roles[index]!;
    if ((from === 'movie') === (to === 'movie')) return undefined;
    const role = from === 'movie' ? to : from;
    const relation = Object.hasOwn(relationOfRole, role) ? relationOfRole[role]! : undefined;
    return relation && (from === 'movie' ? relation : inverseName(relation));
  });
  return chain.length > 0 && chain.every((relation) => relation !== undefined) ? chain : undefined;
}

/** Types that the hold-out `type` keeps for test: 5 of two hops, 4 of three; each of their relations occurs in train. */
export const heldTypes: readonly string[] = [
  'actor_to_movie_to_genre',
  'director_to_movie_to_actor',
  'director_to_movie_to_language',
  'writer_to_movie_to_genre',
  'writer_to_movie_to_language',
  'movie_to_actor_to_movie_to_writer',
  'movie_to_director_to_movie_to_language',
  'movie_to_director_to_movie_to_year',
  'movie_to_writer_to_movie_to_language',
];

interface QuestionFile {
  hops: number;
  /** `train`, `dev` or `test`. */
  file: string;
  questions: string;
  /** Absent if the folder has none: then types and chains are unknown. */
  types: string | undefined;
}

/**
 * Ids are `hops-line`, line from 0, and determine hash partitions; files other than dev append their name, so that ids are unique:
 * `2-1987`, `2-1987-train`. Questions without a bracketed topic or an answer are dropped and counted.
 * @throws WorkbenchError `data` that lists every broken line
 */
export function readMetaQaQuestions({ hops, file, questions, types }: QuestionFile): ImportedFile {
  const rows = textRows(questions, 'MetaQA questions');
  const typeOf = types === undefined ? [] : textRows(types, 'MetaQA question types');
  const problems = new LineProblems(questions);
  if (types !== undefined && typeOf.length !== rows.length) {
    problems.add(rows.length, `expected ${typeOf.length} lines, as many as ${types}, got ${rows.length}`);
  }
  const dropped = { 'no [topic] in the question': 0, 'no answer': 0 };
  const stored: StoredQuestion[] = [];
  rows.forEach((row, index) => {
    const fields = row.split('\t');
    if (fields.length !== 2) {
      const got = printable(JSON.stringify(row), 80);
      problems.add(index + 1, `expected a question, a TAB and answers, got ${fields.length} fields (${got})`);
      return;
    }
    const { question, topics } = markedTopics(fields[0]!);
    const answers = [...new Set(fields[1]!.split('|').filter((answer) => answer.trim() !== ''))];
    if (topics.length === 0) dropped['no [topic] in the question']++;
    else if (answers.length === 0) dropped['no answer']++;
    else {
      const type = typeOf[index];
      const chain = type === undefined ? undefined : chainOfType(type);
      stored.push({
        id: `${hops}-${index}${file === 'dev' ? '' : `-${file}`}`,
        question,
        topics,
        answers: answers.map((name) => ({ name })),
        chains: chain && [chain],
        ...{ type, hops },
      });
    }
  });
  problems.throwIfAny();
  return { questions: stored, dropped };
}
