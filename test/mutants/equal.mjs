/** Mutants that change nothing that can be seen, by their keys, with the reason. */
export const equal = {
  "checkpoints/keeper.ts | const scoreOf = ({ metrics }: CheckpointEntry) => metrics[mainFigureOf(metrics) ?? ''] ?? NaN; | metrics[mainFigureOf(metrics) ?? ''] ?? NaN → metrics[mainFigureOf(metrics) ?? '']":
    'nothing compares with undefined as nothing does with NaN',
  "checkpoints/keeper.ts | const scoreOf = ({ metrics }: CheckpointEntry) => metrics[mainFigureOf(metrics) ?? ''] ?? NaN; | mainFigureOf(metrics) ?? '' → mainFigureOf(metrics)":
    'no metric is called undefined',
  'src/embedding/known-answers.ts | if (!(entity >= 0 && entity < rows.offsets.length - 1)) return none; | < → <=':
    'the row behind the last one is empty',
  'src/run/run-lock.ts | if (waits(state, before)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause); | waits(state, before) → false':
    'looks again without a pause',
  'src/run/run-lock.ts | withdraw: () => rmSync(draft, { force: true }), | true → false':
    'a claim is withdrawn while it is there',
  'src/run/run-lock.ts | if (waits(state, before)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause); | 0 → (0 + 1)':
    'of the two the second: another value is not waited for, so that it looks again without a pause',
  'src/run/run-lock.ts | const [patience, pause] = [400, 5]; | 400 → (400 + 1)': 'waits once more',
  'src/run/run-lock.ts | if (readLock(lock) === content) rmSync(lock, { force: true }); | true → false':
    'its own lock is there',
  'src/embedding/rank-links.ts | const places = Int32Array.from(ranks.keys()).filter((place) => Math.floor(place / blockSize) % shares === share); | Int32Array.from(ranks.keys()).filter((place) => Math.floor(place / blockSize) % shares === share) → Int32Array.from(ranks.keys())':
    'every share ranks all, to the same numbers',
  'src/metrics/bootstrap.ts | for (let k = 0; k < 4; k++) totals[k]! += sums[begin + k]!; | += → -=':
    'both parts of each quotient turn their signs',
  'src/metrics/functional-anova.ts | for (const dimension of rows[0]!.keys()) { | 0 → (0 + 1)':
    'all rows have the same dimensions',
  'src/run/run-lock.ts | if (waits(state, before)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause); | Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause); → ;':
    'looks again without a pause',
  'src/run/run-lock.ts | return false; | false → true': 'a claim that was removed is not there at the next look',
  'src/run/run-lock.ts | const taken = isHeld(lock) ? undefined : take(lock); | isHeld(lock) → false':
    'a lock that is held is not taken either',
  'agents/link-walker/beam.ts | if (batch.length === 0) return; | return; → ;': 'no state has no score',
  'agents/link-walker/beam.ts | const stateCost = 128; | 128 → (128 + 1)':
    'says how many states are scored in one call',
  'agents/link-walker/beam.ts | let actions = 0; | 0 → (0 + 1)': 'says how many states are scored in one call',
  'agents/link-walker/beam.ts | if (walk === 0) offered = 0; | offered = 0; → ;':
    'the numbers that order equal walks rise over queries, too',
  'agents/link-walker/beam.ts | if (batch.length === 0) return; | batch.length === 0 → false': 'no state has no score',
  'agents/top-paths.ts | const mass = new Float64Array(graph.numEntities + 1); | 1 → (1 + 1)':
    'one place more, which nothing reads',
  'agents/top-paths.ts | let start = -1; | 1 → (1 + 1)': 'set before each task',
  'agents/top-paths.ts | if (score > bestScore[entity]! || (score === bestScore[entity] && tie < bestTie[entity]!)) { | < → <=':
    'writes what stands there',
  "datasets/questions/question-manifest.ts | held.has(question.type ?? '') ? 'test' : questionBucket(question) === 8 ? 'valid' : 'train'; | question.type ?? '' → question.type":
    'no type is held that has no name',
  'trainers/advantages.ts | for (let t = rewards.length - 1; t >= 0; t--) { | - → +':
    'begins past the end, where what is written is not kept',
  'trainers/advantages.ts | const begins = new Uint8Array(next.length).fill(1); | 1 → (1 + 1)':
    'asked for as true or false alone',
  'trainers/advantages.ts | for (const x of numbers) sum += (x - mean) ** 2; | += → -=':
    'both variances of a quotient turn their signs',
  'trainers/ppo-loss.ts | for (let s = 0; s + 1 < offsets.length; s++) { | + → -':
    'goes past the end, where no action is',
  "src/metrics/answers.ts | return [name, ...aliases].map(normalizeName).filter((text) => text !== ''); | [name, ...aliases].map(normalizeName).filter((text) => text !== '') → [name, ...aliases].map(normalizeName)":
    'no item is an empty name, and an empty name stands nowhere in a reply',
  'src/metrics/answers.ts | for (let begin = 0; begin + wanted.length <= tokens.length; begin++) { | + → -':
    'looks past the end, where no word stands',
  "src/metrics/answers.ts | 'hit@1': Number((items[0]?.length ?? 0) > 0), | items[0]?.length ?? 0 → items[0]?.length":
    'nothing is not more than 0 either',
};
