/** Opens whatever was trained on questions from its run folder. */
import { questionEdgeWalkId } from '../envs/dialogue-walk/question-edge-walk.js';
import { openRun } from '../src/run/run-folder.js';
import { loadRelationWalkerRun } from './relation-walker/load-relation-walker.js';
import type { LoadedQuestionWalker } from './trained-run.js';
import { loadQuestionEdgeRun, type LoadQuestionEdgeOptions } from './walker/load-question-edge.js';

/** What opening either kind of walker may be told; a relation walker takes no backend. */
export type LoadQuestionRunOptions = LoadQuestionEdgeOptions;

/**
 * A walker over relations, or over edges where the run's settings say so. Relations need no tensor backend.
 * @throws WorkbenchError `data` where something is missing or does not fit, `native` without a backend it needs
 */
export function loadQuestionRun(runFolder: string, options: LoadQuestionRunOptions): Promise<LoadedQuestionWalker> {
  const { env } = openRun(runFolder).config as { env?: { id?: string } };
  return env?.id === questionEdgeWalkId
    ? loadQuestionEdgeRun(runFolder, options)
    : loadRelationWalkerRun(runFolder, options);
}
