/** Samples straight from a file of dialogues that was never imported. */
import type { Graph } from '../src/kg/graph.js';
import type { ParseCounts } from './opendialkg/parse-messages.js';
import { readDialogues } from './opendialkg/read-dialogues.js';
import type { WalkSample } from './walk-sample.js';
import type { WalkSampleOptions } from './walk-samples.js';
import { walkSamples } from './walk-samples.js';

/** Samples of a file, and what it held besides. */
export interface FileSamples {
  samples: WalkSample[];
  dialogues: number;
  /** What was left out. */
  counts: ParseCounts;
}

/**
 * Reads dialogues in the release's format (`.csv`, `.json`, `.jsonl`) and grounds them in `graph`. May be empty.
 * @throws WorkbenchError `data` naming file and row
 */
export async function samplesOfFile(file: string, graph: Graph, options?: WalkSampleOptions): Promise<FileSamples> {
  const { dialogues, counts } = await readDialogues(file);
  return { samples: walkSamples(dialogues, graph, options), dialogues: dialogues.length, counts };
}
