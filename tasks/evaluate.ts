/** Opens agents and runs by name and evaluates each on the same samples. */
import { cpSync } from 'node:fs';
import { basename, join, resolve as resolvePath } from 'node:path';
import { encoderModelOf } from '../agents/trained-run.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { refuseOthers } from '../evaluation/compare.js';
import type { AskedEvaluation, KeepOptions, KeptEvaluation } from '../evaluation/keep.js';
import { evaluationFolder, foundEvaluation, keepEvaluation, readEvaluation } from '../evaluation/keep.js';
import { repeated } from '../evaluation/repeats.js';
import { replyHint } from '../evaluation/replies.js';
import type { Attempt, Compared, Row, Sample } from '../evaluation/score.js';
import { askedOfShard, samplesOf, type Shard, shardFolder, shardsIn } from '../evaluation/shards.js';
import type { CallTiming } from '../src/llm/client/ask-model.js';
import type { LanguageModel } from '../src/llm/language-model.js';
import { WorkbenchError } from '../src/run/errors.js';
import { agentTitle } from '../src/run/evaluation.js';
import { type Figure, numberText } from '../src/run/figures.js';
import { runsFolder } from '../src/run/locations.js';
import { changedPluginsOf, pluginHashes } from '../src/run/plugins.js';
import { runFiles } from '../src/run/run-files.js';
import { collectProvenance, ProvenanceNotes } from '../src/run/provenance.js';
import type { EvaluationFlags } from './flags.js';
import { embeddedChatModel, openRealModel, usualChoices } from './language-model.js';
import { resolve } from './named.js';
import { type TrainingCost } from './training-cost.js';
import {
  type Data,
  membersOf,
  type Named,
  type OpenedAgent,
  type Resolved,
  type Task,
  type Trained,
  type Work,
} from './task.js';

/** An evaluation under the name that the command line gave the agent. */
export interface NamedEvaluation<R extends Row> extends Compared<R> {
  folder: string;
  /** Shown instead of the name: `random walk` for the agent `random`. */
  title?: string | undefined;
  /** Folder of its run. */
  runFolder?: string | undefined;
  /** Absent where a finished evaluation was reused. */
  speed?: KeptEvaluation<R>['speed'];
  /** For runs, if known. */
  training?: TrainingCost | undefined;
  /** Message of each task that made the agent throw. */
  failures: { id: string; message: string }[];
}

/** Part of a task that an evaluation needs; its name may differ from those of the command line. */
export type EvaluatedTask<S extends Sample, Answer, R extends Row, D extends Data<S> = Data<S>> = Pick<
  Task<S, Answer, R, D>,
  'name' | 'measure' | 'agents' | 'data' | 'openAgent' | 'refuse' | 'simulated'
>;

/** An agent with how it was named, and the sources that were noted as it was opened. */
type NamedAgent<S extends Sample, Answer, R extends Row> = OpenedAgent<S, Answer, R> & {
  which: Resolved;
  notes: ProvenanceNotes;
};

/** Agents over one set of samples, with the task and the options of all. */
type Opened<S extends Sample, Answer, R extends Row, D extends Data<S>> = Awaited<
  ReturnType<typeof openAgents<S, Answer, R, D>>
>;

/** Options of `evaluateNamed`. */
export interface EvaluateNamedOptions<S extends Sample, Answer, D, R extends Row = Row> {
  /** Read finished evaluations instead of repeating them. Default false. */
  reuse?: boolean;
  /** Label of the progress line. Default: the name of each agent. */
  label?: string;
  /** Evaluations that these are compared with: refused, where they are of other samples, before anybody is asked. */
  comparedWith?: readonly Compared<R>[];
  /** The part that is evaluated here; an evaluation of the whole resumes from all parts. */
  shard?: Shard | undefined;
  /** Called before an evaluation that is planned in parts; `false` skips it. @param samples number of samples */
  onAsked?: (asked: AskedEvaluation, samples: number) => Promise<boolean>;
  /** Called after each sample. */
  onAttempt?: (sample: S, attempt: Attempt<Answer> | undefined, data: D) => void;
}

/**
 * Evaluates agents one after the other, with a progress line each. Everything is opened before the first sample is asked.
 * @throws WorkbenchError for anything that is not there or does not fit
 */
export async function evaluateNamed<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  task: EvaluatedTask<S, Answer, R, D>,
  named: readonly Named[],
  given: EvaluationFlags,
  work: Work,
  options: EvaluateNamedOptions<S, Answer, D, R> = {},
): Promise<NamedEvaluation<R>[]> {
  const { resolved, flags } = resolveAll(task, named, given);
  await task.refuse?.(resolved, flags);
  const opened = await openAgents(task, resolved, flags, work);
  const { data, agents } = opened;
  let model: LanguageModel | undefined;
  try {
    model = await modelFor(opened);
    const hashes = { ...data.hashes, ...agents[0]!.hashes };
    const ids = repeated(data.samples, model?.repeats).map((sample) => sample.task.id);
    refuseOthers(options.comparedWith ?? [], { name: resolved[0]!.name, ...data.about, hashes, task: task.name, ids });
    const evaluations: NamedEvaluation<R>[] = [];
    for (const agent of agents) evaluations.push(...(await evaluateOne(opened, agent, model, options)));
    return evaluations;
  } finally {
    await model?.dispose();
    await opened.close();
  }
}

/** The names resolved, and the options with the way to choose of all of them: by likelihood where one does. */
function resolveAll(task: Pick<Task, 'name' | 'agents'>, named: readonly Named[], flags: EvaluationFlags) {
  const usual = usualChoices(flags);
  const resolved = named.map((one) => ({
    ...resolve(task, { choices: usual, ...one }, flags),
    ...(one.choices && { name: `${one.name}, ${one.choices}` }),
  }));
  const choices = resolved.some((one) => one.choices === 'likelihood') ? 'likelihood' : usual;
  return { resolved, flags: { ...flags, choices } };
}

/** The evaluation of one agent, read where it is kept and may be reused; none where it is planned in parts and skipped. */
async function evaluateOne<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  opened: Opened<S, Answer, R, D>,
  agent: NamedAgent<S, Answer, R>,
  anyModel: LanguageModel | undefined,
  options: EvaluateNamedOptions<S, Answer, D, R>,
): Promise<NamedEvaluation<R>[]> {
  const { task, data, flags, work } = opened;
  const { reuse = false, shard, onAsked } = options;
  const { name, agent: untrained, trained } = agent.which;
  if ((shard ?? onAsked) && agent.asker.online) {
    throw new WorkbenchError('usage', `expected --parts with an agent that learns nothing as it answers, got ${name}`, {
      hint: 'What it learned from one question serves the next: evaluate it on one machine, without a plan.',
    });
  }
  // Several runs as one are no run’s own.
  const runFolder = trained?.others ? undefined : trained?.run.folder;
  const own = runFolder !== undefined && flags.evaluations === undefined;
  const model = agent.asker.prompted ? anyModel : undefined;
  const { repeats = 1 } = anyModel ?? {};
  if (repeats > 1 && agent.asker.online) {
    throw new WorkbenchError('usage', `expected repeats with an agent that learns nothing as it answers, got ${name}`);
  }
  const whole = askedOf(task, agent, data, { own, model, repeats });
  if (onAsked && !(await onAsked(whole, data.samples.length))) return [];
  const wholeFolder = evaluationFolder(whole, { root: flags.evaluations, runFolder });
  const asked = shard ? askedOfShard(whole, shard) : whole;
  const folder = shard ? shardFolder(wholeFolder, shard) : wholeFolder;
  const parts = shardsIn(folder).map(({ part, of }) => `${part}/${of}`);
  if (parts.length > 0) work.note(`${name}: resuming from ${parts.join(', ')}`);
  const evaluation =
    reuse && foundEvaluation(folder) !== undefined
      ? { ...readEvaluation(folder, task.measure), failures: [] }
      : await askAll(opened, agent, { asked, folder, model }, options);
  const { record } = evaluation;
  // The record of a run's own evaluation omits the run's folder: it stays the same after a move.
  const run = trained && { run: trainedName(trained) };
  const title = trained ? undefined : agentTitle(record.agent) + name.slice(untrained?.length);
  return [{ ...evaluation, name, runFolder, title, record: { ...record, ...run } }];
}

/** Asks an agent all samples, with a progress line, and keeps the evaluation. */
async function askAll<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  { task: { measure }, data, work }: Opened<S, Answer, R, D>,
  { asker, scorer, notes, which }: NamedAgent<S, Answer, R>,
  kept: Pick<KeepOptions<S, Answer, R>, 'asked' | 'folder' | 'model'>,
  { label = which.name, onAttempt }: EvaluateNamedOptions<S, Answer, D, R>,
) {
  const samples = samplesOf(data.samples, kept.asked.about);
  const [main] = scorer.figures;
  const valueOf = measure.valueOf(main!.key);
  const line = evaluationProgress(label, samples.length, measure.samples ?? measure.clusters, work);
  const evaluation = await keepEvaluation(asker, samples, scorer, {
    ...{ ...kept, notes, excluded: data.excluded, examples: data.examples },
    ...{ onCall: line.called, onTruncatedLog: work.onTruncatedLog, signal: work.signal },
    fromScratch: onAttempt !== undefined,
    onRow(row, sample, attempt) {
      line.answered(main!, valueOf(row));
      onAttempt?.(sample, attempt, data);
    },
  });
  line.finish();
  const [first] = evaluation.failures;
  const count = evaluation.failures.length;
  if (first) work.note(`${which.name}: failed on ${count} samples, counted as misses; ${first.id}: ${first.message}`);
  return evaluation;
}

/**
 * Copies evaluations of untrained agents into the folders of the runs that they were compared with, whose reports show them
 * next to the run's own.
 */
export function keepBeside(evaluations: readonly NamedEvaluation<Row>[]): void {
  const runs = evaluations.flatMap(({ runFolder }) => runFolder ?? []);
  for (const { folder, runFolder, record } of evaluations) {
    // Several runs as one are trained too, and are no run’s own.
    if (runFolder !== undefined || record.checkpoint !== undefined) continue;
    for (const run of runs) cpSync(folder, join(runFiles(run).evaluations, basename(folder)), { recursive: true });
  }
}

/** Opens agents over one set of samples, each with its sources. */
export async function openAgents<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  task: EvaluatedTask<S, Answer, R, D>,
  resolved: readonly Resolved[],
  flags: EvaluationFlags,
  work: Work,
) {
  const shared = new ProvenanceNotes();
  const runs = resolved.flatMap(({ trained }) => (trained ? membersOf(trained).map(({ run }) => run) : []));
  for (const line of new Set(runs.flatMap(changedPluginsOf))) work.note(line);
  const data = await collectProvenance(shared, () => task.data(flags, runs));
  const lastEncoder = runs.flatMap((run) => encoderModelOf(run) ?? []).at(-1);
  const agents: NamedAgent<S, Answer, R>[] = [];
  const close = async () => {
    for (const agent of agents.splice(0)) await agent.close?.();
  };
  try {
    for (const which of resolved) {
      const notes = new ProvenanceNotes().keep(shared.record());
      // Untrained agents use the encoder of the compared run, so that a table compares agents alone.
      const encoder = flags.encoder ?? (which.trained ? undefined : lastEncoder);
      const own = { ...flags, choices: which.choices ?? flags.choices };
      const opening = () => task.openAgent(which, data, { flags: own, runs, encoder, work });
      agents.push({ ...(await collectProvenance(notes, opening)), which, notes });
    }
    return { task, data, agents, flags, work, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

interface AskedBy {
  /** Kept in its run's folder, which it need not name. */
  own: boolean;
  model: Pick<LanguageModel, 'id' | 'name' | 'simulated'> | undefined;
  repeats?: number;
}

/** Identity of an evaluation: everything that decides the result. */
export function askedOf<S extends Sample, Answer, R extends Row>(
  { name: task }: { name: string },
  { which, asker, about, hashes, encoder }: NamedAgent<S, Answer, R>,
  data: Data<S>,
  { own, model, repeats = 1 }: AskedBy,
): AskedEvaluation {
  const { agent, switches, trained, choices = 'written' } = which;
  return {
    schemaVersion: 2,
    kind: 'evaluation',
    task,
    agent: agent ?? asker.name,
    ...(trained && !own && { run: trainedName(trained) }),
    ...(trained && checkpointOf(trained)),
    about: {
      ...data.about,
      // `written` is left out.
      ...('choices' in data.about && { choices: model && choices !== 'written' ? choices : undefined }),
      ...(repeats > 1 && { repeats }),
      ...(model && { model: model.name, simulated: model.simulated }),
      // Without a model there are no calls to count.
      ...(!model && 'budget' in data.about && { budget: null }),
      ...(Object.keys(switches).length > 0 && { switches }),
      ...about,
    },
    ...(encoder !== undefined && { encoder }),
    ...(model && { modelId: model.id }),
    ...{ resamples: data.resamples, examples: data.examples },
    hashes: { ...data.hashes, ...hashes, ...pluginHashes({ agent: `${task}/${agent}`, run: trained?.run }) },
  };
}

/** Phase and step of a name such as `best`. */
function checkpointOf(trained: Trained) {
  const { checkpoint } = trained;
  const all = membersOf(trained).map((one) => resolveCheckpoint(one.run.folder, one.checkpoint));
  const [{ phase, step }] = all as [(typeof all)[number]];
  // Of several what they share.
  return {
    checkpoint,
    ...(all.every((one) => one.phase === phase) && { phase }),
    ...(all.every((one) => one.step === step) && { step }),
  };
}

/** Names of its runs, in a form that names them again: checkpoints where they are not that of the first. */
function trainedName(trained: Trained): string {
  const names = membersOf(trained).map(({ run: { id, folder }, checkpoint }) => {
    // By its folder where it does not lie among the runs.
    const name = resolvePath(runsFolder(), id) === folder ? id : folder;
    return checkpoint === trained.checkpoint ? name : `${name}@${checkpoint}`;
  });
  return names.join(trained.agree ? ',' : '+');
}

/** The model that the options name, where an agent asks one. @throws WorkbenchError `usage` for a model that none asks */
async function modelFor<S extends Sample, Answer, R extends Row, D extends Data<S>>(
  opened: Opened<S, Answer, R, D>,
): Promise<LanguageModel | undefined> {
  const { task, agents, data, flags, work } = opened;
  const { model, modelSet, choices } = flags;
  const prompted = agents.flatMap(({ asker }) => (asker.prompted ? [asker.name] : []));
  if (prompted.length === 0) {
    if (model === undefined) return undefined;
    throw new WorkbenchError('usage', `expected no language model, got ${model}, at --model: no agent named asks one`, {
      hint: 'Text vectors come from --encoder.',
    });
  }
  const spec = model ?? embeddedChatModel(`agent ${prompted[0]}`, work);
  return (await task.simulated?.open(spec, data, prompted)) ?? openRealModel(spec, modelSet, choices, work);
}

/** A progress line: the score so far, and of agents that ask a model calls and tokens. */
function evaluationProgress(name: string, total: number, what: string, { progress, note }: Work) {
  const line = progress(name, total, what);
  const started = performance.now();
  const sum = { done: 0, counted: 0, value: 0, calls: 0, remembered: 0, tokens: 0, cut: 0, thinking: 0 };
  let score = '';
  const show = () => {
    const seconds = (performance.now() - started) / 1000;
    const shown = [
      score,
      sum.calls > 0 && `${sum.calls} requests`,
      sum.remembered > 0 && `${sum.remembered} remembered`,
      sum.calls > 0 && `${(sum.tokens / Math.max(seconds, 1e-9)).toFixed(0)} tokens/s`,
    ];
    line.update(sum.done, shown.filter(Boolean).join(' · '));
  };
  return {
    answered({ title, unit }: Figure, value: number | undefined) {
      sum.done++;
      if (value !== undefined) sum.value += value;
      if (value !== undefined) sum.counted++;
      if (sum.counted > 0) score = `${title} ${numberText(sum.value / sum.counted, unit)}${unit === '%' ? ' %' : ''}`;
      show();
    },
    called({ cacheHit, completion }: CallTiming) {
      const { promptTokens, cachedTokens, completionTokens, stop, remarks } = completion;
      sum.calls++;
      sum.cut += Number(stop === 'length');
      sum.thinking += Number(remarks?.includes('thinking') ?? false);
      if (cacheHit) sum.remembered++;
      else sum.tokens += promptTokens - cachedTokens + completionTokens;
      show();
    },
    finish() {
      line.finish();
      const { calls, cut, thinking } = sum;
      if (cut + thinking === 0) return;
      const ended = `${cut} of ${calls} replies were cut at their limit, ${thinking} ended before the model had done thinking`;
      note(`${name}: ${ended}; ${replyHint}`);
    },
  };
}
