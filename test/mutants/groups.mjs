/** What is mutated, file by file, and the tests that should notice: those near it, quickest first. */

const metrics = (name, ...tests) => [`src/metrics/${name}.ts`, tests.map((test) => `test/src/metrics/${test}.test.ts`)];

/** @type {Record<string, [file: string, tests: string[]][]>} */
export const groups = {
  metrics: [
    metrics('ranks', 'ranks', 'spread'),
    metrics('bootstrap', 'bootstrap', 'group-difference'),
    metrics('intervals', 'intervals', 'bootstrap'),
    metrics('path-hits', 'path-hits', 'ark-ranks'),
    metrics('ark-ranks', 'ark-ranks'),
    metrics('calibration', 'calibration'),
    metrics('selective', 'selective'),
    metrics('functional-anova', 'functional-anova'),
    ['src/embedding/known-answers.ts', ['test/src/embedding/known-answers.test.ts']],
    ['src/embedding/rank-links.ts', ['test/src/embedding/rank-links.test.ts']],
    ['src/embedding/transe.ts', ['embedding-table', 'rank-links'].map((test) => `test/src/embedding/${test}.test.ts`)],
  ],
  answers: [metrics('answers', 'answers', 'question-metrics')],
  rules: [
    ['envs/dialogue-walk/rules.ts', ['test/envs/dialogue-walk/rules.test.ts']],
    [
      'envs/dialogue-walk/hits.ts',
      ['test/envs/dialogue-walk/dialogue-walk-env.test.ts', 'test/trainers/ppo/enumeration.test.ts'],
    ],
    ['envs/dialogue-walk/reward.ts', ['test/envs/dialogue-walk/dialogue-walk-env.test.ts']],
    ['envs/dialogue-walk/walk-graph.ts', ['test/envs/dialogue-walk/walk-graph.test.ts']],
    ['envs/relation-walk/rules.ts', ['test/envs/relation-walk/relation-walk-env.test.ts']],
  ],
  partitions: [
    ['datasets/questions/question-manifest.ts', ['test/datasets/questions/partition.test.ts']],
    [
      'datasets/questions/held-types.ts',
      ['test/datasets/questions/held-types.test.ts', 'test/datasets/questions/partition.test.ts'],
    ],
    ['datasets/walk-sample.ts', ['test/datasets/walk-samples.test.ts', 'test/datasets/split-samples.test.ts']],
  ],
  ppo: [
    ['trainers/advantages.ts', ['test/trainers/ppo/advantages.test.ts']],
    ['trainers/ppo-loss.ts', ['objective', 'minibatch-parts', 'scalar-ppo'].map((test) => `test/trainers/ppo/${test}.test.ts`)], // prettier-ignore
  ],
  beams: [
    ['agents/bounded-heap.ts', ['test/agents/top-paths.test.ts']],
    ['agents/top-paths.ts', ['test/agents/top-paths.test.ts', 'test/agents/walker/beam.test.ts']],
    ['agents/ark-beam.ts', ['test/agents/walker/ark-beam.test.ts']],
    ['agents/link-walker/beam.ts', ['test/agents/link-walker/beam.test.ts']],
  ],
  leaks: [
    [
      'evaluation/leaks/count-shares.ts',
      ['test/evaluation/leaks/count-shares.test.ts', 'test/leaks/cut-graph.test.ts'],
    ],
    ...['count-checks', 'graph-cut', 'seen-unseen'].map((name) => [
      `evaluation/leaks/${name}.ts`,
      ['test/leaks/cut-graph.test.ts', 'test/leaks/check-run.test.ts'],
    ]),
    ...['artifact-rows', 'known-samples', 'leak-report'].map((name) => [
      `evaluation/leaks/${name}.ts`,
      ['planted-samples', 'check-run', 'linked-turns', 'check-evaluation', 'cut-graph'].map(
        (test) => `test/leaks/${test}.test.ts`,
      ),
    ]),
  ],
  lock: [
    ['src/run/run-lock.ts', ['run-lock', 'run-lock-claims'].map((test) => `test/src/run/${test}.test.ts`)],
    ['src/run/lock-steps.ts', ['test/src/run/lock-steps.test.ts']],
  ],
  resume: [
    ['checkpoints/store.ts', ['test/checkpoints/store.test.ts']],
    ['checkpoints/keeper.ts', ['test/checkpoints/keeper.test.ts']],
    [
      'trainers/resume.ts',
      ['trainers/train', 'trainers/longer', 'cli/resume', 'cli/fork'].map((test) => `test/${test}.test.ts`),
    ],
  ],
};
