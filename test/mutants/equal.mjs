/** Mutants that change nothing that can be seen, by their keys, with the reason. */
export const equal = {
  "src/metrics/answers.ts | return [name, ...aliases].map(normalizeName).filter((text) => text !== ''); | [name, ...aliases].map(normalizeName).filter((text) => text !== '') → [name, ...aliases].map(normalizeName)":
    'no item is an empty name, and an empty name stands nowhere in a reply',
  'src/metrics/answers.ts | for (let begin = 0; begin + wanted.length <= tokens.length; begin++) { | + → -':
    'looks past the end, where no word stands',
  "src/metrics/answers.ts | 'hit@1': Number((items[0]?.length ?? 0) > 0), | items[0]?.length ?? 0 → items[0]?.length":
    'nothing is not more than 0 either',
};
