/** `kgwalk replay`: opens what an evaluation named, and runs it again from its completions. */
import { openReplayCalls } from '../../evaluation/questions/replay-calls.js';
import { evaluationFiles, readAsked } from '../../evaluation/questions/evaluation-folder.js';
import { replayEvaluation } from '../../evaluation/questions/replay.js';
import type { Replay } from '../../evaluation/questions/replay.js';
import { evaluateSettings } from '../../evaluation/questions/run-question-evaluation.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { interruptSignal } from '../interrupt.js';
import { findRun } from '../kind-of-work.js';
import { printJson, printLine } from '../output.js';
import { openQuestionAgent } from './question-agents.js';
import type { ResolvedAgent } from './question-agents.js';
import { questionInputs } from './question-inputs.js';
import type { QuestionInputs } from './question-inputs.js';
import { printTrace } from './trace-lines.js';

/** The options of `kgwalk replay`. */
export interface ReplayFlags {
  question?: string;
  encoder?: string;
  /** Where evaluations are kept. */
  evaluations?: string;
  json?: boolean;
}

/** Replays, prints, and fails where a byte differs. */
export async function replayOnQuestions(
  evaluation: string,
  { question, encoder, evaluations, json }: ReplayFlags,
): Promise<void> {
  const asked = readAsked(evaluation, evaluations);
  const { folder, about } = asked;
  const files = evaluationFiles(folder);
  const inputs = await inputsOf(asked);
  const opened = await openQuestionAgent(resolved(asked), inputs, {
    seed: about.seed,
    encoder: encoder ?? asked.encoder,
  });
  if (opened.encoderId !== asked.hashes.encoder) {
    await opened.close();
    throw otherEncoder(asked.hashes.encoder, opened.encoderId);
  }
  const calls = opened.agent.prompted ? openReplayCalls(files, asked) : undefined;
  try {
    const replay = await replayEvaluation(
      opened.agent,
      inputs.samples,
      files,
      {
        ...evaluateSettings(asked),
        graph: inputs.graph,
        names: inputs.names,
        excluded: inputs.excluded,
        ...(calls && { openCalls: calls.openCalls }),
        signal: interruptSignal(),
      },
      question,
    );
    const { rows, attempts, ...told } = replay;
    if (json)
      printJson({ evaluation: folder, ...told, ...(question !== undefined && { row: rows[0], ...attempts[0] }) });
    else if (question !== undefined) printTrace(rows[0]!, attempts[0]!, inputs.graph);
    if (!replay.identical) throw differs(replay, folder);
    if (!json)
      printLine(`${replay.n} ${replay.n === 1 ? 'question' : 'questions'} replayed: every byte as it was saved`);
  } finally {
    calls?.close();
    await opened.close();
  }
}

function resolved({ agent, run, checkpoint, about }: ReturnType<typeof readAsked>): ResolvedAgent {
  if (run === undefined) return { name: agent, agent, switches: about.switches };
  const found = findRun(run);
  if (found) return { name: run, switches: {}, run: { run: found.run, checkpoint: checkpoint! } };
  throw new WorkbenchError('data', `expected the run of the evaluation, got nothing, at ${run}`);
}

/** @throws WorkbenchError `data` where the data set is another than the one that was asked */
async function inputsOf({ about, folder, hashes, hopsGiven }: ReturnType<typeof readAsked>): Promise<QuestionInputs> {
  const { dataset, subsets, split, holdOut, limit, seed, budget, budgetMode, choices } = about;
  const inputs = await questionInputs(
    {
      dataset: `${dataset}/${subsets.join(',')}`,
      split,
      holdOut: holdOut as 'question',
      ...(limit !== undefined && { limit: String(limit) }),
      seed: String(seed),
      budget: String(budget ?? 'none'),
      budgetMode,
      ...(choices && { choices }),
      checkpoint: 'best',
      set: [],
      modelSet: [],
      withholdHops: !hopsGiven,
    },
    [],
  );
  if (inputs.hashes.dataset === hashes.dataset && inputs.hashes.graph === hashes.graph) return inputs;
  throw new WorkbenchError('data', `expected data set ${dataset} as it was evaluated, got another, at ${folder}`, {
    hint: 'It was imported anew since then, from other files.',
  });
}

function otherEncoder(wanted: string | undefined, got: string | undefined): WorkbenchError {
  return new WorkbenchError('data', `expected text vectors of ${wanted}, got those of ${got}, at --encoder`, {
    hint: 'Give the file that the evaluation was made with.',
  });
}

function differs({ different, differentFiles, first, n }: Replay, folder: string): WorkbenchError {
  const where = first ? `question ${first.id} first, in ${first.file}` : differentFiles.join(', ');
  const count = different.length > 0 ? `${different.length} of ${n} questions that differ` : 'files that differ';
  return new WorkbenchError('data', `expected the bytes of the evaluation, got ${count} (${where}), at ${folder}`, {
    hint: first
      ? `\`kgwalk replay ${folder} --question ${first.id}\` shows what came out now.`
      : 'Rows and traces are equal; only what is counted from them differs.',
  });
}
