/**
 * `ark`: the table of edges that LLM-ARK's code builds, for comparison with its figures. Edges that dialogues of all splits
 * walk stand first, so that golds of valid and test are kept where others go: whoever walks it has seen the answers. Not
 * repeated: that code writes each of those edges twice, takes the rest in the order of its file and shows the list in an
 * order of its own. Here an edge stands once, the rest come in the order of the graph, and so does the list that is shown.
 */
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { type SplitName, splitNames, walkSamples } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import type { ChooseEdges } from '../../src/kg/keep-edges.js';
import { Rng } from '../../src/run/seeds.js';

/** A choice, and what it was told. */
export interface ArkTable {
  choose: ChooseEdges;
  /** Bits (`splitBits`) of the splits whose dialogues brought an edge of the whole graph into a list; 0: none did. */
  broughtBy(edge: number): number;
}

/** By split, in the numbers of `ArkTable.broughtBy`. */
export const splitBits: Readonly<Record<SplitName, number>> = { train: 1, valid: 2, test: 4 };

/** Reads every path of every dialogue, whatever part of them a run trains on. */
export function arkTable(graph: Graph, dataset: Pick<DialogueDataset, 'loadDialogues'>): ArkTable {
  const bits = new Uint8Array(graph.numEdges);
  /** int32 [numEdges]: when dialogues first walk an edge, counted from 1; 0 where none does. */
  const walked = new Int32Array(graph.numEdges);
  let count = 0;
  const note = madeFromSamples('edge list', 'the edges that dialogues of all splits walk come first (edgePolicy: ark)');
  for (const split of splitNames) {
    for (const sample of walkSamples(dataset.loadDialogues(split), graph)) {
      note(sample);
      for (const triple of sample.gold.path) {
        const edge = graph.edgeIndex(...triple);
        if (edge < 0) continue;
        bits[edge]! |= splitBits[split];
        walked[edge] ||= ++count;
      }
    }
  }
  const brought = new Uint8Array(graph.numEdges);
  // One stream for all: the table is the same whatever the seed of a run.
  const rng = Rng.named(0, 'env/ark-table');
  const choose: ChooseEdges = (begin, end, most) => {
    const edges = Int32Array.from({ length: end - begin }, (_, i) => begin + i);
    const place = (edge: number) => walked[edge]! || count + 1;
    edges.sort((a, b) => place(a) - place(b) || a - b);
    // One more than there is room for beside staying: the slip that loses an edge at random.
    const lost = rng.integer(most + 1);
    const kept = edges.subarray(0, most + 1).filter((_, slot) => slot !== lost);
    for (const edge of kept) if (edge - begin > most) brought[edge] = bits[edge]!;
    return kept;
  };
  return { choose, broughtBy: (edge) => brought[edge]! };
}
