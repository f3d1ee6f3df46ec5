/** All that can be said of leaks from a split into a run: what was looked for and not found, and what cannot be excluded. */
import type { QuestionSample } from '../../datasets/question.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import { artifactRows, type ArtifactRow } from './artifact-rows.js';
import { countChecks, type CountCheck } from './count-shares.js';
import { graphCut, type GraphCut } from './graph-cut.js';
import type { KnownSamples } from './known-samples.js';
import type { SeenUnseen } from './seen-unseen.js';

/** Provenance of one agent. */
export interface NotedAgent {
  /** `run` for the run itself, else the name of an evaluation. */
  of: string;
  /** True if it is the checked agent, not one evaluated with it. */
  own: boolean;
  /** Absent: nothing was noted. */
  record: ProvenanceRecord | undefined;
}

/** Findings of `kgwalk datasets check --run`, and what it cannot exclude. */
export interface LeakReport {
  dataset: string;
  graph: string;
  split: string;
  samples: number;
  /** Parts of the checked agent with unknown sources. */
  unknown: string[];
  artifacts: ArtifactRow[];
  /** Expected artifacts without noted sources. */
  notNoted: string[];
  cut: GraphCut;
  targets: SeenUnseen[];
  /** Counts on dialogues; questions have no edges as candidates. */
  counts: CountCheck[];
  /** One sentence for each leak of what is checked. */
  found: string[];
  /** The same for agents evaluated with it. */
  foundBeside: string[];
}

/** Input of a report. */
export interface LeakReportParts {
  dataset: string;
  known: KnownSamples<WalkSample> | KnownSamples<QuestionSample>;
  /** True if the graph's entities may have been chosen by the dialogues: see `graphCut`. */
  chosen: boolean;
  agents: readonly NotedAgent[];
  /** Kinds and names of artifacts that a run of these settings makes, such as `training: PPO`. */
  expected: readonly string[];
  /** Results of evaluations on the split. */
  targets: readonly SeenUnseen[];
}

/** @throws WorkbenchError `data` for a record that cannot be read */
export function leakReport({ dataset, known, chosen, agents, expected, targets }: LeakReportParts): LeakReport {
  const { asked } = known;
  const noted = agents.flatMap(({ of, record }) => (record ? [{ of, record }] : []));
  const artifacts = noted.flatMap(({ of, record }) => artifactRows(of, record, known as KnownSamples));
  const run = noted.find(({ of }) => of === 'run');
  const own = new Set(agents.flatMap((agent) => (agent.own ? [agent.of] : [])));
  const made = new Set(artifacts.flatMap(({ of, kind, name }) => (of === 'run' ? [kind, `${kind}: ${name}`] : [])));
  const cut = graphCut(known as KnownSamples, chosen);
  const counts = isDialogues(known) ? countChecks(known, noted) : [];
  const findings = [
    ...artifacts
      .filter(({ verdict }) => verdict === 'found')
      .map((row) => ({ of: row.of, text: artifactText(row, asked.name) })),
    ...counts
      .filter(({ monotone }) => !monotone)
      .flatMap(({ count, usedBy }) => usedBy.map((of) => ({ of, text: countText(count, of) }))),
    ...targets
      .filter(({ verdict }) => verdict === 'above' || (verdict === 'not below' && cut.restricted))
      .map((target) => ({ of: target.evaluation, text: targetText(target) })),
  ];
  return {
    dataset,
    graph: known.graph.name,
    split: asked.name,
    samples: asked.samples.length,
    unknown: agents.flatMap(({ of, own: isOwn, record }) => (record || !isOwn ? [] : [of])),
    artifacts,
    notNoted: run ? expected.filter((wanted) => !made.has(wanted)) : [],
    cut,
    targets: [...targets],
    counts,
    found: findings.filter(({ of }) => own.has(of)).map(({ text }) => text),
    foundBeside: findings.filter(({ of }) => !own.has(of)).map(({ text }) => text),
  };
}

const isDialogues = (known: LeakReportParts['known']): known is KnownSamples<WalkSample> =>
  known.asked.samples.some(({ task }) => 'messages' in task);

function artifactText({ of, kind, name, byId, why }: ArtifactRow, split: string): string {
  return `${of}: ${kind} "${name}": ${why ?? `made from ${byId} samples of ${split}`}`;
}

const countText = (count: string, of: string): string =>
  `${of}: its counts (${count}) mark the answer: P(gold | count) falls where the count rises`;

const targetText = ({ evaluation, metric, verdict }: SeenUnseen): string =>
  `${evaluation}: ${metric} on targets that train never had is ${verdict === 'above' ? 'above' : 'not clearly below'} that on those it had, on ${verdict === 'above' ? 'any graph' : 'a graph cut to dialogue entities'} the sign of a leak`;
