/** Every reader of samples notes it, or is listed here with the reason: a new kind of artifact cannot be forgotten. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, test } from '@jest/globals';

/** Files that name samples or golds and make nothing of them, with what they do. */
const handsOn: Record<string, string> = {
  'agents/link-agents.ts': 'says what methods are given',
  'agents/link-ranker.ts': 'says what rankers are opened with',
  'agents/link-training.ts': 'loads the splits',
  'agents/path-walker/agent.ts': 'opens what a run trained',
  'agents/path-walker/demonstrations.ts': 'takes queries, noted where their walks are cloned',
  'agents/prompted/hops/hops.ts': 'gives train to the hop predictor',
  'agents/prompted/self-veqa/self-veqa-agent.ts': 'gives train to the memory and the hop predictor',
  'agents/prompted/turns/link-question.ts': 'gives the simulated model the answers of queries that are evaluated',
  'agents/prompted/turns/turn-question.ts': 'turns a sample into a question, which counts as that sample',
  'agents/question-agent.ts': 'says what agents may ask for',
  'agents/readers/chains/chain-reader.ts': 'takes questions of a step, noted by their trainer',
  'agents/readers/chains/feasible.ts': 'scores chains',
  'agents/readers/embed-kgqa/embed-kgqa.ts': 'takes questions of a step, noted by their trainer',
  'agents/readers/entities/entity-reader.ts': 'takes questions of a step, noted by their trainer',
  'agents/readers/entities/laid-questions.ts': 'parts questions of a step and finds their answers in subgraphs',
  'agents/readers/entities/uni-kgqa.ts': 'finds the chains of questions that entity-reader hands it in training',
  'agents/readers/reader.ts': 'says what readers are given',
  'agents/dialogue-walker/features/pair-features.ts': 'gives train to the counts of relations',
  'agents/dialogue-walker/inputs.ts': 'gives train to the walk counts and the vocabulary',
  'agents/dialogue-walker/policy.ts': 'names the action that a loss by margins is of',
  'envs/dialogue-walk/dialogue-walk-env.ts': 'holds the samples of a trainer or an evaluation, rewards walks of them',
  'envs/dialogue-walk/hits.ts': 'scores a walk',
  'envs/relation-walk/relation-walk-env.ts': 'holds the samples of a trainer or an evaluation',
  'envs/relation-walk/rules.ts': 'scores an answer',
  'tasks/dialogues/agents.ts': 'gives train to untrained agents',
  'tasks/dialogues/ask.ts': 'shows turns of valid as examples to ask',
  'tasks/dialogues/data.ts': 'loads the split that is evaluated, and train',
  'tasks/dialogues/environment.ts': 'gives the samples of a split to environments that other programs step',
  'tasks/dialogues/index.ts': 'counts what a training would read',
  'tasks/dialogues/leaks.ts': 'makes linked turns again, to know their ids',
  'tasks/dialogues/calibration.ts': 'scores answers',
  'tasks/dialogues/predictions.ts': 'writes golds next to predictions',
  'tasks/dialogues/row.ts': 'scores an answer',
  'tasks/dialogues/score.ts': 'scores answers',
  'agents/dialogue-walker/training-data.ts': 'loads the splits',
  'tasks/leaks.ts': 'reports what others noted',
  'tasks/links/ask.ts': 'loads the data set whose names it resolves, and marks answers that some split holds',
  'tasks/links/data.ts': 'loads the split that is evaluated',
  'tasks/links/leaks.ts': 'reports what others noted',
  'tasks/links/predict.ts': 'leaves known triples out, marks those of test',
  'tasks/links/score.ts': 'scores answers',
  'tasks/questions/agents.ts': 'gives train to untrained agents',
  'tasks/questions/agreement.ts': 'asks questions of valid as examples',
  'tasks/questions/ask.ts': 'shows questions of valid as examples to ask',
  'tasks/questions/data.ts': 'loads the split that is evaluated, and train',
  'tasks/questions/decisions.ts': 'counts right decisions outside the agent',
  'tasks/questions/environment.ts': 'gives the samples of a split to environments that other programs step',
  'tasks/questions/index.ts': 'counts what a training would read',
  'tasks/questions/leaks.ts': 'reports what others noted',
  'agents/question-training.ts': 'says what methods are given',
  'tasks/questions/score.ts': 'scores answers',
  'tasks/questions/show.ts': 'shows golds next to answers',
  'tasks/questions/teacher.ts': 'takes walks of another agent, noted where they are cloned; reads no gold',
  'trainers/clone.ts': 'takes walks, noted where they were made',
  'agents/embeddings/link-scorers.ts': 'gives train and valid to the trainers of embeddings',
  'agents/dialogue-walker/expected-reward.ts': 'takes gold walks, noted where they were made',
  'tasks/trainers.ts': 'names what others import',
};

const sources = ['agents', 'trainers', 'envs', 'tasks'].flatMap((folder) =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file).split(sep).join('/')),
);

/** Without comments and texts. */
const codeOf = (file: string) =>
  readFileSync(file, 'utf8')
    .replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '')
    .replace(/'[^'\n]*'/g, "''");

test('every file that reads samples or golds notes what it makes of them, or is known to hand them on', () => {
  const readers = sources.filter((file) =>
    /\b(WalkSample|QuestionSample|gold|LinkDataset|LinkTraining|ScoredData|ScoredWorld)\b|\btrain\(\)/.test(
      codeOf(file),
    ),
  );
  const silent = readers.filter((file) => !/\bmadeFrom(Samples)?\(/.test(codeOf(file)));
  // A new file here: call `madeFromSamples` in the loop that reads the samples, or say above why it makes nothing of them.
  expect(silent.sort()).toEqual(Object.keys(handsOn).sort());
  expect(readers.length).toBeGreaterThan(silent.length);
});
