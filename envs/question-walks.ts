/** Which environments walk over questions. */
import { questionEdgeWalkId } from './question-edge-walk.js';
import { relationWalkId } from './relation-walk-env.js';

/** Ids of the environments whose samples are questions; all others walk over dialogues. */
export const questionWalkIds: readonly string[] = [relationWalkId, questionEdgeWalkId];
