/** What `evaluate` and `compare` do alike on questions: everything is opened first, then each agent is asked. */
import { resolve } from 'node:path';
import {
  type AskedEvaluation,
  evaluationName,
  finishedFolder,
  readEvaluation,
} from '../../evaluation/questions/evaluation-folder.js';
import type { SavedEvaluation } from '../../evaluation/questions/run-question-evaluation.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { collectProvenance, ProvenanceNotes } from '../../src/run/provenance.js';
import { runsFolder } from '../../src/run/locations.js';
import type { Named } from '../kind-of-work.js';
import { tellTorn } from '../torn-log.js';
import { terminalWatch, type Watch } from '../watch.js';
import { embeddedChatModel } from '../open-real-model.js';
import { evaluationProgress } from './evaluation-progress.js';
import { openModel } from './open-model.js';
import { type OpenedQuestionAgent, openQuestionAgent, resolveAgents, type ResolvedAgent } from './question-agents.js';
import { type QuestionFlags, questionInputs, type QuestionInputs } from './question-inputs.js';
import { printNote } from '../output.js';

/** Bootstrap resamples behind every interval. */
const resamples = 2000;

/** An evaluation under the name that the command line gave the agent. */
export interface NamedEvaluation extends Pick<SavedEvaluation, 'record' | 'rows' | 'folder'> {
  /** As it was asked for. */
  name: string;
  /** Absent where a finished evaluation was reused. */
  speed?: SavedEvaluation['speed'];
}

/** Who watches, and whether evaluations that are finished are taken as they are. */
export interface EvaluateAgentsOptions {
  watch?: Watch;
  /** Read evaluations that are finished, instead of counting them anew from what their model wrote. Default false. */
  reuse?: boolean;
}

/**
 * Evaluates agents one after the other, with a progress line each.
 * @throws WorkbenchError for anything that is not there or does not fit, before the first question is asked
 */
export async function evaluateAgents(
  named: readonly Named[],
  flags: QuestionFlags,
  { watch = terminalWatch(), reuse = false }: EvaluateAgentsOptions = {},
): Promise<NamedEvaluation[]> {
  const resolved = await resolveAgents(named, flags);
  const shared = new ProvenanceNotes();
  const runs = resolved.flatMap(({ run }) => run?.run ?? []);
  const inputs = await collectProvenance(shared, () => questionInputs(flags, runs));
  const opened: Opened[] = [];
  let model: LanguageModel | undefined;
  try {
    for (const which of resolved) {
      const notes = new ProvenanceNotes().keep(shared.record());
      const options = {
        seed: inputs.about.seed,
        // Untrained agents read with the eyes of the run beside them, so that a table compares agents alone.
        encoder: flags.encoder ?? (which.run ? undefined : encoderOf(resolved)),
      };
      const one = await collectProvenance(notes, () => openQuestionAgent(which, inputs, options));
      opened.push({ which, one, notes });
    }
    model = await modelFor(opened, inputs, flags);
    const evaluations: NamedEvaluation[] = [];
    for (const agent of opened) evaluations.push(await evaluateShown(agent, inputs, { flags, model, watch, reuse }));
    return evaluations;
  } finally {
    await model?.dispose();
    for (const { one } of opened) await one.close();
  }
}

async function modelFor(
  opened: readonly { one: OpenedQuestionAgent }[],
  { graph, samples, about }: QuestionInputs,
  { model, modelSet }: QuestionFlags,
): Promise<LanguageModel | undefined> {
  const prompted = opened.flatMap(({ one: { agent } }) => (agent.prompted ? [agent.name] : []));
  if (prompted.length === 0) {
    if (model === undefined) return undefined;
    throw new WorkbenchError('usage', `expected no language model, got ${model}, at --model: no agent named asks one`, {
      hint: 'Text vectors come from --encoder.',
    });
  }
  const given = { graph, samples, seed: about.seed, set: modelSet };
  return openModel(model ?? embeddedChatModel(`agent ${prompted[0]}`), given, prompted);
}

interface Opened {
  which: ResolvedAgent;
  one: OpenedQuestionAgent;
  /** What it was made from. */
  notes: ProvenanceNotes;
}

interface EvaluateOne extends Required<EvaluateAgentsOptions> {
  flags: QuestionFlags;
  model: LanguageModel | undefined;
}

async function evaluateShown(
  { which, one: { agent, checkpointHash, encoder, encoderId: encoderHash }, notes }: Opened,
  inputs: QuestionInputs,
  { flags, model, watch, reuse }: EvaluateOne,
): Promise<NamedEvaluation> {
  const { runQuestionEvaluation } = await import('../../evaluation/questions/run-question-evaluation.js');
  const { samples, excluded, graph, names, hashes } = inputs;
  const asker = agent.prompted ? model : undefined;
  const asked: AskedEvaluation = {
    schemaVersion: 1,
    kind: 'question-evaluation',
    agent: which.agent ?? agent.name,
    ...(which.run && { run: runName(which.run), checkpoint: which.run.checkpoint }),
    about: {
      ...inputs.about,
      ...(asker && { model: asker.name }),
      simulated: asker?.simulated ?? false,
      // Without a model there are no calls to count.
      ...(!asker && { budget: null }),
      switches: which.switches,
      topicGiven: agent.topicGiven,
    },
    ...(encoderHash !== undefined && encoder !== undefined && { encoder }),
    ...(asker && { modelId: asker.id }),
    hopsGiven: inputs.hopsGiven,
    resamples,
    hashes: {
      ...hashes,
      ...(checkpointHash !== undefined && { checkpoint: checkpointHash }),
      ...(encoderHash !== undefined && { encoder: encoderHash }),
    },
  };
  const finished = reuse ? finishedFolder(evaluationName(asked), flags.evaluations) : undefined;
  if (finished !== undefined) return { name: which.name, ...readEvaluation(finished) };
  const line = evaluationProgress(which.name, samples.length, watch.progress);
  const evaluation = await runQuestionEvaluation(agent, samples, {
    asked,
    model: asker,
    notes,
    root: flags.evaluations,
    graph,
    names,
    excluded,
    onRow: line.answered,
    onCall: line.called,
    onTorn: tellTorn,
    signal: watch.signal,
  });
  line.finish();
  const crashed = evaluation.rows.filter(({ crash }) => crash !== undefined);
  if (crashed[0]) {
    printNote(
      `${which.name}: crashed on ${crashed.length} questions, counted as misses; ${crashed[0].id}: ${crashed[0].crash}`,
    );
  }
  return { ...evaluation, name: which.name };
}

/** The encoder's file of the last run among the agents. */
function encoderOf(resolved: readonly ResolvedAgent[]): string | undefined {
  const encoders = resolved.flatMap(
    ({ run }) => (run?.run.config.encoder as { model?: string } | undefined)?.model ?? [],
  );
  return encoders.at(-1);
}

/** A run by its name, where it lies among the runs; else by its folder. */
function runName({ run: { id, folder } }: NonNullable<ResolvedAgent['run']>): string {
  return resolve(runsFolder(), id) === folder ? id : folder;
}
