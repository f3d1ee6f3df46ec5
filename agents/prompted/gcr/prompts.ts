/** Prompt of GCR, with a solved instance of a made-up orchard. */
import type { Example, PathsReply } from '../../../src/llm/decision.js';

export const pathsTask =
  'Name the paths that lead from the entity in the question to its answer. Give the most reasonable path first.';

export const pathsExamples: readonly Example<PathsReply>[] = [
  {
    question: 'who planted the trees that grow beside Mill Pond',
    candidates: [
      'Mill Pond → ~grows_beside → Old Pippin → has_fruit → apple',
      'Mill Pond → ~grows_beside → Old Pippin → planted_by → Runa Teal',
      'Mill Pond → lies_in → Vell → ruled_by → Sten Holm',
    ],
    reply: { paths: [1] },
  },
];
