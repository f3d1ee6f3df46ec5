/** Names of figures on questions as people read them, in the order in which they are shown. */
export const figureNames: Readonly<Record<string, string>> = {
  'hit@1': 'hit@1',
  'hit-any': 'hit any',
  f1: 'F1',
  exact: 'exact set',
  partial: 'partial match',
  complete: 'complete match',
  accuracy: 'accuracy of verdicts',
};
