/** Whether an imported data set is still what was imported. */
import { WorkbenchError } from '../src/run/errors.js';
import { alteredFiles } from './altered-files.js';
import { splitNames } from './manifest.js';
import type { Dataset } from './registry.js';

/** Compares files, hashes and counts with the manifest. @returns one sentence a problem; empty when all is well */
export async function checkDataset({ folder, manifest, loadDialogues, loadGraph }: Dataset): Promise<string[]> {
  const problems = await alteredFiles(folder, manifest.files);
  if (problems.length > 0) return problems;

  const expectEqual = (what: string, expected: unknown, got: unknown) => {
    if (expected !== got) problems.push(`expected ${what} ${String(expected)}, got ${String(got)}, at ${folder}`);
  };
  try {
    for (const split of splitNames) {
      const paths = loadDialogues(split).reduce((sum, dialogue) => sum + dialogue.paths.length, 0);
      expectEqual(`paths in ${split}`, manifest.splits[split].paths, paths);
    }
    for (const [name, expected] of Object.entries(manifest.graphs)) {
      const graph = await loadGraph(name);
      expectEqual(`triples in graph ${name}`, expected.triples, graph.numEdges);
      expectEqual(`hash of graph ${name}`, expected.hash, graph.hash);
    }
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    problems.push(error.message);
  }
  return problems;
}
