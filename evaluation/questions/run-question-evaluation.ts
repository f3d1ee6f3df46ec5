/** An evaluation in its folder: begun, gone on with after a kill, and finished with the same bytes either way. */
import type { QuestionAgent } from '../../agents/question-agent.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { CallTiming } from '../../src/llm/client/ask-model.js';
import { type CompletionStore, openCompletionStore } from '../../src/llm/client/completion-store.js';
import { type ClientSettings, createClients } from '../../src/llm/client/create-clients.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { collectProvenance, keepProvenance, ProvenanceNotes } from '../../src/run/provenance.js';
import { openTimingLog, type TimingLog } from '../../src/run/metric-log.js';
import { type AskedEvaluation, openEvaluationFolder } from './evaluation-folder.js';
import { evaluateQuestions, type EvaluateQuestionsOptions, type QuestionEvaluation } from './evaluate-questions.js';
import { saveQuestionEvaluation } from './save-question-evaluation.js';
import { type EvaluationSpeed, speedometer } from './speedometer.js';

/** What is asked, of which model, and where it is kept. */
export interface RunEvaluationOptions extends Pick<
  EvaluateQuestionsOptions,
  'graph' | 'names' | 'excluded' | 'onRow' | 'signal'
> {
  asked: AskedEvaluation;
  /** Asked by prompted agents; the caller disposes it. */
  model?: LanguageModel | undefined;
  /** Default `evaluationsFolder()`. */
  root?: string | undefined;
  /** What the agent was made from, as noted while it was opened; what it learns while it answers is added. */
  notes?: ProvenanceNotes;
  /** Called after every call of the model, stored ones included. */
  onCall?: (timing: CallTiming) => void;
  /** Told of each log how many bytes of an unfinished last line, left by a crash, were cut off; 0 where it was whole. */
  onTorn?: (file: string, bytes: number) => void;
}

/** An evaluation that is whole on disk. */
export interface SavedEvaluation extends QuestionEvaluation {
  folder: string;
  /** Whether it was begun before. */
  resumed: boolean;
  speed: EvaluationSpeed;
}

/** A record of the wall clock after so many questions, so that a killed run keeps its time. */
const timedEvery = 50;

/**
 * Evaluates, and saves. A run that was killed at any moment goes on: what its model wrote is in the store, so no call is made
 * twice, and everything else is counted anew from it.
 * @throws WorkbenchError `usage` where a prompted agent has no model or another process writes the folder; see `evaluateQuestions`
 */
export function runQuestionEvaluation(
  agent: QuestionAgent,
  samples: readonly QuestionSample[],
  { notes = new ProvenanceNotes(), ...options }: RunEvaluationOptions,
): Promise<SavedEvaluation> {
  return collectProvenance(notes, () => runNoted(agent, samples, options));
}

async function runNoted(
  agent: QuestionAgent,
  samples: readonly QuestionSample[],
  { asked, model, root, onCall, onTorn, ...options }: Omit<RunEvaluationOptions, 'notes'>,
): Promise<SavedEvaluation> {
  if (agent.prompted && !model) throw noModel(agent);
  const opened = openEvaluationFolder(asked, root);
  const speed = speedometer();
  let timing: TimingLog | undefined;
  let store: CompletionStore | undefined;
  try {
    const log = (timing = openTimingLog(opened.files.timing));
    onTorn?.(opened.files.timing, log.tornBytes);
    store = agent.prompted ? openCompletionStore(opened.files.completions) : undefined;
    if (store) onTorn?.(opened.files.completions, store.tornBytes);
    const clients =
      store &&
      createClients({
        ...clientSettings(asked),
        model: model!,
        store,
        signal: options.signal,
        onTiming(call) {
          speed.called(call);
          onCall?.(call);
        },
      });
    await clients?.prime();
    let done = 0;
    const evaluation = await evaluateQuestions(agent, samples, {
      ...options,
      ...evaluateSettings(asked),
      ...(clients && { openCalls: (task) => clients.clientFor(task.id), concurrency: model!.concurrency }),
      onPrepared: () => speed.prepared(),
      onRow(row) {
        speed.answered();
        options.onRow?.(row);
        if (++done % timedEvery === 0) log.record('evaluate', done, speed.lap());
      },
    });
    log.record('evaluate', done, speed.lap());
    store?.sync();
    keepProvenance(opened.files.provenance);
    await saveQuestionEvaluation(opened.files, evaluation);
    return { ...evaluation, folder: opened.folder, resumed: opened.resumed, speed: speed.speed() };
  } catch (error) {
    if (!(error instanceof WorkbenchError) || error.code !== 'stopped') throw error;
    throw new WorkbenchError('stopped', `stopped; what was asked is saved, at ${opened.folder}`, {
      hint: 'Run the same command again: it goes on from there.',
      cause: error,
    });
  } finally {
    store?.close();
    timing?.close();
    opened.close();
  }
}

/** What a client needs to know of an evaluation. */
export function clientSettings({
  about,
}: AskedEvaluation): Pick<ClientSettings, 'budget' | 'budgetMode' | 'choices' | 'seed'> {
  const { budget, budgetMode, choices, seed } = about;
  return { budget, budgetMode, seed, ...(choices && { choices }) };
}

/** What the counting needs to know of it. */
export function evaluateSettings({
  about,
  modelId,
  hopsGiven,
  resamples,
  hashes: { graph: _, ...hashes },
}: AskedEvaluation): Pick<EvaluateQuestionsOptions, 'about' | 'hopsGiven' | 'resamples' | 'hashes'> {
  return { about, hopsGiven, resamples, hashes: { ...hashes, ...(modelId !== undefined && { model: modelId }) } };
}

function noModel({ name }: QuestionAgent): WorkbenchError {
  return new WorkbenchError('usage', `expected a language model for agent ${name}, got none, at --model`, {
    hint: 'Such as --model FILE.gguf, --model http://HOST:PORT/v1#NAME or --model oracle:0.',
  });
}
