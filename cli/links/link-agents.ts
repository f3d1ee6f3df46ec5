/** What ranks entities, as the command line names it: a run, an embedding, rules, or walks at random. */
import type { LinkDataset } from '../../datasets/links/link-dataset.js';
import { type LinkAgentResources, linkAgents, type LinkRanker } from '../../agents/link-agents.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { LinkEvaluationRecord } from '../../src/run/link-records.js';
import { nearestName } from '../../src/run/printable.js';
import type { RunInfo } from '../../src/run/records.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { findRun, type Named } from '../kind-of-work.js';
import { threadsOf } from '../threads.js';
import type { Watch } from '../watch.js';
import { wholeNumber, type LinkFlags } from './link-inputs.js';

/** A name resolved, before anything is loaded. */
export interface ResolvedLinkAgent {
  /** As it was asked for. */
  name: string;
  agent?: string;
  trained?: { run: RunInfo; checkpoint: string };
}

/** A ranker and what the record says of it; close it after use. */
export interface OpenedLinkAgent {
  ranker: LinkRanker;
  about: Pick<LinkEvaluationRecord, 'agent' | 'note' | 'seed' | 'run' | 'checkpoint' | 'horizon' | 'beamWidth'>;
  hashes: Pick<LinkEvaluationRecord['hashes'], 'checkpoint' | 'table'>;
  /** Folder of its run. */
  runFolder?: string;
  /** Which of the ranker's rankings its run was chosen by. */
  pooling: 'max' | 'sum';
  close(): void;
}

/** @throws WorkbenchError `usage` for a name that is neither an agent's nor a run's */
export function resolveLinkAgent(
  { name, isRun }: Named,
  { checkpoint }: Pick<LinkFlags, 'checkpoint'>,
): ResolvedLinkAgent {
  if (isRun !== true && linkAgents.has(name)) return { name, agent: linkAgents.parse(name).agent };
  const found = findRun(name);
  if (found) return { name, trained: { run: found.run, checkpoint: found.checkpoint ?? checkpoint } };
  const known = linkAgents.names();
  const near = nearestName(name, known);
  throw new WorkbenchError('usage', `expected an agent or a run, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Agents on links: ${known.join(', ')}. Runs: \`kgwalk runs list\`.`,
  });
}

/** @throws WorkbenchError `usage` for options that none of the agents reads */
export function refuseIdleFlags(resolved: readonly ResolvedLinkAgent[], flags: LinkFlags): void {
  const walks = resolved.some(({ trained }) => trained);
  const embeds = resolved.some(
    ({ agent }) => agent !== undefined && linkAgents.entry(agent).needs?.includes('embedding'),
  );
  const idle = [
    ...(walks
      ? []
      : [
          ['--beam-width', flags.beamWidth, 'a run'],
          ['--backend', flags.backend, 'a run'],
        ]),
    ...(embeds
      ? []
      : [
          ['--config', flags.config, 'transe or bilinear'],
          ['--threads', flags.threads, 'transe or bilinear'],
        ]),
  ].find(([, given]) => given !== undefined);
  if (!idle) return;
  const names = resolved.map(({ name }) => name).join(', ');
  throw new WorkbenchError('usage', `expected ${idle[2]} with ${idle[0]}, got ${names}`, {
    hint: `Leave ${idle[0]} out.`,
  });
}

/** What agents are opened with. */
export interface OpenLinkOptions {
  dataset: LinkDataset;
  flags: LinkFlags;
  /** Runs that are named beside it: embeddings are trained by the settings of the last one. */
  runs: readonly RunInfo[];
  watch: Watch;
}

/** Opens what was resolved; an embedding that is not kept yet is trained. */
export async function openLinkAgent(
  { agent: name, trained }: ResolvedLinkAgent,
  options: OpenLinkOptions,
): Promise<OpenedLinkAgent> {
  if (trained) return openRunWalker(trained, options);
  const { sha256File } = await import('../../src/run/files.js');
  const { ranker, table, ...about } = await linkAgents.create(name!, await resourcesOf(options));
  const hashes = table === undefined ? {} : { table: await sha256File(table) };
  return { ranker, about, hashes, pooling: 'max', close: () => undefined };
}

async function openRunWalker(
  { run, checkpoint }: NonNullable<ResolvedLinkAgent['trained']>,
  { flags, dataset }: OpenLinkOptions,
): Promise<OpenedLinkAgent> {
  const { loadLinkWalker } = await import('../../agents/link-walker/link-walker.js');
  const { walkRanker } = await import('../../agents/link-agents.js');
  const { resolveCheckpoint } = await import('../../checkpoints/store.js');
  const { evaluationSettings } = await import('../../evaluation/settings.js');
  const { sha256File } = await import('../../src/run/files.js');
  const { backendOf } = await import('../../src/tensor/backend.js');
  const wanted = flags.beamWidth === undefined ? undefined : wholeNumber(flags.beamWidth, '--beam-width');
  const backend = flags.backend === undefined ? undefined : backendOf(flags.backend);
  const walker = await loadLinkWalker(run.folder, { checkpoint, backend });
  const { seed } = walker;
  const { horizon } = walker.linkWalk;
  const beamWidth = wanted ?? walker.beamWidth;
  return {
    ranker: walkRanker(walker.actor, dataset.graph, { name: run.id, beamWidth, horizon }),
    about: { agent: 'walker', run: run.id, checkpoint, seed, horizon, beamWidth },
    hashes: { checkpoint: await sha256File(resolveCheckpoint(run.folder, checkpoint).file) },
    runFolder: run.folder,
    pooling: evaluationSettings.parse(run.config.evaluation ?? {}).pooling,
    close: () => walker.close(),
  };
}

async function resourcesOf({ dataset, flags, runs, watch }: OpenLinkOptions): Promise<LinkAgentResources> {
  const { horizon } = await horizonOf(runs);
  return {
    graph: dataset.graph,
    horizon,
    async rules() {
      const { ruleBaseline } = await import('../../evaluation/links/rule-ranker.js');
      const line = watch.progress('mine rules', dataset.graph.numRelations, 'relations');
      const { ranker, ranking, rules } = await ruleBaseline(dataset, {
        horizon,
        signal: watch.signal,
        onProgress: (done) => line.update(done),
      });
      const count = rules.reduce((sum, { length }) => sum + length, 0);
      line.finish(`${count} rules`);
      return {
        ranker,
        note: `${count} relation chains mined on train, taken together by ${ranking} (chosen on valid)`,
      };
    },
    async embedding(kind) {
      const { openLinkScorer } = await import('../../trainers/embeddings/link-scorers.js');
      const settings = await embeddingSettings(flags, runs);
      const { scorer, file } = await openLinkScorer(kind, dataset, settings, {
        threads: threadsOf(flags.threads),
        progress: watch.progress,
        signal: watch.signal,
      });
      return { scorer, file, seed: settings.seed };
    },
  };
}

/** Of a preset that is named, else of the last run, else the defaults. */
async function embeddingSettings(
  { config }: Pick<LinkFlags, 'config'>,
  runs: readonly RunInfo[],
): Promise<Pick<TrainSettings, 'transe' | 'bilinear' | 'seed'>> {
  if (config !== undefined) return (await import('../../presets/index.js')).loadPreset(config);
  const { settingsOfRun, trainSettings } = await import('../../trainers/train-settings.js');
  const run = runs.at(-1);
  return run ? settingsOfRun(run) : trainSettings.parse({});
}

/** Steps of a walk: those of the last run, else the default. */
export async function horizonOf(runs: readonly RunInfo[]): Promise<{ horizon: number }> {
  const { linkWalkSettings } = await import('../../envs/settings.js');
  return linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
}
