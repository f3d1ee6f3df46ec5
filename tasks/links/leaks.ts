/** What a run over links was made from, held against a split that it must not know. */
import { type LinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import type { Verdict } from '../../evaluation/leaks/artifact-rows.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { ArtifactRecord, ProvenanceRecord } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { checkDataset, checkGraph, notedRun } from '../leaks.js';
import { type LeakCheck, ShownPage } from '../task.js';

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

/** @throws WorkbenchError `data` for what is damaged or was imported anew, `usage` for another data set or no such split */
export async function runLeaks(name: string, run: RunInfo, split = 'test'): Promise<LeakCheck> {
  if (split !== 'valid' && split !== 'test') {
    throw new WorkbenchError(
      'usage',
      `expected a split that nothing may be made from (valid or test), got ${split}, at --split`,
    );
  }
  checkDataset(name, dataSettings.parse(run.config.data ?? {}).dataset, `run ${run.id}`);
  const dataset = await loadLinkDataset(name);
  checkGraph(dataset.graph.hash, run);
  const { clone, ppo } = run.state.done;
  const expected = [
    'edge list',
    ...(clone ? ['training: cloning'] : []),
    ...(ppo ? ['training: policy gradient', 'choice: best checkpoint'] : []),
  ];
  const { record } = notedRun(run);
  const report = linkLeaks(dataset, split, { record, expected });
  const page = new ShownPage(report);
  addReport(page, report, run.id);
  const { found, notNoted } = report;
  const unknown = report.artifacts.length === 0 ? ['run'] : notNoted;
  return { json: report, sections: page.sections, split, found, unknown };
}

/** Artifacts with their verdicts, then what they cannot show. */
function addReport(page: ShownPage, report: LinkLeakReport, run: string): void {
  const { dataset, split, triples, artifacts, notNoted, found, reversed, symmetric } = report;
  page.line(`run ${run} · ${dataset} · what does it know of split ${split} (${triples} triples)?`);
  page.line();
  page.table(
    artifacts.map(({ kind, name, madeFrom, verdict, why }) => ({
      ...{ kind, name, 'made from': madeFrom || 'not noted' },
      verdict: why === undefined ? verdict : `${verdict}: ${why}`,
    })),
  );
  page.line();
  const none = artifacts.filter(({ verdict }) => verdict === 'none found').length;
  const rest = none < artifacts.length ? '; the others say why' : '';
  page.line(`found none of the ${triples} samples of ${split} in ${none} of ${artifacts.length} artifacts${rest}`);
  if (found.length > 0) page.line(`found ${found.length}, listed below as an error`);
  else page.line('this tells what was noted; it does not certify that nothing leaked');
  for (const wanted of notNoted) page.line(`not noted, so not known: ${wanted}`);
  page.line();
  page.line('What this cannot exclude');
  page.line();
  page.line(
    `- Train links the pair of ${reversed} triples of ${split} the other way round, of ${symmetric} by the same relation: these need no reasoning.`,
  );
  page.line(`- Choices made by hand after a look at ${split}.`);
}
