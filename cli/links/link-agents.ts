/** What ranks entities, as the command line names it: a run, an embedding, rules, or walks at random. */
import type { LinkDataset } from '../../datasets/links/link-dataset.js';
import type { LinkRanker, TailScorer } from '../../evaluation/links/link-ranker.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { LinkEvaluationRecord } from '../../src/run/link-records.js';
import { nearestName } from '../../src/run/nearest-name.js';
import type { RunInfo } from '../../src/run/records.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { findRun, linkAgentNames, type LinkAgentName, type Named } from '../kind-of-work.js';
import { threadsOf } from '../threads.js';
import type { Watch } from '../watch.js';
import { wholeNumber, type LinkFlags } from './link-inputs.js';

/** A name resolved, before anything is loaded. */
export interface ResolvedLinkAgent {
  /** As it was asked for. */
  name: string;
  agent?: LinkAgentName;
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
  const agent = linkAgentNames.find((known) => known === name);
  if (isRun !== true && agent) return { name, agent };
  const found = findRun(name);
  if (found) return { name, trained: { run: found.run, checkpoint: found.checkpoint ?? checkpoint } };
  const near = nearestName(name, linkAgentNames);
  throw new WorkbenchError('usage', `expected an agent or a run, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Agents on links: ${linkAgentNames.join(', ')}. Runs: \`kgwalk runs list\`.`,
  });
}

/** @throws WorkbenchError `usage` for options that none of the agents reads */
export function refuseIdleFlags(resolved: readonly ResolvedLinkAgent[], flags: LinkFlags): void {
  const walks = resolved.some(({ trained }) => trained);
  const embeds = resolved.some(({ agent }) => agent === 'transe' || agent === 'bilinear');
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
export function openLinkAgent(
  { agent, trained }: ResolvedLinkAgent,
  options: OpenLinkOptions,
): Promise<OpenedLinkAgent> {
  if (trained) return openRunWalker(trained, options);
  if (agent === 'random') return openRandom(options);
  if (agent === 'rules') return openRules(options);
  return openEmbedding(agent!, options);
}

async function openRunWalker(
  { run, checkpoint }: NonNullable<ResolvedLinkAgent['trained']>,
  { flags, dataset }: OpenLinkOptions,
): Promise<OpenedLinkAgent> {
  const { loadLinkWalker } = await import('../../agents/link-walker/load-link-walker.js');
  const { walkRanker } = await import('../../evaluation/links/link-ranker.js');
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

async function openRandom({ dataset: { graph }, runs }: OpenLinkOptions): Promise<OpenedLinkAgent> {
  const { uniformWalk } = await import('../../agents/link-walker/uniform-walk.js');
  const { horizon } = await horizonOf(runs);
  return openScorer(uniformWalk(graph, horizon), graph, { agent: 'random', horizon, note: 'knows no relation' });
}

async function openRules({ dataset, runs, watch }: OpenLinkOptions): Promise<OpenedLinkAgent> {
  const { ruleBaseline } = await import('../../evaluation/links/rule-ranker.js');
  const { horizon } = await horizonOf(runs);
  const line = watch.progress('mine rules', dataset.graph.numRelations, 'relations');
  const { ranker, ranking, rules } = await ruleBaseline(dataset, {
    horizon,
    signal: watch.signal,
    onProgress: (done) => line.update(done),
  });
  const count = rules.reduce((sum, { length }) => sum + length, 0);
  line.finish(`${count} rules`);
  const note = `${count} relation chains mined on train, taken together by ${ranking} (chosen on valid)`;
  const about = { agent: 'rules', seed: 0, horizon, note };
  return { ranker, about, hashes: {}, pooling: 'max', close: () => undefined };
}

async function openEmbedding(
  section: 'transe' | 'bilinear',
  { dataset, flags, runs, watch }: OpenLinkOptions,
): Promise<OpenedLinkAgent> {
  const { openLinkScorer } = await import('../../trainers/embeddings/link-scorers.js');
  const { sha256File } = await import('../../src/run/files.js');
  const settings = await embeddingSettings(flags, runs);
  const { scorer, file } = await openLinkScorer(section, dataset, settings, {
    threads: threadsOf(flags.threads),
    progress: watch.progress,
    signal: watch.signal,
  });
  return openScorer(
    scorer,
    dataset.graph,
    { agent: scorer.name, seed: settings.seed },
    { table: await sha256File(file) },
  );
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

async function openScorer(
  scorer: TailScorer,
  graph: LinkDataset['graph'],
  about: OpenedLinkAgent['about'],
  hashes: OpenedLinkAgent['hashes'] = {},
): Promise<OpenedLinkAgent> {
  const { scorerRanker } = await import('../../evaluation/links/link-ranker.js');
  return { ranker: scorerRanker(scorer, graph), about, hashes, pooling: 'max', close: () => undefined };
}

/** Steps of a walk: those of the last run, else the default. */
export async function horizonOf(runs: readonly RunInfo[]): Promise<{ horizon: number }> {
  const { linkWalkSettings } = await import('../../envs/link-walk-settings.js');
  return linkWalkSettings.parse(runs.at(-1)?.config.linkWalk ?? {});
}
