/** Whether an imported data set of links is still what was imported. */
import { WorkbenchError } from '../../src/run/errors.js';
import { alteredFiles } from '../altered-files.js';
import { datasetFolder } from '../dataset-folder.js';
import { readManifest, type LocateOptions } from '../manifest-file.js';
import { loadLinkDataset } from './link-dataset.js';
import { linkManifestSchema } from './link-manifest.js';

/**
 * Compares files, hashes and counts with the manifest.
 * @returns how many files there are, and one sentence a problem; none when all is well
 * @throws WorkbenchError `data` when no such data set was imported, or its manifest cannot be read
 */
export async function checkLinkDataset(
  name: string,
  options: LocateOptions = {},
): Promise<{ files: number; problems: string[] }> {
  const folder = datasetFolder(name, options.home);
  const manifest = readManifest(name, 'links', linkManifestSchema, options);
  const files = Object.keys(manifest.files).length;
  const problems = await alteredFiles(folder, manifest.files);
  if (problems.length > 0) return { files, problems };
  try {
    const { graph, labels } = await loadLinkDataset(name, options);
    const expectEqual = (what: string, expected: number, got: number) => {
      if (expected !== got) problems.push(`expected ${what} ${expected}, got ${got}, at ${folder}`);
    };
    expectEqual('edges', manifest.graph.edges, graph.numEdges);
    expectEqual('entities', manifest.graph.entities, graph.numEntities);
    expectEqual('relations', manifest.graph.relations, graph.numRelations / 2);
    expectEqual('display names', manifest.graph.entities, labels.length);
  } catch (error) {
    if (!(error instanceof WorkbenchError)) throw error;
    problems.push(error.message);
  }
  return { files, problems };
}
