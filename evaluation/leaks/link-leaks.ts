/** What a run over links was made from, held against a split that it must not know. */
import type { LinkDataset } from '../../datasets/links/link-dataset.js';
import type { ArtifactRecord, ProvenanceRecord } from '../../src/run/provenance.js';
import type { Verdict } from './artifact-rows.js';

/** One artifact and what it notes. Triples are noted by split, as they are read by split. */
export interface LinkArtifactRow {
  kind: ArtifactRecord['kind'];
  name: string;
  /** Such as `train`, `valid` or `edges of train`. */
  madeFrom: string;
  verdict: Verdict;
  /** What the verdict rests on, where the split does not say it. */
  why?: string;
}

/** What `kgwalk datasets check --run` found of a run over links, and what it cannot exclude. */
export interface LinkLeakReport {
  dataset: string;
  split: 'valid' | 'test';
  /** Of the split. */
  triples: number;
  artifacts: LinkArtifactRow[];
  /** What must have been made and was not noted. */
  notNoted: string[];
  /** Triples of the split that are edges of the graph: they need no prediction. */
  edges: number;
  /** Triples whose pair train links the other way round, by any relation; and by the same. Told: they are no leak, and easy. */
  reversed: number;
  symmetric: number;
  /** One sentence for each leak. */
  found: string[];
}

/**
 * @param record of the run; undefined: it kept none
 * @param expected kinds, or kinds and names, of what such a run makes
 */
export function linkLeaks(
  dataset: LinkDataset,
  split: 'valid' | 'test',
  { record, expected }: { record: ProvenanceRecord | undefined; expected: readonly string[] },
): LinkLeakReport {
  const { graph, manifest } = dataset;
  const { heads, relations, tails } = dataset[split];
  const artifacts = (record?.artifacts ?? []).map((artifact) => rowOf(artifact, graph.hash, split));
  const made = new Set(artifacts.flatMap(({ kind, name }) => [kind, `${kind}: ${name}`]));
  let edges = 0;
  for (let i = 0; i < heads.length; i++) if (graph.edgeIndex(heads[i]!, relations[i]!, tails[i]!) >= 0) edges++;
  const found = artifacts.flatMap(({ kind, name, verdict, madeFrom }) =>
    verdict === 'found' ? [`${kind} "${name}": made from ${madeFrom}`] : [],
  );
  if (edges > 0) found.push(`graph ${graph.name}: ${edges} of ${heads.length} triples of ${split} are edges of train`);
  return {
    ...{ dataset: manifest.name, split, triples: heads.length, artifacts, edges, found },
    notNoted: expected.filter((wanted) => !made.has(wanted)),
    reversed: manifest.splits[split].reversedInTrain,
    symmetric: manifest.splits[split].symmetricInTrain,
  };
}

/** Why a use of valid is told and not counted as a leak, by what was made. */
const allowedOnValid: Partial<Record<ArtifactRecord['kind'], string>> = {
  choice: 'the best on these was kept: their own score flatters',
  embedding: 'the best epoch on these was kept',
  normaliser: 'two numbers were fitted to these',
};

function rowOf({ kind, name, facts = {} }: ArtifactRecord, hash: string, asked: 'valid' | 'test'): LinkArtifactRow {
  const of = kind === 'edge list' ? facts.hash : facts.graph;
  if (of !== hash) {
    return { kind, name, madeFrom: 'not noted', verdict: 'not known', why: 'it notes no graph, or another one' };
  }
  const split = typeof facts.split === 'string' ? facts.split : 'edges of train';
  // Trainers of embeddings note how many triples they hold out to choose the epoch by.
  const heldOut = Number(facts.valid ?? facts['held out'] ?? 0) > 0;
  const row = { kind, name, madeFrom: heldOut ? `${split}; valid chose the epoch` : split };
  if (split !== asked && !(heldOut && asked === 'valid')) return { ...row, verdict: 'none found' };
  const why = asked === 'valid' ? allowedOnValid[kind] : undefined;
  return why === undefined ? { ...row, verdict: 'found' } : { ...row, verdict: 'allowed', why };
}
