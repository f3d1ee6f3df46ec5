/** Sources of a run over links, or of an evaluation, compared with a split that it must not contain. */
import { type LinkDataset, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import type { Verdict } from '../../evaluation/leaks/artifact-rows.js';
import type { NotedAgent } from '../../evaluation/leaks/leak-report.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { type ArtifactRecord, hasUnknownSources } from '../../src/run/provenance.js';
import type { RunInfo } from '../../src/run/records.js';
import { addFoundBeside, checkDataset, checkGraph, evaluationsOn, notedEvaluation } from '../leaks.js';
import { notedRun, otherGraph } from '../leaks.js';
import { type CheckedRun, type LeakCheck, ShownPage } from '../task.js';

/**
 * Findings of `kgwalk datasets check --run` on links, and what it cannot exclude.
 * @param agents the run, its evaluations on the split, and others evaluated with them
 * @param expected kinds, or kinds and names, of what such a run makes
 */
export function linkLeaks(
  dataset: LinkDataset,
  split: 'valid' | 'test',
  { agents, expected }: { agents: readonly NotedAgent[]; expected: readonly string[] },
) {
  const { graph, manifest } = dataset;
  const { heads, relations, tails } = dataset[split];
  const artifacts = agents.flatMap(({ of, record }) =>
    (record?.artifacts ?? []).map((artifact) => ({ of, ...rowOf(artifact, graph.hash, split) })),
  );
  const own = agents.filter((agent) => agent.own).map(({ of }) => of);
  const ofRun = artifacts.filter(({ of }) => of === 'run');
  const made = new Set(ofRun.flatMap(({ kind, name }) => [kind, `${kind}: ${name}`]));
  let edges = 0;
  for (let i = 0; i < heads.length; i++) if (graph.edgeIndex(heads[i]!, relations[i]!, tails[i]!) >= 0) edges++;
  const foundIn = (isOwn: boolean) =>
    artifacts.flatMap(({ of, kind, name, verdict, madeFrom }) => {
      const whose = agents.length > 1 ? `${of}: ` : '';
      return verdict === 'found' && own.includes(of) === isOwn
        ? [`${whose}${kind} "${name}": made from ${madeFrom}`]
        : [];
    });
  const found = foundIn(true);
  if (edges > 0) found.push(`graph ${graph.name}: ${edges} of ${heads.length} triples of ${split} are edges of train`);
  return {
    ...{ dataset: manifest.name, split, triples: heads.length, artifacts, edges, found, foundBeside: foundIn(false) },
    /** Parts of the checked agent with unknown sources, and expected artifacts without notes. */
    unknown: own.filter((of) => !artifacts.some((artifact) => artifact.of === of)),
    notNoted: agents.some(({ of }) => of === 'run') ? expected.filter((wanted) => !made.has(wanted)) : [],
    // Triples whose inverse pair is in train, by any relation, and by the same: easy, and no leak.
    reversed: manifest.splits[split].reversedInTrain,
    symmetric: manifest.splits[split].symmetricInTrain,
  };
}

type LinkLeakReport = ReturnType<typeof linkLeaks>;

/** Reason why a use of valid is no leak, by kind of artifact. */
const allowedOnValid: Partial<Record<ArtifactRecord['kind'], string>> = {
  choice: 'the best on these was kept: their own score flatters',
  embedding: 'the best epoch on these was kept',
  normaliser: 'two numbers were fitted to these',
};

/** An artifact and what it notes. Triples are noted by split, as they are read by split. */
function rowOf(
  { kind, name, facts = {} }: ArtifactRecord,
  hash: string,
  asked: 'valid' | 'test',
): { kind: ArtifactRecord['kind']; name: string; madeFrom: string; verdict: Verdict; why?: string } {
  const unknown = (why: string) => ({ kind, name, madeFrom: 'not noted', verdict: 'not known' as const, why });
  if ((kind === 'edge list' ? facts.hash : facts.graph) !== hash) return unknown('it notes no graph, or another one');
  if (hasUnknownSources(facts)) return unknown('another program made it');
  const split = typeof facts.split === 'string' ? facts.split : 'edges of train';
  // Trainers of embeddings note how many triples they hold out to choose the epoch by.
  const heldOut = Number(facts.valid ?? facts['held out'] ?? 0) > 0;
  const row = { kind, name, madeFrom: heldOut ? `${split}; valid chose the epoch` : split };
  if (split !== asked && !(heldOut && asked === 'valid')) return { ...row, verdict: 'none found' };
  const why = asked === 'valid' ? allowedOnValid[kind] : undefined;
  return why === undefined ? { ...row, verdict: 'found' } : { ...row, verdict: 'allowed', why };
}

/** @throws WorkbenchError `data` for damaged data or another import, `usage` for another data set or no such split */
export async function runLeaks(name: string, of: CheckedRun, wanted = 'test'): Promise<LeakCheck> {
  const { run } = of;
  const split = splitOf(wanted);
  checkDataset(name, dataSettings.parse(run.config.data ?? {}).dataset, `run ${run.id}`);
  const dataset = await loadLinkDataset(name);
  checkGraph(dataset.graph.hash, run);
  const others = evaluationsOn(of, name, split).map(({ noted }) => noted);
  const parts = { agents: [notedRun(run), ...others], expected: expectedOf(run) };
  return linkCheck(`run ${run.id}`, linkLeaks(dataset, split, parts));
}

/** @param split default that of the evaluation */
export async function evaluationLeaks(name: string, folder: string, split: string | undefined): Promise<LeakCheck> {
  const { title, agents, trained, about, hashes } = notedEvaluation(name, folder);
  const asked = splitOf(split ?? about.split);
  const dataset = await loadLinkDataset(name);
  if (hashes.graph !== dataset.graph.hash) throw otherGraph(title, hashes.graph, dataset.graph.hash);
  return linkCheck(title, linkLeaks(dataset, asked, { agents, expected: trained ? expectedOf(trained) : [] }));
}

function splitOf(split: string): 'valid' | 'test' {
  if (split === 'valid' || split === 'test') return split;
  throw new WorkbenchError(
    'usage',
    `expected a split that nothing may be made from (valid or test), got ${split}, at --split`,
  );
}

const expectedOf = ({ state: { done } }: RunInfo): string[] => [
  'edge list',
  ...(done.clone ? ['training: cloning'] : []),
  ...(done.ppo ? ['training: policy gradient', 'choice: best checkpoint'] : []),
];

/** Artifacts with their verdicts, then what they cannot show. */
function linkCheck(title: string, report: LinkLeakReport): LeakCheck {
  const { dataset, split, triples, artifacts, unknown, notNoted, found, foundBeside, reversed, symmetric } = report;
  const page = new ShownPage(report);
  const several = new Set(artifacts.map(({ of }) => of)).size > 1;
  page.line(`${printable(title)} · ${dataset} · what does it know of split ${split} (${triples} triples)?`);
  page.table(
    artifacts.map(({ of, kind, name, madeFrom, verdict, why }) => ({
      ...(several && { of }),
      ...{ kind, name, 'made from': madeFrom || 'not noted' },
      verdict: why === undefined ? verdict : `${verdict}: ${why}`,
    })),
  );
  page.line();
  const none = artifacts.filter(({ verdict }) => verdict === 'none found').length;
  const rest = none < artifacts.length ? '; the others say why' : '';
  page.line(`found none of the ${triples} samples of ${split} in ${none} of ${artifacts.length} artifacts${rest}`);
  if (found.length > 0) page.line(`found ${found.length}, listed below as an error`);
  else page.line('based on noted sources; this does not certify that nothing leaked');
  for (const wanted of notNoted) page.line(`not noted, so not known: ${wanted}`);
  page.line();
  page.line('What this cannot exclude');
  page.line();
  page.line(
    `- Train links the pair of ${reversed} triples of ${split} the other way round, of ${symmetric} by the same relation: these need no reasoning.`,
  );
  page.line(`- Choices made by hand after a look at ${split}.`);
  addFoundBeside(page, foundBeside);
  return { json: report, sections: page.sections, split, found, unknown: unknown.length > 0 ? unknown : notNoted };
}
