/** Whether an imported question data set is still what was imported. */
import { WorkbenchError } from '../../src/run/errors.js';
import { alteredFiles } from '../altered-files.js';
import type { QuestionDataset } from './question-registry.js';

/** Compares files, hashes and counts with the manifest. @returns one sentence a problem; empty when all is well */
export async function checkQuestionDataset(dataset: QuestionDataset): Promise<string[]> {
  const { folder, manifest } = dataset;
  const problems = await alteredFiles(folder, manifest.files);
  if (problems.length > 0) return problems;
  try {
    for (const [subset, { graph: name, files }] of Object.entries(manifest.subsets)) {
      for (const file of Object.keys(files)) dataset.storedQuestions(subset, file);
      const { hash } = await dataset.loadGraph([subset]);
      const expected = manifest.graphs[name]?.hash;
      if (hash !== expected) problems.push(`expected graph ${name} of hash ${expected}, got ${hash}, at ${folder}`);
    }
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    problems.push(error.message);
  }
  return problems;
}
