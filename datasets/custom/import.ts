/** Imports the user's own graph and questions. */
import { silentProgress } from '../../src/run/progress.js';
import type { ImportOptions } from '../opendialkg/import.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { requiredFile } from '../questions/text-rows.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { readCustomGraph, tripleFiles } from './read-graph.js';
import { readCustomQuestions } from './read-questions.js';

/** As of every importer, and whether labels of N-Triples become names. */
export interface CustomImportOptions extends ImportOptions {
  /** Of N-Triples: labels are names and aliases instead of edges. Default true. */
  labels?: boolean;
}

/**
 * Reads `triples.nt`, `.tsv`, `.txt` or `.csv` (also `.gz`) and `questions.jsonl` of a folder. One subset `all`; splits are those that the
 * questions name, or hash partitions where they name none.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` when the disk refuses
 */
export async function importCustom(options: CustomImportOptions): Promise<QuestionManifest> {
  const { from, name = 'custom', home, labels = true, progress = silentProgress } = options;
  const triples = requiredFile(from, tripleFiles, 'triples');
  const questions = requiredFile(from, ['questions.jsonl'], 'questions');
  const line = progress('import', 3, 'steps');
  try {
    const { graph, aliases, resolve, note } = await readCustomGraph(triples, labels);
    line.update(1, 'graph built');
    const files = readCustomQuestions(questions, { graph, resolve });
    line.update(2, 'questions read');
    const manifest = await writeQuestionDataset(
      {
        name,
        format: 'custom',
        licence: 'as its source says',
        graphs: [{ graph, note }],
        subsets: [{ name: 'all', graph: graph.name, files }],
        aliases,
        sources: [triples, questions],
      },
      home,
    );
    line.update(3, 'written');
    return manifest;
  } finally {
    line.finish();
  }
}
