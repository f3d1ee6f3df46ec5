/** How much a model may write as answers. What it writes beyond that is still read. */

/** Names in one list of answers: enough for nearly every question, few enough for a model that never stops. */
export const mostAnswers = 20;
/** Characters of one name. */
export const longestName = 100;
