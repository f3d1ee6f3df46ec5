/** What one question's exploration works with. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { QuestionSession } from '../../question-agent.js';
import type { ClueSet, Clues } from './clues.js';
import type { FiskeSettings } from './settings.js';

/** The graph, the question, its clues and its view of the model, with what is counted on the way. */
export interface Exploration {
  graph: Graph;
  settings: FiskeSettings;
  task: QuestionTask;
  session: QuestionSession;
  clues: Clues;
  /** Clues that name an entity. */
  namedBy: ReadonlyMap<number, ClueSet>;
  /** Whether an entity that no clue was mapped to may be reached: what the question names may not, unless topics return. */
  mayEnd: (entity: number) => boolean;
  /** Counts reads of the graph. */
  read: (edges: number) => void;
  /** Called where a reply could not be read. */
  degrade: () => void;
}
