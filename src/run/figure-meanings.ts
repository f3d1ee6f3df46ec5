/** Meanings of figures, one sentence each, by key or title: shown where a page or the terminal names a figure. */

const meanings: readonly (readonly [name: RegExp, meaning: (k: string) => string])[] = [
  [/^path@(\d+)$/, (k) => `Share of questions whose right walk, every edge of it, is ${among(k)} the agent ranks.`],
  [
    /^(?:entity-path|path of entities)@(\d+)$/,
    (k) => `As path@${k}, by the entities alone: two edges between the same two entities count as one.`,
  ],
  [
    /^(?:relation-path|path of relations)@(\d+)$/,
    (k) => `As path@${k}, by the relations alone: any walk along the same relations counts.`,
  ],
  [
    /^target@(\d+)$/,
    (k) => `Share of questions where a walk that ends on the right entity is ${among(k)} the agent ranks.`,
  ],
  [
    /^hits?@(\d+)$/,
    (k) => `Share of questions whose right answer is ${k === '1' ? 'ranked first' : `among the first ${k}`}.`,
  ],
  [
    /^(?:(?:target|sum)[- ])?mrr(?: of paths| of targets|, summed walks)?$/,
    () => 'Mean of 1 / rank of what is right: 1 if it is always first, 0.5 if always second.',
  ],
  [
    /^nll$/,
    () => 'Mean −ln of the probability that the agent gives to the right walk: lower is better, 0 is certainty.',
  ],
  [/^hit-any$|^any answer right$/, () => 'Share of questions with a right entity anywhere among the answers.'],
  [/^precision$/, () => 'Share of the answers given that are right, mean over questions.'],
  [/^recall$/, () => 'Share of the right answers that are given, mean over questions.'],
  [/^f1$/, () => 'Harmonic mean of precision and recall of the answers, mean over questions.'],
  [
    /^exact(?: set)?$/,
    () => 'Share of questions whose answers are exactly the right ones: none missing, none too many.',
  ],
  [/^partial(?: match)?$/, () => 'Share of questions where some right answer is given, or occurs in the reply.'],
  [/^complete(?: match)?$/, () => 'Share of questions where every right answer is given, or occurs in the reply.'],
  [
    /^(?:reachable|some answer reachable)$/,
    () => 'Share of questions where a walk of the allowed length can reach some right answer.',
  ],
  [/^accuracy$/, () => 'Share of statements that are judged right, true or false.'],
  [/^abstained$/, () => 'Share of questions that the agent leaves without an answer.'],
  [/^(?:at-cap|budget spent)$/, () => 'Share of questions where the agent has used all the calls that it may make.'],
  [/^(?:calls\.mean|calls)$/, () => 'Calls of the language model for one question, on average.'],
  [/^(?:copied|copied from the example)$/, () => 'Share of replies that repeat an example of their prompt.'],
  [
    /^replies cut$/,
    () => 'Share of replies that were cut at their limit, which is longer by replyTokens; none is read.',
  ],
  [
    /^(?:replies )?unreadable$/,
    () => 'Share of replies that hold no decision: cut, thoughts alone, or of another form.',
  ],
  [/^return$/, () => 'Sum of the rewards of an episode, mean over episodes.'],
  [/^length$/, () => 'Steps of an episode, mean over episodes.'],
  [/^(?:truncated|cut)$/, () => 'Share of episodes that end because their steps are used up.'],
  [
    /^95 % interval$/,
    () => 'The figure would lie here for 95 of 100 other samples of the same kind, estimated by bootstrap.',
  ],
  [
    /^p$/,
    () => 'How often a difference as large would come by chance if there were none: below 0.05 it counts as one.',
  ],
];

const among = (k: string) => (k === '1' ? 'the first that' : `among the first ${k} that`);

/** The sentence for a figure by its key or its title, in any case, with or without its unit, its samples, what it is compared with, and the phase that logged it; undefined for other words. */
export function meaningOf(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll('\u00a0', ' ')
    .replace(/^[^:]*: /, '')
    .replace(/( on valid)?(, %)?( against .*| − .*| · .*)?$/, '');
  for (const [pattern, meaning] of meanings) {
    const found = pattern.exec(plain);
    if (found) return meaning(found[1] ?? '');
  }
  return undefined;
}
