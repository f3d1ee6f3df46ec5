/** What `evaluate` and `compare` do alike on links: every name is resolved first, then one agent after the other ranks. */
import type { EvaluateLinksOptions, LinkEvaluation, LinkSpeed } from '../../evaluation/links/evaluate-links.js';
import { terminalWatch, type Watch } from '../watch.js';
import type { Named } from '../kind-of-work.js';
import { openLinkAgent, refuseIdleFlags, resolveLinkAgent } from './link-agents.js';
import { linkInputs, type LinkFlags, type LinkInputs } from './link-inputs.js';

/** An evaluation under the name that the command line gave the agent. */
export interface NamedLinkEvaluation extends LinkEvaluation {
  /** As it was asked for. */
  name: string;
  /** Absent where a kept evaluation was read. */
  speed?: LinkSpeed;
  /** Of a run. */
  runFolder?: string;
}

/**
 * Ranks the same queries by each agent, with a progress line each.
 * @throws WorkbenchError for a name, data set or option that does not fit, before anything is ranked
 */
export async function evaluateLinkAgents(
  named: readonly Named[],
  flags: LinkFlags,
  watch: Watch = terminalWatch(),
): Promise<{ evaluations: NamedLinkEvaluation[]; inputs: LinkInputs }> {
  const resolved = named.map((one) => resolveLinkAgent(one, flags));
  refuseIdleFlags(resolved, flags);
  const runs = resolved.flatMap(({ trained }) => trained?.run ?? []);
  const inputs = await linkInputs(flags, runs);
  const evaluations: NamedLinkEvaluation[] = [];
  for (const which of resolved) {
    const one = await openLinkAgent(which, { dataset: inputs.dataset, flags, runs, watch });
    try {
      evaluations.push({
        name: which.name,
        ...(one.runFolder !== undefined && { runFolder: one.runFolder }),
        ...(await ranked(which.name, one, inputs, watch)),
      });
    } finally {
      one.close();
    }
  }
  return { evaluations, inputs };
}

async function ranked(
  name: string,
  { ranker, about, hashes }: Awaited<ReturnType<typeof openLinkAgent>>,
  { dataset, split, triples, limit, directions }: LinkInputs,
  { progress, signal }: Watch,
) {
  const { evaluateLinkRanker } = await import('../../evaluation/links/evaluate-links.js');
  const { linksHash } = await import('../../datasets/links/link-dataset.js');
  const line = progress(name, triples.heads.length * directions.length, 'queries');
  const options: EvaluateLinksOptions = {
    about: {
      ...about,
      dataset: dataset.manifest.name,
      split,
      ...(limit !== undefined && { limit }),
      hashes: { graph: dataset.graph.hash, dataset: linksHash(dataset.manifest), ...hashes },
    },
    directions,
    ...(about.horizon !== undefined && { horizon: about.horizon }),
    onProgress: (done) => line.update(done),
    signal,
  };
  const evaluation = await evaluateLinkRanker(ranker, dataset, triples, options);
  line.finish();
  return evaluation;
}
