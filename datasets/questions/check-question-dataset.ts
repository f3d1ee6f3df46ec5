/** Whether an imported question data set is still what was imported. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import type { QuestionDataset } from './question-registry.js';

/** Compares files, hashes and counts with the manifest. @returns one sentence a problem; empty when all is well */
export async function checkQuestionDataset(dataset: QuestionDataset): Promise<string[]> {
  const { folder, manifest } = dataset;
  const problems: string[] = [];
  for (const [name, sha256] of Object.entries(manifest.files)) {
    const file = join(folder, name);
    if (!existsSync(file)) problems.push(`${file} is missing`);
    else if ((await sha256File(file)) !== sha256)
      problems.push(`${file} was altered: its sha256 differs from the manifest`);
  }
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
