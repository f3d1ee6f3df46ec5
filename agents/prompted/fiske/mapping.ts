/** Asking which candidates speak for which clues, in batches. */
import type { Candidate, Example, MatchReply } from '../../../src/llm/decision.js';
import { clueIndices, type ClueSet } from './clues.js';
import type { Exploration } from './exploration.js';

/** Candidates of one kind, and the clues that they may speak for. */
export interface MappingQuery {
  phase: 'relation-map' | 'entity-map';
  task: string;
  examples: readonly Example<MatchReply>[];
  candidates: readonly Candidate[];
  /** Clues that are asked about. */
  clues: ClueSet;
  /** Entities that the candidates hang on. */
  heads: readonly number[];
  /** Least score of a match. */
  threshold: number;
}

/**
 * The clues that each candidate was matched to, in the candidates' order. A batch whose reply cannot be read matches
 * nothing.
 * @throws what the client throws, `BudgetSpent` among it
 */
export async function mapToClues(query: MappingQuery, exploration: Exploration): Promise<ClueSet[]> {
  const { settings, task, session, clues } = exploration;
  const asked = clueIndices(query.clues);
  const matched = query.candidates.map(() => 0);
  for (let begin = 0; begin < query.candidates.length; begin += settings.batchSize) {
    const candidates = query.candidates.slice(begin, begin + settings.batchSize);
    const { reply } = await session.client.decide({
      kind: 'match',
      phase: query.phase,
      questionId: task.id,
      question: task.question,
      task: query.task,
      examples: query.examples,
      evidence: [],
      subjects: query.heads,
      candidates,
      targets: asked.map((clue) => clues.texts[clue]!),
    });
    if (!reply) exploration.degrade();
    for (const { candidate, target, score } of reply?.matches ?? []) {
      if (score >= query.threshold) matched[begin + candidate]! |= 1 << asked[target]!;
    }
    const hits = matched.slice(begin, begin + candidates.length).filter((set) => set !== 0).length;
    session.trace({
      event: 'decision',
      phase: query.phase,
      summary: `${hits} of ${candidates.length} candidates mapped to clues`,
    });
  }
  return matched;
}
