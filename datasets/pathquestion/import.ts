/** Imports PathQuestion (PQ-2H and PQ-3H), each subset on its own small graph. */
import { silentProgress } from '../../src/run/progress.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { LineProblems } from '../line-problems.js';
import type { ImportOptions } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { firstFile, requiredFile } from '../questions/text-rows.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { readPathQuestions } from './read-questions.js';

/**
 * Reads `PQ-2H.txt` with `2H-kb.txt`, and `PQ-3H.txt` with `3H-kb.txt`, whichever are there. Inverse relations are added. The release has
 * no splits: `train`, `valid` and `test` are hash partitions of (topic, chain). Gold paths come back to their topic (to a child's
 * parent), so topics stay.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` when the disk refuses
 */
export async function importPathQuestion(options: ImportOptions): Promise<QuestionManifest> {
  const { from, name = 'pathquestion', home, progress = silentProgress } = options;
  const found = [2, 3].flatMap((hops) => {
    const questions = firstFile(from, [`PQ-${hops}H.txt`]);
    return questions === undefined ? [] : [{ hops, subset: `${hops}H`, questions }];
  });
  if (found.length === 0) {
    throw new WorkbenchError('data', `expected PathQuestion (PQ-2H.txt or PQ-3H.txt), got neither, at ${from}`, {
      hint: 'Give the folder that holds PQ-2H.txt, 2H-kb.txt, PQ-3H.txt and 3H-kb.txt.',
    });
  }
  const line = progress('import', found.length + 1, 'steps');
  try {
    const imported = [];
    for (const { hops, subset, questions } of found) {
      const kb = requiredFile(from, [`${subset}-kb.txt`], `the knowledge base of PQ-${subset}`);
      const graph = await readGraph(kb, subset);
      imported.push({ subset, graph, file: readPathQuestions(questions, subset, hops), sources: [kb, questions] });
      line.update(imported.length, subset);
    }
    return await writeQuestionDataset(
      {
        name,
        format: 'pathquestion',
        licence: 'for research use (PathQuestion, over Freebase)',
        graphs: imported.map(({ graph }) => ({ graph, note: 'inverses (~relation) were added' })),
        subsets: imported.map(({ subset, graph, file }) => ({
          name: subset,
          graph: graph.name,
          files: { all: file },
        })),
        topicsReturn: true,
        sources: imported.flatMap(({ sources }) => sources),
      },
      home,
    );
  } finally {
    line.finish();
  }
}

async function readGraph(kb: string, subset: string) {
  const builder = new GraphBuilder();
  const problems = new LineProblems(kb);
  const onProblem = (line: number, problem: string) => problems.add(line, problem);
  await builder.addFile(kb, { onProblem });
  problems.throwIfAny();
  return builder.build(subset, { addInverses: true });
}
