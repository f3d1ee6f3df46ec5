/**
 * Walks of another agent that a walker is cloned from: the relation chains of a kept evaluation on train. Of its rows only what the
 * agent said is read, never how it was scored, and no gold chain.
 */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { RelationRequest } from '../../agents/relation-walker/network.js';
import type { QuestionTask } from '../../datasets/question.js';
import { questionsHash } from '../../datasets/questions/question-manifest.js';
import { evaluationFiles, foundEvaluation, readEvaluation, readEvaluationNotes } from '../../evaluation/keep.js';
import { type FrontierTrie, frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import {
  applyRelation,
  initialRelationState,
  relationActionMask,
  type RelationWalkRules,
} from '../../envs/relation-walk/rules.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File, writeFileAtomic } from '../../src/run/files.js';
import { keepNotes } from '../../src/run/provenance.js';
import { openObject, readJsonFile } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';
import type { Run } from '../../src/run/run-folder.js';
import { legalBefore, type ShownStep } from '../../trainers/clone.js';
import { teacherHint, type TeacherSettings, teacherWanted } from '../../agents/relation-walker/settings.js';
import type { Teacher } from '../../agents/question-training.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import type { TrainingQuestions } from '../../datasets/questions/training-questions.js';

/** Fields of a row that are read. */
const said = openObject({
  id: z.string(),
  form: z.enum(['entities', 'truth']),
  chain: z.array(z.string()).optional(),
  verified: z.boolean().optional(),
  confidence: anyNumber.optional(),
});
type Said = z.output<typeof said>;

const taughtRecord = openObject({
  schemaVersion: z.literal(1),
  /** sha256 of the evaluation's `answers.jsonl`. */
  sha256: z.string(),
  agent: z.string(),
  model: z.string().optional(),
  simulated: z.boolean().optional(),
  switches: z.record(z.string(), z.unknown()).optional(),
  split: z.string(),
  /** Accepted walks: `verified`, `confidence >= 0.5`, `all`. */
  rule: z.string(),
  /** Questions that were asked, walks that are cloned, and the others by reason. */
  asked: z.int(),
  accepted: z.int(),
  left: z.record(z.string(), z.int()),
  /** All that was spent on these questions, by `calls`, `promptTokens`, `cachedTokens`, `completionTokens`. */
  spent: z.record(z.string(), anyNumber),
});
/** `teacher.json` of a run: from which evaluation its walks come, and what they cost. */
export type TaughtRecord = z.output<typeof taughtRecord>;

/**
 * Reads the evaluation that the settings name; undefined where they clone nothing.
 * @throws WorkbenchError `data` where there is none, it is of another data set, graph or split, or none of its walks is accepted;
 *   `config` for one of a simulated model, unless `teacher.simulated` says so
 */
export async function openTeacher(
  { teacher, clone, relationWalk: rules }: TrainSettings,
  questions: TrainingQuestions,
): Promise<Teacher | undefined> {
  if (!clone.enabled || !teacher) return undefined;
  const found = foundEvaluation(teacher.evaluation) ?? foundEvaluation(teacher.evaluation, undefined, 'begun');
  if (found === undefined) {
    throw new WorkbenchError('data', `expected ${teacherWanted}, got none, at ${teacher.evaluation}`, {
      hint: teacherHint,
    });
  }
  const { folder, record, rows } = readEvaluation(found, { row: said });
  refuseOther(record, folder, teacher, questions);
  const { walks, left } = acceptedWalks(rows, teacher, rules, questions, folder);
  const rule = teacher.accept === 'confident' ? `confidence >= ${teacher.minConfidence}` : teacher.accept;
  if (walks.length === 0) {
    const why = Object.entries(left).map(([reason, count]) => `${count} ${reason}`);
    throw new WorkbenchError(
      'data',
      `expected walks to clone by teacher.accept=${teacher.accept}, got none of ${rows.length} (${why.join(', ')}), at ${folder}`,
      { hint: 'An agent without a check has no verified walks: set teacher.accept=all, or confident.' },
    );
  }
  const spent = ['calls', 'promptTokens', 'cachedTokens', 'completionTokens'].map((key) => {
    return [key, record.cost[key]?.total ?? 0] as const;
  });
  const { agent, model, simulated, switches, split } = record;
  const taught: TaughtRecord = {
    ...{ schemaVersion: 1, sha256: await sha256File(evaluationFiles(folder).answers), agent, model, simulated },
    ...{ switches, split, rule, asked: rows.length, accepted: walks.length, left, spent: Object.fromEntries(spent) },
  };
  return { walks, note: noteOf(taught), keep: ({ files }) => keepTeacher(files, taught, folder) };
}

type Evaluated = ReturnType<typeof readEvaluation>['record'];

function refuseOther(
  { dataset: name, split, hashes, simulated, model }: Evaluated,
  folder: string,
  teacher: TeacherSettings,
  { dataset, graph }: TrainingQuestions,
): void {
  const wanted = (what: string, want: string, got: string, hint: string) => {
    if (want !== got) {
      throw new WorkbenchError('data', `expected an evaluation of ${what} ${want}, got one of ${got}, at ${folder}`, {
        hint,
      });
    }
  };
  const { manifest } = dataset;
  wanted('data set', manifest.name, name, 'A walker is cloned from walks over its own questions.');
  const again = 'Evaluate the teacher again on the data set as it is imported now.';
  wanted('graph', graph.hash, hashes.graph ?? 'none', again);
  wanted('data set', questionsHash(manifest), hashes.dataset ?? 'none', again);
  const { role } = dataset.split({ split });
  wanted(
    'split',
    'train',
    role ?? split,
    'Ask the teacher train questions: kgwalk evaluate --agent NAME --split train.',
  );
  if (simulated && !teacher.simulated) {
    throw new WorkbenchError(
      'config',
      `expected walks of a real model, got those of ${model ?? 'a simulated one'}, which knows the golds, at ${folder}`,
      { hint: 'Set teacher.simulated=true to learn from it nevertheless.' },
    );
  }
}

function acceptedWalks(
  rows: readonly Said[],
  teacher: TeacherSettings,
  rules: RelationWalkRules,
  { graph, train }: TrainingQuestions,
  folder: string,
): { walks: Teacher['walks'][number][]; left: Record<string, number> } {
  const frontiers = frontierTrie(graph);
  const sampleOf = new Map(train.map((sample) => [sample.task.id, sample]));
  const strangers = rows.filter(({ id, form }) => form === 'entities' && !sampleOf.has(id));
  if (strangers.length > 0) {
    throw new WorkbenchError(
      'data',
      `expected train questions of the run alone, got ${strangers.length} others, such as ${strangers[0]!.id}, at ${folder}`,
      { hint: 'Evaluate the teacher with the --hold-out and the subsets that the run trains on, or train on theirs.' },
    );
  }
  const walks: Teacher['walks'][number][] = [];
  const left: Record<string, number> = {};
  for (const row of rows) {
    const sample = sampleOf.get(row.id);
    const steps = sample && isAccepted(row, teacher) ? stepsOf(row.chain, sample.task, graph, frontiers, rules) : [];
    if (steps.length > 0) walks.push({ sample: sample!, steps });
    else {
      const reason = leftFor(row, teacher);
      left[reason] = (left[reason] ?? 0) + 1;
    }
  }
  return { walks, left };
}

function isAccepted({ verified, confidence }: Said, { accept, minConfidence }: TeacherSettings): boolean {
  if (accept === 'verified') return verified === true;
  return accept === 'all' || (confidence !== undefined && confidence >= minConfidence);
}

function leftFor(row: Said, teacher: TeacherSettings): string {
  if (row.form === 'truth') return 'statements';
  if (!row.chain || row.chain.length === 0) return 'without a chain';
  if (isAccepted(row, teacher)) return 'not walkable';
  return teacher.accept === 'verified' ? 'not verified' : 'not confident';
}

/** The states of a walk over these relations, STOP at its end where it is chosen; empty where the rules do not allow it. */
function stepsOf(
  chain: readonly string[] | undefined,
  task: QuestionTask,
  graph: TrainingQuestions['graph'],
  frontiers: FrontierTrie,
  rules: RelationWalkRules,
): ShownStep<RelationRequest>[] {
  const stop = graph.numRelations;
  const steps: ShownStep<RelationRequest>[] = [];
  if (!chain || chain.length === 0) return steps;
  let state = initialRelationState(questionRoot(frontiers, task), rules, task.hops);
  const actions = [...chain.map((name) => graph.relationNames.indexOf(name)), stop];
  for (const [index, action] of actions.entries()) {
    if (state.done) return index === chain.length ? steps : [];
    const mask = relationActionMask(state);
    if (mask[action] !== 1) return [];
    steps.push({ request: { task, relations: state.node.relations, mask }, gold: legalBefore(mask, action) });
    state = applyRelation(state, action);
  }
  return steps;
}

/** Writes what a run is cloned from into its folder, and takes over what the teacher was made from. */
function keepTeacher(files: Run['files'], record: TaughtRecord, folder: string): void {
  if (existsSync(files.teacher)) {
    const { sha256 } = readJsonFile(files.teacher, taughtRecord, 'what a run was cloned from');
    if (sha256 !== record.sha256) {
      throw new WorkbenchError(
        'data',
        `expected the walks that the run was begun with, sha256 ${sha256}, got ${record.sha256}, at ${folder}`,
        { hint: 'Begin a new run, or name the evaluation as it was.' },
      );
    }
  }
  const notes = readEvaluationNotes(folder);
  if (notes) keepNotes(notes);
  writeFileAtomic(files.teacher, `${JSON.stringify(record, null, 2)}\n`);
}

/** `212 of 300 walks of self-veqa (MODEL) are cloned; they cost 600 calls and 40000 tokens`. */
function noteOf({ agent, model, asked, accepted, rule, spent }: TaughtRecord): string {
  const tokens = (spent.promptTokens ?? 0) + (spent.completionTokens ?? 0);
  const by = model === undefined ? agent : `${agent} (${model})`;
  return `${accepted} of ${asked} walks of ${by} are cloned (${rule}); they cost ${spent.calls} calls and ${tokens} tokens`;
}
