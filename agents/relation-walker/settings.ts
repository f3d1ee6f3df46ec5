/** Settings of the relation walker's network and inputs. */
import { z } from 'zod';

/** The `relationWalker.model` section: how a language model is trained. */
export const languageSettings = z.strictObject({
  layers: z.int().min(1).max(1024).default(2).describe('Upper layers that are trained; the others stay as they are.'),
  rank: z
    .int()
    .min(1)
    .max(1024)
    .default(8)
    .describe('Rank of the matrices that are added to those of a layer (LoRA, Hu et al. 2021).'),
  alpha: z.number().min(0.001).max(10_000).default(16).describe('What they add counts alpha / rank.'),
  examples: z
    .boolean()
    .default(true)
    .describe(
      'Whether solved questions of invented worlds stand before the question, as before decisions by likelihood.',
    ),
});

/** Every setting with its value. */
export type LanguageSettings = z.output<typeof languageSettings>;

/** The `relationWalker` section of a configuration file. */
export const relationWalkerSettings = z.strictObject({
  reads: z
    .enum(['sentence', 'words', 'model'])
    .default('sentence')
    .describe(
      'Question input: the frozen vector of its text, joined with the relations walked; or an attention over the frozen vectors of its words at each step, each conditioned on the last, computed on the host; or question, walk and the words of relations as text of a language model, encoder.model, which is trained.',
    ),
  model: languageSettings.optional().describe('Training of the language model, with reads=model.'),
  wordDim: z.int().min(1).max(4096).default(64).describe('Words: numbers of a vector behind the projection.'),
  wordWidth: z.int().min(2).max(4096).default(64).describe('Words: units of the GRU each way.'),
  dropout: z
    .number()
    .min(0)
    .max(0.9)
    .default(0.2)
    .describe('Words: share of numbers that training leaves out; of a text the same ones throughout a round of PPO.'),
  questionWidth: z.int().min(2).max(8192).default(256).describe('Units of the layer over the question vector.'),
  width: z.int().min(2).max(8192).default(256).describe('Units of the layer that joins question and relations walked.'),
  keepName: z
    .boolean()
    .default(false)
    .describe(
      'Whether the question vector sees the name of the topic instead of [E]; for ablations: it costs 16 points on MetaQA.',
    ),
  standardize: z
    .boolean()
    .default(true)
    .describe(
      'Whether every dimension of the question vector is scaled by mean and deviation over the train questions.',
    ),
  maxTokens: z.int().min(1).default(128).describe('Of a question, how many tokens count; the first are dropped.'),
});

/** Every setting with its value. */
export type RelationWalkerSettings = z.output<typeof relationWalkerSettings>;

/** Training of a language model, by its settings or the defaults. */
export const languageSettingsOf = ({ model }: Pick<RelationWalkerSettings, 'model'>): LanguageSettings =>
  model ?? languageSettings.parse({});

/** True for settings, or a record of them, of a language model: its weights are a policy from the start and belong to no graph. */
export const trainsModel = (settings: object): boolean =>
  (settings as { relationWalker?: Partial<RelationWalkerSettings> }).relationWalker?.reads === 'model';

/** The `teacher` section of a configuration file. */
export const teacherSettings = z.strictObject({
  evaluation: z
    .string()
    .min(1)
    .describe('Saved evaluation of an agent on train questions, by name or folder: its relation chains are cloned.'),
  accept: z
    .enum(['verified', 'confident', 'all'])
    .default('verified')
    .describe('Selection of its chains: those that passed the agent’s own check, the confident ones, or all.'),
  minConfidence: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Minimum confidence of a chain, with accept=confident.'),
  simulated: z
    .boolean()
    .default(false)
    .describe('Allow a simulated model, which has access to the golds, as teacher: for tests of algorithms.'),
});

/** Every setting with its value. */
export type TeacherSettings = z.output<typeof teacherSettings>;

/** The missing setting, if no teacher is given. */
export const teacherWanted = 'teacher.evaluation, the kept evaluation whose walks are cloned';
/** Hint with the way to make one. */
export const teacherHint =
  '`kgwalk evaluate --agent self-veqa --set memory=off --choices likelihood --split train` makes one and says where.';
