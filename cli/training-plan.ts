/** The work of a training run, phase by phase, without doing it. */
import type { RunSettings } from '../presets/schema.js';
import type { PlannedWalks } from './walked-states.js';

/** Texts of one kind and how many tokens of them count. */
export interface TextGroup {
  texts: string[];
  maxTokens: number;
}

/** One line a phase, and the texts that would be encoded. */
export interface TrainingPlan {
  data: string;
  /** What else there is to know of the data, such as edges that leak; a line each. */
  notes: string[];
  /** Phases that a kind of walk lacks are `off`. */
  transe: string;
  /** Of link queries alone. */
  bilinear?: string;
  clone: string;
  ppo: string;
  texts: TextGroup[];
  /** What is walked where every state of a walk is encoded; its texts are not among `texts`. */
  walks?: PlannedWalks;
}

/**
 * @param hasClone whether PPO has a clone to start from already
 * @throws what training itself would throw for inputs that do not fit
 */
export async function trainingPlan(settings: RunSettings, hasClone: boolean): Promise<TrainingPlan> {
  const { checkTrainSettings } = await import('../trainers/check-settings.js');
  const { questionWalkIds } = await import('../envs/dialogue-walk/question-edge-walk.js');
  const { linkQueryId } = await import('../envs/link-query/world.js');
  checkTrainSettings(settings, hasClone);
  if (settings.env.id === linkQueryId) return (await import('./links/training-plan.js')).linkPlan(settings);
  return questionWalkIds.includes(settings.env.id) ? questionPlan(settings) : dialoguePlan(settings);
}

async function dialoguePlan(settings: RunSettings): Promise<TrainingPlan> {
  const { entityTexts, lastMessageText, relationTexts, windowText } = await import('../agents/walker/vectors.js');
  const { readsNames } = await import('../agents/walker/vectors.js');
  const { goldWalks } = await import('../trainers/demonstrations.js');
  const { openDialogueData } = await import('../trainers/dialogues/data.js');
  const { graph, walks, train, valid, ...known } = await openDialogueData(settings);
  const [data, ...notes] = known.notes;
  const tasks = [...train, ...valid].map(({ task }) => task);
  const { nameTokens, lastMessageTokens, windowTokens, windowMessages } = settings.encoder;
  const golds = goldWalks(train, walks.graph, settings.env).length;
  const { transe, clone } = settings;
  const updates = clone.epochs * Math.ceil(golds / clone.batchSize);
  const names = { texts: [...entityTexts(graph), ...relationTexts(graph)], maxTokens: nameTokens };
  const messages = [
    { texts: tasks.map(lastMessageText), maxTokens: lastMessageTokens },
    { texts: tasks.map((task) => windowText(task, windowMessages)), maxTokens: windowTokens },
  ];
  const perStep = settings.stateText.encode === 'per-step';
  return {
    data: data!,
    notes,
    transe: transe.enabled ? `${transe.epochs} epochs at most over ${graph.numEdges} edges` : 'off',
    clone: clone.enabled ? `${updates} updates of ${clone.batchSize} samples` : 'off',
    ppo: ppoWork(settings, 'samples'),
    texts: [...(readsNames(settings.walker) ? [names] : []), ...(perStep ? [] : messages)],
    ...(perStep && { walks: { graph: walks.graph, train, valid } }),
  };
}

async function questionPlan(settings: RunSettings): Promise<TrainingPlan> {
  const { questionText } = await import('../agents/relation-walker/question-vectors.js');
  const { loadTrainingQuestions } = await import('../trainers/questions/load-questions.js');
  const { relationWalkId } = await import('../envs/relation-walk/relation-walk-env.js');
  const { entityTexts, relationTexts } = await import('../agents/walker/vectors.js');
  const { graph, train, valid } = await loadTrainingQuestions(settings);
  const overEdges = settings.env.id !== relationWalkId;
  const { nameTokens, lastMessageTokens } = settings.encoder;
  const { keepName, maxTokens } = overEdges
    ? { keepName: false, maxTokens: lastMessageTokens }
    : settings.relationWalker;
  return {
    data: `${train.length} train and ${valid.length} valid questions on graph ${graph.name}`,
    notes: [],
    transe: 'off',
    clone: 'off',
    ppo: ppoWork(settings, 'questions'),
    texts: [
      ...(overEdges ? [{ texts: [...entityTexts(graph), ...relationTexts(graph)], maxTokens: nameTokens }] : []),
      { texts: [...train, ...valid].map(({ task }) => questionText(task, keepName)), maxTokens },
    ],
  };
}

function ppoWork({ ppo }: RunSettings, what: string): string {
  if (!ppo.enabled) return 'off';
  const walks = ppo.gradient === 'exact' ? 'none walked' : `${ppo.explorations} walks each`;
  return `${ppo.updates} updates of ${ppo.samplesPerUpdate} ${what}, ${walks}`;
}
