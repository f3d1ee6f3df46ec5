/** Imports MetaQA from the folder of its release. */
import { join } from 'node:path';
import { WorkbenchError } from '../../src/run/errors.js';
import { silentProgress } from '../../src/run/progress.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { LineProblems } from '../line-problems.js';
import type { ImportOptions } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { firstFile, requiredFile } from '../questions/text-rows.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { heldTypes } from './question-types.js';
import type { QuestionFile } from './read-questions.js';
import { readMetaQaQuestions } from './read-questions.js';

/**
 * Reads `kb.txt` and, of `{1,2,3}-hop/`, whichever of `qa_train.txt`, `qa_dev.txt`, `qa_test.txt` there are (also under `vanilla/`), with
 * their `qa_…_qtype.txt`. Inverse relations are added. Subsets `1-hop`, `2-hop`, `3-hop` on one graph `kb`.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` when the disk refuses
 */
export async function importMetaQa(options: ImportOptions): Promise<QuestionManifest> {
  const { from, name = 'metaqa', home, progress = silentProgress } = options;
  const kb = requiredFile(from, ['kb.txt'], "MetaQA's knowledge base");
  const files = findQuestionFiles(from);
  const line = progress('import', files.length + 2, 'steps');
  try {
    const { graph, duplicates } = await readGraph(kb);
    line.update(1, 'graph built');
    const subsets = new Map<string, Record<string, ReturnType<typeof readMetaQaQuestions>>>();
    files.forEach((file, index) => {
      const subset = `${file.hops}-hop`;
      subsets.set(subset, { ...subsets.get(subset), [file.file]: readMetaQaQuestions(file) });
      line.update(index + 2, `${subset} ${file.file}`);
    });
    const manifest = await writeQuestionDataset(
      {
        name,
        format: 'metaqa',
        licence: 'CC BY 3.0 (MetaQA, over the WikiMovies knowledge base)',
        graphs: [
          {
            graph,
            note: `inverses (~relation) were added; ${duplicates} repeated lines merged; films of one title, and a film and a person of one name, are one entity`,
          },
        ],
        subsets: [...subsets].map(([subset, of]) => ({ name: subset, graph: graph.name, files: of })),
        heldTypes,
        sources: [kb, ...files.flatMap(({ questions, types }) => (types ? [questions, types] : [questions]))],
      },
      home,
    );
    line.update(files.length + 2, 'written');
    return manifest;
  } finally {
    line.finish();
  }
}

async function readGraph(kb: string) {
  const builder = new GraphBuilder();
  const problems = new LineProblems(kb);
  const options = { separator: '|', onProblem: (line: number, problem: string) => problems.add(line, problem) };
  await builder.addFile(kb, options);
  problems.throwIfAny();
  const duplicates = builder.numTriples - builder.build('kb').numEdges;
  return { graph: builder.build('kb', { addInverses: true }), duplicates };
}

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
  throw new WorkbenchError(
    'data',
    `expected MetaQA's questions (1-hop/qa_dev.txt and the like), got none, at ${folder}`,
    {
      hint: 'Give the folder that holds kb.txt, 1-hop, 2-hop and 3-hop.',
    },
  );
}
