/** What each agent found together with IO prompting: the `X + IO` rows of FiSKE's table. */
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import type { Estimate } from '../../src/run/records.js';
import { unionOf } from './compare-questions.js';
import type { ComparedEvaluation } from './compare-questions.js';

/** Partial and complete match of an agent together with IO prompting. */
export interface UnionFigures {
  /** Such as `fiske+io`. */
  name: string;
  partial: Estimate;
  complete: Estimate;
}

/** One row an agent other than IO; none where IO is not among them or nothing asks for entities. */
export function unionFigures(evaluations: readonly ComparedEvaluation[], resamples = 2000): UnionFigures[] {
  const io = evaluations.find(({ record }) => record.agent === 'io');
  if (!io) return [];
  return evaluations.flatMap((one) => {
    if (one === io) return [];
    const { partial, complete, ids } = unionOf(one, io);
    if (ids.length === 0) return [];
    const [some, all] = bootstrapMeans([partial, complete], ids, { resamples });
    return [{ name: `${one.name}+io`, partial: some!, complete: all! }];
  });
}
